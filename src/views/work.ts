// What the attempts of a phase changed, as recorded, worded the same in all views. Hooks load it, so it must not import
// the code that aligns columns.

import type { Evidence, FileChange } from "../session/events.ts";
import {
  type Attempt,
  type Changes,
  isNative,
  lastAttempt,
  type Session,
  type SessionPhase,
} from "../session/session.ts";
import { exactDuration } from "./text/duration.ts";

export type WorkedAttempt = Attempt & { changes: Changes };

/** The attempt whose changes represent the phase: the one in the project, otherwise the last one with recorded changes. */
export function workOf({ attempts }: SessionPhase): WorkedAttempt | undefined {
  return attempts.filter(hasWork).findLast((attempt) => attempt.integrated) ?? attempts.findLast(hasWork);
}

/**
 * Earlier native delegations and integrated attempts (of a phase that was reopened) whose changes are in the project beside those that
 * represent the phase: each is compared with the project as it found it, so a later one does not include them.
 */
export function earlierWork(phase: SessionPhase): WorkedAttempt[] {
  const work = workOf(phase);
  return phase.attempts
    .filter(hasWork)
    .filter((attempt) => attempt !== work && isSeparate(attempt) && isInProject(phase, attempt));
}

function isSeparate(attempt: Attempt): boolean {
  return isNative(attempt) || attempt.integrated !== undefined;
}

/** The last attempt, when its work is not in the project and is completely kept. */
export function keptWork(phase: SessionPhase): WorkedAttempt | undefined {
  const attempt = lastAttempt(phase);
  if (attempt === undefined || !hasWork(attempt) || attempt.changes.commit === null) return undefined;
  return attempt.integrated === undefined ? attempt : undefined;
}

function hasWork(attempt: Attempt): attempt is WorkedAttempt {
  return attempt.changes !== undefined && attempt.changes.total > 0;
}

/**
 * Whether the attempt's work is in the project: it worked there, or its work was integrated. The discarded change of an agent that may not write
 * is not, although its phase is recorded as integrated.
 */
export function isInProject(phase: SessionPhase, attempt: WorkedAttempt): boolean {
  const { placed, integrated, reverted, changes } = attempt;
  if (reverted) return false;
  if (integrated === undefined) return (placed?.worktree ?? null) === null && changes.total > 0;
  return integrated.from !== integrated.to || wasTakenOver(phase, attempt);
}

/** Whether its changes are used: those of an agent that may not write are discarded, while its phase proceeds as usual. */
export function wasTakenOver({ warnings }: SessionPhase, { started }: Attempt): boolean {
  return !warnings.some(({ ts, code }) => code === "not_applied" && ts >= started);
}

export interface PhaseWork {
  phase: SessionPhase;
  attempt: WorkedAttempt;
}

/** The session's changes that are in the project, in the order in which they came in. */
export function sessionWork({ phases }: Session): PhaseWork[] {
  return phases
    .flatMap((phase) => inProject(phase).map((attempt) => ({ phase, attempt })))
    .sort((one, other) => orderOf(one.attempt) - orderOf(other.attempt));
}

function inProject(phase: SessionPhase): WorkedAttempt[] {
  const work = workOf(phase);
  return work === undefined || !isInProject(phase, work) ? earlierWork(phase) : [...earlierWork(phase), work];
}

function orderOf({ integrated, seq }: WorkedAttempt): number {
  return integrated?.seq ?? seq;
}

export interface Amount {
  files: number;
  added: number;
  removed: number;
}

/** What the session changed in the project. A file that two phases changed counts once. */
export function sessionAmount(session: Session): Amount {
  const paths = new Set<string>();
  const amount = { files: 0, added: 0, removed: 0 };
  for (const phase of session.phases) {
    for (const { changes } of inProject(phase)) {
      for (const { path } of changes.files) paths.add(path);
      amount.files += changes.total - changes.files.length;
      amount.added += changes.added;
      amount.removed += changes.removed;
    }
  }
  return { ...amount, files: amount.files + paths.size };
}

/** "3 files (+120 -4)"; no line counts where none were recorded. */
export function amountText({ files, added, removed }: Amount): string {
  return `${files} ${files === 1 ? "file" : "files"}${added + removed === 0 ? "" : ` (+${added} -${removed})`}`;
}

export function amountOf({ total, added, removed }: Changes): string {
  return amountText({ files: total, added, removed });
}

/** "old.ts -> new.ts" for a renamed file. */
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
export function endOf({ exit_code, duration_ms, not_worse }: Command): string {
  return `${not_worse ? "not worse than before, " : ""}${exit_code === null ? "no exit code" : `exit code ${exit_code}`}, ${exactDuration(duration_ms)}`;
}

/** The last lines of a command's output. It searches from the end, because every redraw calls this for every phase. */
export function tailOf(output: string, lines: number): string[] {
  const text = output.trimEnd();
  if (text === "") return [];
  let start = text.length;
  for (let line = 0; line < lines && start > 0; line += 1) start = text.lastIndexOf("\n", start - 1);
  return text.slice(start + 1).split("\n");
}
