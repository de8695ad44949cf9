// maestro agents install-policies: writes the tiers as user policies of Gemini CLI. It never changes a file that the user edited or
// that Maestro did not write.

import { statSync } from "node:fs";
import { join } from "node:path";
import { type InstalledPolicy, type PolicyState, policyStateOf, userPolicies } from "../../agents/policies.ts";
import { Directory } from "../../disk/contained.ts";
import { readRegular, replaceDurably } from "../../disk/durable.ts";
import { makeDirectories } from "../../disk/make-directories.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { absolute, homeOf } from "../home.ts";
import { type Io, printJson } from "../io.ts";

interface Options {
  remove?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/** What happens to a file; `left` means that the user has to handle it. */
type Deed = "write" | "remove" | "keep" | "left";

interface Step {
  name: string;
  standing: PolicyState;
  deed: Deed;
}

const MAX_POLICY_BYTES = 1024 * 1024;

export function installPolicies(io: Io, options: Options): number {
  const path = join(absolute(io.env.GEMINI_CLI_HOME) ?? homeOf(io.env), ".gemini", "policies");
  const isWriting = !options.dryRun;
  const directory = openDirectory(path, isWriting && !options.remove);
  const steps = userPolicies().map((policy): Step => {
    const standing = directory === undefined ? "absent" : stateOf(directory, policy);
    const deed = deedFor(standing, options.remove ?? false);
    if (isWriting && directory !== undefined) act(directory, policy, deed);
    return { name: policy.name, standing, deed };
  });
  directory?.close();
  const isDone = steps.every(({ deed }) => deed !== "left");
  const lines = steps.map((step) => `  ${sentence(step, isWriting, options.remove ?? false)}`);
  if (options.json) printJson(io, { directory: path, dry_run: !isWriting, done: isDone, files: steps });
  else io.out(`${[`${path}:`, ...lines].join("\n")}\n`);
  if (!isDone) io.err("ERROR: Some files were not changed, because they were edited or not written by Maestro\n");
  return isDone ? 0 : 1;
}

function deedFor(standing: PolicyState, isRemoving: boolean): Deed {
  const isOurs = standing === "current" || standing === "older";
  if (isRemoving) return isOurs ? "remove" : standing === "edited" ? "left" : "keep";
  if (standing === "current") return "keep";
  return standing === "edited" || standing === "foreign" ? "left" : "write";
}

/** Anything but a regular file, such as a link or a directory, was not written by Maestro. */
function stateOf(directory: Directory, policy: InstalledPolicy): PolicyState {
  const entry = directory.lstat(policy.name);
  if (entry !== undefined && (!entry.isFile() || entry.size > MAX_POLICY_BYTES)) return "foreign";
  return policyStateOf(policy, readRegular(directory, policy.name, MAX_POLICY_BYTES)?.toString("utf8"));
}

function act(directory: Directory, { name, text }: InstalledPolicy, deed: Deed): void {
  if (deed === "write") replaceDurably(directory, name, text, { mode: 0o644 });
  if (deed === "remove") directory.unlink(name);
}

function openDirectory(path: string, isWanted: boolean): Directory | undefined {
  try {
    if (isWanted) makeDirectories(path, 0o700);
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    return Directory.openRoot(path);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    throw new MaestroError("io", `Cannot use the policy directory ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

const reasons: Record<PolicyState, string> = {
  absent: "not installed",
  current: "already up to date",
  older: "written by another version",
  edited: "edited since Maestro wrote it",
  foreign: "not written by Maestro",
};

function sentence({ name, standing, deed }: Step, isWriting: boolean, isRemoving: boolean): string {
  const reason = reasons[standing];
  if (deed === "left")
    return `${name}: not changed, ${reason}; ${isRemoving ? "delete it yourself" : "move it away and run this again"}`;
  if (deed === "keep") return `${name}: unchanged, ${reason}`;
  const verb = deed === "remove" ? "removed" : standing === "absent" ? "written" : "updated";
  return `${name}: ${isWriting ? verb : `would be ${verb}`}`;
}
