// Splits a git call into its subcommand (after git's own options), its directory and its settings.

import { locate } from "../../paths.ts";
import type { Call } from "../../shell/call.ts";
import { cutAtEquals } from "../options.ts";

export interface GitCommand {
  verb: string;
  args: readonly string[];
  cwd: string;
  /** `-c key=value`. */
  settings: readonly (readonly [key: string, value: string])[];
  /** `--git-dir` or `--work-tree`: the repository is not that of the directory. */
  isPointed: boolean;
}

const globalsWithValue = [
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
  "--attr-source",
];

/** The subcommand after git's own options; undefined when the call is not git. */
export function readGit(call: Pick<Call, "name" | "args" | "cwd" | "isGitPointed">): GitCommand | undefined {
  const { name, cwd } = call;
  // `git-checkout .`: git installs its subcommands as programs of their own.
  const verb = name.startsWith("git-") ? name.slice(4) : undefined;
  if (name !== "git" && name !== "hub" && verb === undefined) return undefined;
  const args = verb === undefined ? call.args : [verb, ...call.args];
  const settings: [string, string][] = [];
  let directory = cwd;
  let isPointed = call.isGitPointed === true;
  let at = 0;
  for (; args[at]?.startsWith("-"); at++) {
    const [option, value] = cutAtEquals(args[at] as string);
    if (option === "--git-dir" || option === "--work-tree") isPointed = true;
    if (option === "-c" || option === "--config-env") settings.push(setting(args[++at] ?? ""));
    else if (option === "-C") directory = locate(args[++at] ?? "", directory);
    else if (globalsWithValue.includes(option) && value === undefined) at++;
  }
  return { verb: args[at] ?? "", args: args.slice(at + 1), cwd: directory, settings, isPointed };
}

function setting(text: string): [string, string] {
  const [key, value] = cutAtEquals(text);
  return [key.toLowerCase(), value ?? "true"];
}
