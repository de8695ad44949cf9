// Builds the environment of an agent's process, for every runtime: the variables that the user exported, and none from the project's env
// files. Env files are read again for each attempt, because an earlier agent may have left one where the next agent works.

import { relative } from "node:path";
import { reachesAgents } from "../../runtimes/environment.ts";
import { type Ignored, ignoredNames, pinnedVariables, wellKnown } from "../../runtimes/pinned.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { readEnvFiles } from "../../store/files/env-files.ts";
import { stripControls } from "../../text.ts";

export interface AttemptSurroundings {
  runtime: Runtime;
  /** The part of the user's environment that agents receive. */
  exported: Readonly<Record<string, string>>;
  /** The home directory in which the runtime looks for the user's env files. */
  home: string;
  /** Whether a setup command runs before the first agent; it may leave env files behind. */
  hasSetup: boolean;
  /** Whether the user trusts the directory an agent works in, so that its settings may start programs. */
  isTrusted: (root: string) => boolean;
  warn: (message: string) => void;
}

export type AgentEnvironment = (root: string, own: Readonly<Record<string, string>>) => Record<string, string>;

const MAX_NAMES = 24;

/** `own`: the variables that the engine sets for an agent; they override all others. */
export function agentEnvironmentOf(surroundings: AttemptSurroundings): AgentEnvironment {
  const { runtime, exported, home, hasSetup, isTrusted, warn } = surroundings;
  const warned = new Set<string>();
  let isUntouched = !hasSetup;
  return (root, own) => {
    const files = readEnvFiles(root, home, runtime.envFiles);
    // Before any code of the project has run, no process can create an env file between this check and the agent's start.
    const always = isUntouched && files.project.length === 0 ? [] : [...wellKnown, ...runtime.pinned];
    isUntouched = false;
    for (const ignored of ignoredNames(exported, files)) {
      const line = ignoredLine(ignored, root);
      if (!warned.has(line)) warn(line);
      warned.add(line);
    }
    const distrust = isTrusted(root) ? {} : runtime.distrust;
    return { ...pinnedVariables(exported, files, always), ...distrust, ...runtime.environment, ...own };
  };
}

/** Shows names only: a value may be a secret or a malicious address. */
function ignoredLine({ path, names }: Ignored, root: string): string {
  const shortPath = relative(root, path);
  const file = stripControls(shortPath.startsWith("..") ? path : shortPath);
  // Variables that agents would otherwise receive come first: these are the ones the user may miss.
  const [first = "", ...others] = [...names.filter(reachesAgents), ...names.filter((name) => !reachesAgents(name))];
  const rest = others.slice(0, MAX_NAMES - 1);
  const more = others.length > rest.length ? ` and ${others.length - rest.length} more` : "";
  const them = names.length === 1 ? "it" : "them";
  const passed = reachesAgents(first) ? "" : ` and pass --pass-env ${first}`;
  return `${file} sets ${[first, ...rest].join(", ")}${more}: agents do not get ${them} from a project. To use your own, export it${passed}: export ${first}=...`;
}
