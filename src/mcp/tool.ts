// The type of a tool: its name, description, input fields and actions. No behaviour.

import type * as z from "zod";
import type { Settings } from "../settings.ts";
import type { StateLocation } from "../store/location.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { Answer } from "./answer.ts";
import type { AttemptIdentity } from "./attempt-identity.ts";
import type { News } from "./news.ts";

/** What a call works with. Settings are resolved for every call, because they may change while the server runs. */
export interface Context {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  settings: Settings;
  location: StateLocation;
  store: SessionStore;
  now: () => Date;
  /** Removes secrets from texts that are recorded or shown. */
  redact: (text: string) => string;
  /** Adds a warning for the user to the answer of this call. */
  warn: (message: string) => void;
  /** Runs `before` when the server ends; returns the function that cancels it. */
  beforeEnd: (before: () => void) => () => void;
  /** Aborted when the client cancels the call, and when its input ends. */
  signal: AbortSignal;
  /** Tells the client how far the call is; undefined when the client does not want to know. */
  progress: Wire["progress"];
  /** What happened in the session, as far as this conversation has been told. */
  news: News;
  /** The dispatched attempt that this server belongs to; null when it serves the TechLead. */
  attempt: AttemptIdentity | null;
}

/** The request that a call came with. */
export interface Wire {
  signal: AbortSignal;
  progress: ((done: number, total: number, message: string) => void) | undefined;
}

export type InputShape = Readonly<Record<string, z.ZodType>>;

/** One operation of a tool. */
export interface ToolAction {
  input: InputShape;
  run: (context: Context, input: never) => Answer | Promise<Answer>;
}

export interface Tool {
  name: string;
  /** For the model. Keep it short: every conversation pays for it. */
  description: string;
  /** By the value of `action`; a tool with a single action uses the key `ONLY`. */
  actions: Readonly<Record<string, ToolAction>>;
}

/** The key of the single action of a tool that takes no `action`. */
export const ONLY = "";

type Read<Fields extends InputShape> = { [Key in keyof Fields]: z.output<Fields[Key]> };

/** An action whose input type is inferred from its fields. */
export function action<Fields extends InputShape>(
  input: Fields,
  run: (context: Context, input: Read<Fields>) => Answer | Promise<Answer>,
): ToolAction {
  return { input, run: run as ToolAction["run"] };
}
