// The environment that an agent's program is started with, whatever the runtime: what the user exported, and no word of the project. Looked
// up for each attempt, because an earlier agent may have left an env file where the next one works.

import { relative } from "node:path";
import { reachesAgents } from "../../runtimes/environment.ts";
import { type Ignored, ignoredNames, pinnedVariables, wellKnown } from "../../runtimes/pinned.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { readEnvFiles } from "../../store/files/env-files.ts";
import { stripControls } from "../../text.ts";

export interface AttemptSurroundings {
  runtime: Runtime;
  /** What reaches agents of the user's environment. */
  exported: Readonly<Record<string, string>>;
  /** The home directory that the runtime takes for the user's. */
  home: string;
  /** Whether commands run before the first agent does, which may leave something behind. */
  hasSetup: boolean;
  /** Whether the user trusts what a project's settings start, in the directory an agent works in. */
  isTrusted: (root: string) => boolean;
  warn: (message: string) => void;
}

export type AgentEnvironment = (root: string, own: Readonly<Record<string, string>>) => Record<string, string>;

const MAX_NAMES = 24;

/** `own` is what the engine gives an agent; it wins over everything. */
export function agentEnvironmentOf(surroundings: AttemptSurroundings): AgentEnvironment {
  const { runtime, exported, home, hasSetup, isTrusted, warn } = surroundings;
  const said = new Set<string>();
  let isUntouched = !hasSetup;
  return (root, own) => {
    const files = readEnvFiles(root, home, runtime.envFiles);
    // Where nothing of the project has run yet and no file lies, nobody is there to write one before the program looks.
    const always = isUntouched && files.project.length === 0 ? [] : [...wellKnown, ...runtime.pinned];
    isUntouched = false;
    for (const ignored of ignoredNames(exported, files)) {
      const line = ignoredLine(ignored, root);
      if (!said.has(line)) warn(line);
      said.add(line);
    }
    const distrust = isTrusted(root) ? {} : runtime.distrust;
    return { ...pinnedVariables(exported, files, always), ...distrust, ...runtime.environment, ...own };
  };
}

/** Never a value: it may be a secret, or an address that nobody should click. */
function ignoredLine({ path, names }: Ignored, root: string): string {
  const way = relative(root, path);
  const file = stripControls(way.startsWith("..") ? path : way);
  // Those that somebody may miss come first: what is not passed on by itself was no use before either.
  const [first = "", ...others] = [...names.filter(reachesAgents), ...names.filter((name) => !reachesAgents(name))];
  const rest = others.slice(0, MAX_NAMES - 1);
  const more = others.length > rest.length ? ` and ${others.length - rest.length} more` : "";
  const them = names.length === 1 ? "it" : "them";
  const passed = reachesAgents(first) ? "" : ` and pass --pass-env ${first}`;
  return `${file} sets ${[first, ...rest].join(", ")}${more}: agents do not get ${them} from a project. To use your own, export it${passed}: export ${first}=...`;
}
