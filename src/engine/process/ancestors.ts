// Which processes stand above this one, and whether one of them is an attempt. A process can take a variable out of its own environment,
// but not out of the environment that its ancestors were started with.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { errno } from "../../errors.ts";
import { RUN_MARKER } from "./tree.ts";

/** The variables that the engine gives to everything it starts. */
export const attemptMarkers = [RUN_MARKER, "MAESTRO_ATTEMPT"] as const;
/** No chain of processes is that long; a number that was given to another process meanwhile may close a circle. */
const MAX_DEPTH = 200;

/** The process that started this one, the one that started that, and so on up to init. */
function ancestors(): number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 1 && found.length < MAX_DEPTH; pid = parentOf(pid)) found.push(pid);
  return found;
}

export function isAncestor(pid: number): boolean {
  return ancestors().includes(pid);
}

/**
 * Whether an ancestor, or the leader of this process's group or session, was started as part of an attempt. Linux only: elsewhere nobody may
 * look at the environment of another process.
 */
export function hasMarkedAncestor(): boolean {
  if (process.platform !== "linux") return false;
  // A process whose parent has ended belongs to init, and still to the session that the engine opened for its attempt.
  const [, , group, session] = statOf("self");
  return [...new Set([...ancestors(), Number(group), Number(session)])].some(isMarked);
}

function isMarked(pid: number): boolean {
  const environment = `\0${readProc(pid, "environ") ?? ""}`;
  return attemptMarkers.some((name) => {
    const at = environment.indexOf(`\0${name}=`);
    // An empty value is how a marker is taken away.
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
    // `ps` answers 1 for a process that is gone, and may be missing: either way nothing more is known.
    return 0;
  }
}

/** State, parent, group, session. The name before them may hold anything, so they are counted from its closing parenthesis. */
function statOf(pid: number | "self"): string[] {
  const stat = readProc(pid, "stat") ?? "";
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ", 4);
}

/** Undefined when the process is gone, or belongs to another user. */
function readProc(pid: number | "self", file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch (error) {
    if (errno(error) !== undefined) return undefined;
    throw error;
  }
}
