// Which delegations of a conversation are running: state/delegations/<conversation>.jsonl, one line for each start, denial and end.
// Only the hand-off gate and the start of delegations use it. If it is lost, no session data is lost.

import { closeSync, constants, writeSync } from "node:fs";
import { type Directory, withDirectory } from "../../disk/contained.ts";
import { readRegular } from "../../disk/durable.ts";
import { errno } from "../../errors.ts";
import { nativeRun, type OpenDelegation } from "../../session/session.ts";
import { DELEGATIONS } from "../journal/journal-file.ts";
import { inState, type StateLocation, walk } from "../location.ts";

const MAX_BYTES = 1024 * 1024;
/** No agent works that long, and after a crash another process may have reused the conversation's pid by then. */
const LONGEST_MS = 2 * 3_600_000;

type Line =
  | { did: "start" | "end"; agent: string; phase: string | null; ours: boolean; at?: string; by?: number }
  /** A report was sent back to its agent. */
  | { did: "deny" };

export interface Delegation {
  agent: string;
  phase: string | null;
  /** When the hook allowed it; whether the agent really started is not known. */
  at: string;
  /** The pid of the conversation's process. */
  by: number;
}

/** The conversation that asks. */
export interface Conversation {
  conversation: string;
  clock: () => Date;
}

export interface RunningDelegations {
  ours: Delegation[];
  /** The number of running agents of other extensions and of the CLI itself. */
  others: number;
  /** How many reports were sent back; never more than the length of `ours`. */
  denied: number;
}

export function runningDelegations(location: StateLocation, here: Conversation): RunningDelegations {
  const bytes = inState(location, ["state", DELEGATIONS], (directory) =>
    readRegular(directory, nameOf(here), MAX_BYTES),
  );
  return foldLines(bytes);
}

/** The phases that other conversations with a live process are working on; without `here`, those of all conversations. */
export function delegationsElsewhere(location: StateLocation, here?: Conversation): Delegation[] {
  const own = here === undefined ? "" : nameOf(here);
  const found = inState(location, ["state", DELEGATIONS], (directory) =>
    directory
      .list()
      .filter((name) => name.endsWith(".jsonl") && name !== own)
      .flatMap((name) => foldLines(readRegular(directory, name, MAX_BYTES)).ours),
  );
  const now = here?.clock() ?? new Date();
  const since = new Date(now.getTime() - LONGEST_MS).toISOString();
  return (found ?? []).filter(({ phase, by, at }) => phase !== null && at > since && isAlive(by));
}

/** The delegations without a recorded end whose agent is running: their conversation is alive and has not seen it return. */
export function liveDelegations(
  location: StateLocation,
  now: Date,
  isIncluded: (delegation: Delegation) => boolean = () => true,
): (delegation: OpenDelegation) => boolean {
  const since = new Date(now.getTime() - LONGEST_MS).toISOString();
  const live = inState(location, ["state", DELEGATIONS], (directory) =>
    directory
      .list()
      .filter((name) => name.endsWith(".jsonl"))
      .flatMap((name) => {
        const run = nativeRun(name.slice(0, -".jsonl".length));
        const { ours } = foldLines(readRegular(directory, name, MAX_BYTES));
        const alive = ours.filter((one) => one.at > since && isAlive(one.by) && isIncluded(one));
        return alive.map(({ phase }) => `${run} ${phase}`);
      }),
  );
  const known = new Set(live);
  return ({ phase, attempt }) => known.has(`${attempt.run} ${phase.id}`);
}

function foldLines(bytes: Buffer | undefined): RunningDelegations {
  const running: RunningDelegations = { ours: [], others: 0, denied: 0 };
  for (const line of linesOf(bytes?.toString("utf8") ?? "")) take(running, line);
  return running;
}

function isAlive(pid: number): boolean {
  if (!(pid > 1)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errno(error) === "EPERM";
  }
}

function take(running: RunningDelegations, line: Line): void {
  if (line.did === "deny") running.denied += 1;
  else if (!line.ours) running.others = Math.max(0, running.others + (line.did === "start" ? 1 : -1));
  else if (line.did === "start")
    running.ours.push({ agent: line.agent, phase: line.phase, at: line.at ?? "", by: line.by ?? 0 });
  else {
    const at = running.ours.findIndex(({ agent, phase }) => agent === line.agent && phase === line.phase);
    if (at !== -1) running.ours.splice(at, 1);
    // Which delegation was sent back is not known, so the count is rather too low than too high.
    running.denied = Math.min(running.denied, running.ours.length);
  }
}

export function noteDelegation(location: StateLocation, here: Conversation, line: Line): void {
  const path = [...location.components, "state", DELEGATIONS];
  withDirectory(location.root, path, walk(location, true), (directory) => {
    // O_NONBLOCK: opening a FIFO must not wait for its reader.
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
    const fd = directory.open(nameOf(here), flags, 0o600);
    try {
      writeSync(fd, `${JSON.stringify({ ...line, at: here.clock().toISOString(), by: process.ppid })}\n`);
    } finally {
      closeSync(fd);
    }
  });
}

export function forgetDelegations(state: Directory, here: Conversation): void {
  if (state.lstat(DELEGATIONS)?.isDirectory() !== true) return;
  const directory = state.child(DELEGATIONS);
  try {
    directory.unlink(nameOf(here));
  } finally {
    directory.close();
  }
}

function nameOf({ conversation }: Conversation): string {
  return `${conversation}.jsonl`;
}

/** Skips lines that a full disk truncated. */
function linesOf(text: string): Line[] {
  return text.split("\n").flatMap((line): Line[] => {
    try {
      const value: unknown = line === "" ? null : JSON.parse(line);
      return typeof value === "object" && value !== null ? [value as Line] : [];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}
