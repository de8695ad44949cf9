// Where a hook runs: the project, the extension, and whether this process is an attempt of the engine.

import { existsSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { normalizeAgentName } from "../agents/names.ts";
import { EXTENSION_PATH } from "../extension-path.ts";
import { usersOwn } from "../setting-layers.ts";
import { type HookInput, textValue } from "./input.ts";

export interface Surroundings {
  projectRoot: string;
  extensionRoot: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Set by the engine for the process of an attempt: then the caller is known for certain. */
  attempt: { agent: string; phase: string } | null;
  /** The conversation, by Gemini CLI's own name for it. */
  conversation: string;
  clock: () => Date;
  /** When the hook must have answered, in the time of `now`. */
  deadline: number;
  /** A line for whoever looks for the reason of something; never on standard output. */
  log: (line: string) => void;
}

export function surroundingsOf(
  input: HookInput,
  env: Surroundings["env"],
  own: Pick<Surroundings, "extensionRoot" | "clock" | "deadline" | "log"> & { cwd: string },
): Surroundings {
  const { cwd, ...rest } = own;
  const agent = env.MAESTRO_AGENT === undefined ? "" : normalizeAgentName(env.MAESTRO_AGENT);
  const projectRoot = directoryOr(textValue(input.cwd), cwd);
  const conversation = textValue(input.session_id) || env.GEMINI_SESSION_ID || "";
  return {
    ...rest,
    extensionRoot: givenExtension(env, projectRoot) || own.extensionRoot,
    projectRoot,
    env,
    attempt: agent === "" ? null : { agent, phase: env.MAESTRO_PHASE?.trim() ?? "" },
    conversation: /^[\w-]{1,64}$/.test(conversation) ? conversation : "unknown",
  };
}

/** Where the user says that the extension is; the project's .env is read only for a user who says so. */
function givenExtension(env: Surroundings["env"], projectRoot: string): string | undefined {
  if (env[EXTENSION_PATH] === undefined) return undefined;
  return usersOwn(env, projectRoot)[EXTENSION_PATH]?.trim();
}

/** How a person or a model starts the command line of this extension. */
export function commandLine({ extensionRoot }: Surroundings): string {
  return `node ${JSON.stringify(join(extensionRoot, "dist", "maestro.js"))}`;
}

function directoryOr(path: string, otherwise: string): string {
  if (path === otherwise) return path;
  const isThere = isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isThere ? path : otherwise;
}

/** An agent of this extension; those of the CLI itself and of others are left alone. */
export function isOurs(agent: string, { extensionRoot }: Surroundings): boolean {
  return /^[a-z0-9-]{1,64}$/.test(agent) && existsSync(join(extensionRoot, "agents", `${agent}.md`));
}
