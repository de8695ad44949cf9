// Where a hook runs: the project, the extension, and whether the engine started this process as an attempt.

import { existsSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { normalizeAgentName } from "../agents/names.ts";
import { commandLineOf, EXTENSION_PATH } from "../extension-path.ts";
import { usersOwn } from "../setting-layers.ts";
import { type HookInput, textValue } from "./input.ts";

export interface Surroundings {
  projectRoot: string;
  /** Where agents and protocols come from. */
  extensionRoot: string;
  /** The directory above dist/ of this program. */
  programRoot: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Set when the engine started this process as an attempt: then the calling agent is known for certain. */
  attempt: { agent: string; phase: string } | null;
  /** Gemini CLI's id of the conversation. */
  conversation: string;
  clock: () => Date;
  /** When the hook must have answered, on the clock of `now`. */
  deadline: number;
  /** Writes a diagnostic line; never to standard output. */
  log: (line: string) => void;
}

export function surroundingsOf(
  input: HookInput,
  env: Surroundings["env"],
  own: Pick<Surroundings, "programRoot" | "clock" | "deadline" | "log"> & { cwd: string },
): Surroundings {
  const { cwd, ...rest } = own;
  const agent = env.MAESTRO_AGENT === undefined ? "" : normalizeAgentName(env.MAESTRO_AGENT);
  const projectRoot = directoryOr(textValue(input.cwd), cwd);
  const conversation = textValue(input.session_id) || env.GEMINI_SESSION_ID || "";
  return {
    ...rest,
    extensionRoot: givenExtension(env, projectRoot) || own.programRoot,
    projectRoot,
    env,
    attempt: agent === "" ? null : { agent, phase: env.MAESTRO_PHASE?.trim() ?? "" },
    conversation: /^[\w-]{1,64}$/.test(conversation) ? conversation : "unknown",
  };
}

/** The extension path that the user exported. The project's .env is read to exclude a value that comes from there. */
function givenExtension(env: Surroundings["env"], projectRoot: string): string | undefined {
  if (env[EXTENSION_PATH] === undefined) return undefined;
  return usersOwn(env, projectRoot)[EXTENSION_PATH]?.trim();
}

/** How much longer a hook may take that reads the project: an agent works for minutes. Still below the CLI's own limit of five seconds. */
const PATIENCE_MS = 2000;

export function patient(here: Surroundings): Surroundings {
  return { ...here, deadline: here.deadline + PATIENCE_MS };
}

/** The command with which a user or a model runs this program's command line. */
export function commandLine({ programRoot }: Surroundings): string {
  return commandLineOf(programRoot);
}

function directoryOr(path: string, otherwise: string): string {
  if (path === otherwise) return path;
  const isThere = isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isThere ? path : otherwise;
}

/** Whether the agent belongs to this extension, not to the CLI or another extension. */
export function isOurs(agent: string, { extensionRoot }: Surroundings): boolean {
  return /^[a-z0-9-]{1,64}$/.test(agent) && existsSync(join(extensionRoot, "agents", `${agent}.md`));
}
