// Finds and kills process trees: a process group with its own session, and processes that left the group but still have the run's marker
// in their environment. No other file kills processes.

import { readdirSync, readFileSync } from "node:fs";
import { errno } from "../../errors.ts";

/**
 * The environment variable that identifies the processes of a run in any process group: "<run>.<attempt>". Callers search for the run or
 * for the whole value.
 */
export const RUN_MARKER = "MAESTRO_RUN";

/** Sends a signal to every process of a group. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  send(-group, signal);
}

/** Whether a process of another parent has ended. Linux only. */
export function hasEnded(pid: number): boolean {
  const stat = readProc(String(pid), "stat");
  return stat === undefined || "ZX".includes(stat.charAt(stat.lastIndexOf(")") + 2));
}

/** Whether a process of the group is still alive. Zombies do not count. */
export function isGroupAlive(group: number): boolean {
  if (!send(-group, 0)) return false;
  if (process.platform !== "linux") return true;
  return processes().some((pid) => {
    const stat = readProc(pid, "stat");
    // The name (field 2) may contain anything, so count from its closing parenthesis: state, parent, group.
    const [state, , ofGroup] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ", 3) ?? [];
    return Number(ofGroup) === group && state !== "Z" && state !== "X";
  });
}

/** Every process with the marker of one of `runs`. Linux only: other systems do not show the environment of a process. */
function markedProcesses(runs: ReadonlySet<string>): number[] {
  if (process.platform !== "linux" || runs.size === 0) return [];
  return processes()
    .filter((pid) => {
      const marker = markerOf(pid) ?? "";
      return runs.has(marker) || runs.has(marker.split(".", 1)[0] ?? "");
    })
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

function markerOf(pid: string): string | undefined {
  const environ = `\0${readProc(pid, "environ") ?? ""}`;
  const at = environ.indexOf(`\0${RUN_MARKER}=`);
  if (at === -1) return undefined;
  const value = environ.slice(at + RUN_MARKER.length + 2);
  return value.slice(0, value.indexOf("\0"));
}

function processes(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

/** Undefined when the process has ended, or belongs to another user. */
function readProc(pid: string, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch (error) {
    if (errno(error) !== undefined) return undefined;
    throw error;
  }
}

export interface Remains {
  groups: ReadonlySet<number>;
  runs: ReadonlySet<string>;
}

/**
 * Sends TERM to the groups and to all marked processes, waits up to `graceMs`, then sends KILL. Resolves when none is left. `isHurried` ends
 * the wait early.
 */
export async function endAll(
  { groups, runs }: Remains,
  graceMs: number,
  isHurried: () => boolean = () => false,
): Promise<void> {
  const isAnyLeft = () => [...groups].some(isGroupAlive) || markedProcesses(runs).length > 0;
  const signalAll = (signal: NodeJS.Signals) => {
    for (const group of groups) signalGroup(group, signal);
    for (const pid of markedProcesses(runs)) send(pid, signal);
  };
  if (!isAnyLeft()) return;
  signalAll("SIGTERM");
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline && !isHurried()) {
    await pause(50);
    if (!isAnyLeft()) return;
  }
  // A process may fork between the search and the signal, so repeat.
  for (let round = 0; round < 20 && isAnyLeft(); round++) {
    signalAll("SIGKILL");
    await pause(25);
  }
}

/** False when no such process exists. macOS answers EPERM for a group that only has zombies. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    if (errno(error) === "ESRCH" || errno(error) === "EPERM") return false;
    throw error;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
