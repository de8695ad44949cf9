// Finds the ancestors of this process, and whether one of them is an attempt. A process can remove a variable from its own environment,
// but not from the environment its ancestors were started with.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { errno } from "../../errors.ts";
import { RUN_MARKER } from "./tree.ts";

/** The variables that the engine sets for every process it starts. */
export const attemptMarkers = [RUN_MARKER, "MAESTRO_ATTEMPT"] as const;
/** Longer than any real chain of processes; a reused process id could otherwise create an endless loop. */
const MAX_DEPTH = 200;

/** The process ids of parent, grandparent and so on, up to init. */
function ancestors(): number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 1 && found.length < MAX_DEPTH; pid = parentOf(pid)) found.push(pid);
  return found;
}

export function isAncestor(pid: number): boolean {
  return ancestors().includes(pid);
}

/**
 * Whether an ancestor, or the leader of this process's group or session, was started as part of an attempt. Linux only: other systems do not
 * show the environment of another process.
 */
export function hasMarkedAncestor(): boolean {
  if (process.platform !== "linux") return false;
  // A process whose parent has ended becomes a child of init, but stays in the process session that the engine created for its attempt.
  const [, , group, session] = statOf("self");
  return [...new Set([...ancestors(), Number(group), Number(session)])].some(isMarked);
}

function isMarked(pid: number): boolean {
  const environment = `\0${readProc(pid, "environ") ?? ""}`;
  return attemptMarkers.some((name) => {
    const at = environment.indexOf(`\0${name}=`);
    // An empty value removes the marker.
    return at !== -1 && !["\0", ""].includes(environment.charAt(at + name.length + 2));
  });
}

function parentOf(pid: number): number {
  if (process.platform === "linux") return Number(statOf(pid)[1] ?? 0);
  if (process.platform === "win32") return 0;
  try {
    const env = { PATH: process.env.PATH, LC_ALL: "C" };
    return Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8", timeout: 2000, env }));
  } catch {
    // `ps` fails for a process that has ended, or may not be installed: either way the parent is unknown.
    return 0;
  }
}

/** State, parent, group, session. The process name before them may contain anything, so fields are counted from its closing parenthesis. */
function statOf(pid: number | "self"): string[] {
  const stat = readProc(pid, "stat") ?? "";
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ", 4);
}

/** Undefined when the process has ended, or belongs to another user. */
function readProc(pid: number | "self", file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch (error) {
    if (errno(error) !== undefined) return undefined;
    throw error;
  }
}
