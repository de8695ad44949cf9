// Which runtimes played the attempts of a session, as lines of the report: shown when there were several, or when one took over.

import { isNative, type SessionPhase } from "../../session/session.ts";
import { cut, oneLine } from "../text/cell.ts";

export interface PlayedAttempt {
  attempt: number;
  runtime: string;
  /** The runtime that was chosen and could not continue; null when this is the chosen one. */
  instead_of: string | null;
}

/** Native delegations are left out: no engine started a program for them. */
export function runtimesOf({ attempts }: SessionPhase): PlayedAttempt[] {
  const played = attempts.filter((one) => !isNative(one));
  return played.map(({ attempt, runtime, instead_of }) => ({ attempt, runtime, instead_of: instead_of ?? null }));
}

export function runtimeLines(
  phases: readonly { id: string; runtimes: readonly PlayedAttempt[] }[],
  width: number,
): string[] {
  if (!areTold(phases.flatMap(({ runtimes }) => runtimes))) return [];
  const told = phases.filter(({ runtimes }) => runtimes.length > 0);
  return [
    "Runtimes:",
    ...told.map(({ id, runtimes }) => cut(oneLine(`- phase ${id}: ${shortened(runtimes).join(", then ")}`), width)),
  ];
}

/** What a list of the phase's attempts says of their runtimes, by number: nothing when the session has only one. */
export function runtimeTexts(phases: readonly SessionPhase[], phase: SessionPhase): Map<number, string> {
  if (!areTold(phases.flatMap(runtimesOf))) return new Map();
  return new Map(runtimesOf(phase).map((played) => [played.attempt, textOf(played)]));
}

function areTold(all: readonly PlayedAttempt[]): boolean {
  return all.some(({ instead_of }) => instead_of !== null) || new Set(all.map((one) => one.runtime)).size > 1;
}

function textOf({ runtime, instead_of }: PlayedAttempt): string {
  return instead_of === null ? runtime : `${runtime} instead of ${instead_of}`;
}

/** Attempts in a row with the same runtime are one entry. */
function shortened(runtimes: readonly PlayedAttempt[]): string[] {
  const words = runtimes.map(textOf);
  return words.filter((word, at) => word !== words[at - 1]);
}
