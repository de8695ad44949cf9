// Which delegations of a conversation are running: state/delegations/<conversation>.jsonl, one line for each start, denial and end.
// It only steers the hand-off gate. Losing it loses nothing of a session.

import { closeSync, constants, writeSync } from "node:fs";
import { type Directory, withDirectory } from "../store/contained.ts";
import { readRegular } from "../store/durable.ts";
import { inState, type StateLocation, walk } from "../store/location.ts";
import { DELEGATIONS } from "./checkpoint.ts";
import { parseInput } from "./input.ts";
import type { Surroundings } from "./surroundings.ts";

const MAX_BYTES = 1024 * 1024;

type Line =
  | { did: "start" | "end"; agent: string; phase: string | null; ours: boolean; at?: string }
  /** A report was sent back. */
  | { did: "deny" };

export interface Delegation {
  agent: string;
  phase: string | null;
  /** When it was let through; whether it ever began is not known. */
  at: string;
}

export interface RunningDelegations {
  ours: Delegation[];
  /** Of other extensions, and of the CLI itself. */
  others: number;
  /** How many reports were sent back: never more than `ours`. */
  denied: number;
}

export function runningDelegations(location: StateLocation, here: Surroundings): RunningDelegations {
  const bytes = inState(location, ["state", DELEGATIONS], (directory) =>
    readRegular(directory, nameOf(here), MAX_BYTES),
  );
  const running: RunningDelegations = { ours: [], others: 0, denied: 0 };
  for (const line of linesOf(bytes?.toString("utf8") ?? "")) take(running, line);
  return running;
}

function take(running: RunningDelegations, line: Line): void {
  if (line.did === "deny") running.denied += 1;
  else if (!line.ours) running.others = Math.max(0, running.others + (line.did === "start" ? 1 : -1));
  else if (line.did === "start") running.ours.push({ agent: line.agent, phase: line.phase, at: line.at ?? "" });
  else {
    const at = running.ours.findIndex(({ agent, phase }) => agent === line.agent && phase === line.phase);
    if (at !== -1) running.ours.splice(at, 1);
    // Which one was sent back is not known: rather one denial too few.
    running.denied = Math.min(running.denied, running.ours.length);
  }
}

export function noteDelegation(location: StateLocation, here: Surroundings, line: Line): void {
  const path = [...location.components, "state", DELEGATIONS];
  withDirectory(location.root, path, walk(location, true), (directory) => {
    // O_NONBLOCK: opening a FIFO must not wait for its reader.
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
    const fd = directory.open(nameOf(here), flags, 0o600);
    try {
      writeSync(fd, `${JSON.stringify({ ...line, at: here.clock().toISOString() })}\n`);
    } finally {
      closeSync(fd);
    }
  });
}

export function forgetDelegations(state: Directory, here: Surroundings): void {
  if (state.lstat(DELEGATIONS)?.isDirectory() !== true) return;
  const directory = state.child(DELEGATIONS);
  try {
    directory.unlink(nameOf(here));
  } finally {
    directory.close();
  }
}

function nameOf({ conversation }: Surroundings): string {
  return `${conversation}.jsonl`;
}

function linesOf(text: string): Line[] {
  // A line that a full disk cut short is none; the others still count.
  return text.split("\n").flatMap((line) => (parseInput(line) as Line | undefined) ?? []);
}
