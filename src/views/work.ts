// What the attempts of a phase did, as the tree tells it, in words that all views share. Hooks load it: nothing is aligned here.

import type { Evidence, FileChange } from "../session/events.ts";
import { type Attempt, type Changes, lastAttempt, type Session, type SessionPhase } from "../session/session.ts";
import { durationText } from "./text/duration.ts";

export type WorkedAttempt = Attempt & { changes: Changes };

/** The attempt that the phase's changes are told by: the one in the project, else the last that is known to have changed something. */
export function workOf({ attempts }: SessionPhase): WorkedAttempt | undefined {
  return attempts.filter(hasWork).findLast((attempt) => attempt.integrated) ?? attempts.findLast(hasWork);
}

/** The last attempt, when what it did is not in the project and nothing of it is lost. */
export function keptWork(phase: SessionPhase): WorkedAttempt | undefined {
  const attempt = lastAttempt(phase);
  if (attempt === undefined || !hasWork(attempt) || attempt.changes.commit === null) return undefined;
  return attempt.integrated === undefined ? attempt : undefined;
}

function hasWork(attempt: Attempt): attempt is WorkedAttempt {
  return attempt.changes !== undefined && attempt.changes.total > 0;
}

/**
 * What the attempt did is in the project: it worked there, or its work was brought in. The discarded change of an agent that may not write
 * is not, although its phase is recorded as integrated.
 */
export function isInProject(phase: SessionPhase, attempt: WorkedAttempt): boolean {
  const { placed, integrated, reverted, changes } = attempt;
  if (reverted) return false;
  if (integrated === undefined) return (placed?.worktree ?? null) === null && changes.total > 0;
  return integrated.from !== integrated.to || wasTakenOver(phase, attempt);
}

/** Nothing is taken over from an agent that may not write; its phase goes the way of all others. */
export function wasTakenOver({ warnings }: SessionPhase, { started }: Attempt): boolean {
  return !warnings.some(({ ts, code }) => code === "not_applied" && ts >= started);
}

export interface Amount {
  files: number;
  added: number;
  removed: number;
}

/** What is in the project by the session. A file that two phases changed is one file. */
export function sessionAmount(session: Session): Amount {
  const paths = new Set<string>();
  const amount = { files: 0, added: 0, removed: 0 };
  for (const phase of session.phases) {
    const work = workOf(phase);
    if (work === undefined || !isInProject(phase, work)) continue;
    const { files, total, added, removed } = work.changes;
    for (const { path } of files) paths.add(path);
    amount.files += total - files.length;
    amount.added += added;
    amount.removed += removed;
  }
  return { ...amount, files: amount.files + paths.size };
}

/** "3 files (+120 -4)"; no lines where none were counted. */
export function amountText({ files, added, removed }: Amount): string {
  return `${files} ${files === 1 ? "file" : "files"}${added + removed === 0 ? "" : ` (+${added} -${removed})`}`;
}

export function amountOf({ total, added, removed }: Changes): string {
  return amountText({ files: total, added, removed });
}

/** "old.ts -> new.ts" of a file that was renamed. */
export function nameOf({ path, from }: FileChange): string {
  return from === undefined ? path : `${from} -> ${path}`;
}

/** "a, b and 3 more" */
export function someOf(names: readonly string[], limit: number): string {
  const shown = names.slice(0, limit).join(", ");
  return names.length > limit ? `${shown} and ${names.length - limit} more` : shown;
}

type Command = Evidence["commands"][number];

export function passed({ exit_code }: Command): boolean {
  return exit_code === 0;
}

/** "exit code 1, 3 s" */
export function endOf({ exit_code, duration_ms }: Command): string {
  return `${exit_code === null ? "no exit code" : `exit code ${exit_code}`}, ${durationText(duration_ms)}`;
}

/** The last lines of what a command printed. Looked for from the end: every drawing of a view asks this of every phase. */
export function tailOf(output: string, lines: number): string[] {
  const text = output.trimEnd();
  if (text === "") return [];
  let start = text.length;
  for (let line = 0; line < lines && start > 0; line += 1) start = text.lastIndexOf("\n", start - 1);
  return text.slice(start + 1).split("\n");
}
