// Process trees: a group that was given its own session, and processes that left it but still carry the run's marker.
// Killing is asked for here and nowhere else.

import { readdirSync, readFileSync } from "node:fs";
import { errno } from "../../errors.ts";

/**
 * The variable by which a process can be told to belong to a run, whatever group it has moved to: "<run>.<attempt>". Asked for by
 * either the run or the whole.
 */
export const RUN_MARKER = "MAESTRO_RUN";

/** Sends a signal to every process of a group. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  send(-group, signal);
}

/** Whether somebody in the group still lives. What is dead and was never collected does not count. */
export function isGroupAlive(group: number): boolean {
  if (!send(-group, 0)) return false;
  if (process.platform !== "linux") return true;
  return processes().some((pid) => {
    const stat = readProc(pid, "stat");
    // The name (field 2) may hold anything: count from its closing parenthesis. State, parent, group.
    const [state, , ofGroup] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ", 3) ?? [];
    return Number(ofGroup) === group && state !== "Z" && state !== "X";
  });
}

/** Every living process that carries the marker of one of `runs`. Linux only: elsewhere nobody may look. */
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

/** Undefined when the process is gone meanwhile, or somebody else's. */
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
 * TERM, up to `graceMs` of patience, KILL: for groups and for whoever carries a marker. Resolves when nothing is left. `isHurried` cuts the
 * patience short.
 */
export async function endAll(
  { groups, runs }: Remains,
  graceMs: number,
  isHurried: () => boolean = () => false,
): Promise<void> {
  const isAnyoneLeft = () => [...groups].some(isGroupAlive) || markedProcesses(runs).length > 0;
  const signalAll = (signal: NodeJS.Signals) => {
    for (const group of groups) signalGroup(group, signal);
    for (const pid of markedProcesses(runs)) send(pid, signal);
  };
  if (!isAnyoneLeft()) return;
  signalAll("SIGTERM");
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline && !isHurried()) {
    await pause(50);
    if (!isAnyoneLeft()) return;
  }
  // Somebody may be forking while we look.
  for (let round = 0; round < 20 && isAnyoneLeft(); round++) {
    signalAll("SIGKILL");
    await pause(25);
  }
}

/** False when there is nobody to send it to. macOS answers EPERM for a group of which only the dead are left. */
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
