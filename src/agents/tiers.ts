// What each of the twelve agents may use, as data. No file system and no libraries, because hooks load it.
import { canonicalTool, everyTool } from "./tools.ts";

export type Tier = "read-only" | "read-shell" | "read-write" | "full";

export const agentTiers: ReadonlyMap<string, Tier> = new Map<string, Tier>([
  ["architect", "read-only"],
  ["api-designer", "read-only"],
  ["code-reviewer", "read-only"],
  ["debugger", "read-shell"],
  ["performance-engineer", "read-shell"],
  ["security-engineer", "read-shell"],
  ["refactor", "read-write"],
  ["technical-writer", "read-write"],
  ["coder", "full"],
  ["data-engineer", "full"],
  ["devops-engineer", "full"],
  ["tester", "full"],
]);

const read = ["list_directory", "read_file", "grep_search", "glob", "google_web_search", "web_fetch"];
const write = ["write_file", "replace"];
const shell = ["run_shell_command"];

/** The tools that an agent of the tier may have. */
export const tierTools: Readonly<Record<Tier, readonly string[]>> = {
  "read-only": read,
  "read-shell": [...read, ...shell],
  "read-write": [...read, ...write],
  full: [...read, ...write, ...shell],
};

/** The tools that an agent of the tier must never have. */
export const deniedTools: Readonly<Record<Tier, readonly string[]>> = {
  "read-only": [...write, ...shell],
  "read-shell": write,
  "read-write": shell,
  full: [],
};

/** Whether an agent of the tier may write files; an unknown agent may. */
export function mayWrite(tier: Tier | undefined): boolean {
  return tier !== "read-only" && tier !== "read-shell";
}

/** The tier that a list of tools amounts to; no list means every tool, as in the CLI. */
export function tierOf(tools: readonly string[] | undefined): Tier {
  const held = tools?.map(canonicalTool) ?? [everyTool];
  const holds = (wanted: readonly string[]) => held.some((tool) => tool === everyTool || wanted.includes(tool));
  if (holds(write)) return holds(shell) ? "full" : "read-write";
  return holds(shell) ? "read-shell" : "read-only";
}
