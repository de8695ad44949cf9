// What a tool is: a name, a sentence, the fields it takes, and what it does with them. No behaviour of its own.

import type * as z from "zod";
import type { Settings } from "../settings.ts";
import type { StateLocation } from "../store/location.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { Answer } from "./answer.ts";

/** What a call works with. Settings are looked up for every call: they may change while the server lives. */
export interface Context {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  settings: Settings;
  location: StateLocation;
  store: SessionStore;
  now: () => Date;
  /** Takes secrets out of what is written down or shown. */
  redact: (text: string) => string;
  /** Tells the user, with the answer of this call. */
  warn: (message: string) => void;
  /** Runs `before` when the server ends; returns how to give that up. */
  beforeEnd: (before: () => void) => () => void;
  /** The dispatched attempt that this server belongs to; null: it serves the TechLead. */
  attempt: AttemptIdentity | null;
}

/** As the engine told it; a batch that no session knows has agents without phases. */
export interface AttemptIdentity {
  agent: string;
  phase: string | undefined;
  session: string | undefined;
  number: string | undefined;
}

export type InputShape = Readonly<Record<string, z.ZodType>>;

/** One thing that a tool does. */
export interface ToolAction {
  input: InputShape;
  run: (context: Context, input: never) => Answer | Promise<Answer>;
}

export interface Tool {
  name: string;
  /** For the model; paid for in every conversation. */
  description: string;
  /** By the value of `action`; a tool that does one thing has one without a name. */
  actions: Readonly<Record<string, ToolAction>>;
}

/** The name of what a tool does that takes no `action`. */
export const ONLY = "";

type Read<Fields extends InputShape> = { [Key in keyof Fields]: z.output<Fields[Key]> };

/** An action whose input is of the type that its fields give. */
export function action<Fields extends InputShape>(
  input: Fields,
  run: (context: Context, input: Read<Fields>) => Answer | Promise<Answer>,
): ToolAction {
  return { input, run: run as ToolAction["run"] };
}
