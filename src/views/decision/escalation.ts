// Which decision a failed phase needs from the user, with the commands that answer it.

import { writersText } from "../../session/conflict.ts";
import type { ErrorRecord, FailureCode, FileConflict, RecordedError } from "../../session/events.ts";
import { failureCodeOf, oldConflicts } from "../../session/old-errors.ts";
import { lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { cut, oneLine } from "../text/cell.ts";
import { headline } from "../text/headline.ts";
import { keptWork } from "../work.ts";
import { type ConflictingFile, failureBlock, fileConflictBlock, timeoutBlock } from "./escalation-blocks.ts";

const MAX_REASON = 100;
const MAX_FILES = 20;
/** How much of a message is searched for paths. */
const MAX_SEARCHED = 20_000;

/** The user's possible answers; `narrow` needs a change to the plan first. */
export type Choice = { kind: "retry" | "adjust"; timeoutMs?: number } | { kind: "skip" | "abort" | "narrow" };

export interface Escalation {
  block: string[];
  /** In the order of the block's options. */
  choices: Choice[];
  /** Commands that help to decide: they show or apply the kept work, one line each. */
  hints: string[];
}

/** The block of design document S2 for the phase's last error, followed by the commands to answer. */
export function escalationBlock(session: Session, phase: SessionPhase, maxRetries: number): string[] {
  const { block, choices, hints } = escalationOf(session, phase, maxRetries);
  return [...block, ...answers(phase, choices), ...hints.map((hint) => `  ${hint}`)];
}

export function escalationOf(session: Session, phase: SessionPhase, maxRetries: number): Escalation {
  const error = phase.errors.findLast((one) => !one.resolved) ?? phase.errors.at(-1);
  const attempt = lastAttempt(phase);
  const type =
    error?.type ?? attempt?.result?.error_type ?? (attempt?.result?.outcome === "timeout" ? "timeout" : "runtime");
  const message = error?.message ?? attempt?.result?.message ?? "no error was recorded";
  const about = { phase: oneLine(phase.name), agent: error?.agent ?? attempt?.agent ?? phase.agents[0] ?? "unknown" };
  if (type === "timeout" && attempt?.result) {
    const block = timeoutBlock({
      ...about,
      timeoutMs: attempt.timeout_ms,
      elapsedMs: attempt.result.duration_ms,
      partialOutput:
        phase.handoff?.summary.trim() || `(none was recorded; maestro logs ${phase.id} shows what the agent printed)`,
      objective: objectiveOf(phase),
    });
    const choices: Choice[] = [longer(phase), { kind: "narrow" }, { kind: "skip" }, { kind: "abort" }];
    return { block, choices, hints: diffHint(phase) };
  }
  const files =
    type === "file_conflict" ? conflictingFiles(session, phase, { message, conflicts: error?.conflicts }) : [];
  if (files.length > 0) {
    const choices: Choice[] = [{ kind: "retry" }, { kind: "skip" }, { kind: "abort" }];
    return { block: fileConflictBlock({ ...about, files }), choices, hints: conflictHints(phase) };
  }
  const block = failureBlock({
    ...about,
    attempt: phase.retry_count,
    // The user may have asked for more retries than the automatic ones.
    maxRetries: Math.max(maxRetries, phase.retry_count),
    errorType: type,
    message,
    context: objectiveOf(phase),
    files: filesOf(phase).slice(0, MAX_FILES),
    previousAttempts: retriesOf(phase),
  });
  const adjust: Choice = { ...longer(phase), kind: "adjust" };
  const choices: Choice[] = [{ kind: "retry" }, { kind: "skip" }, { kind: "abort" }, adjust];
  return { block, choices, hints: failureHints(phase, failureCodeOf({ code: error?.code, type, message })) };
}

function failureHints(phase: SessionPhase, code: FailureCode | undefined): string[] {
  if (code === "sensitive_change") return sensitiveHints(phase);
  return code === "outside_scope" ? scopeHints(phase) : diffHint(phase);
}

function diffHint(phase: SessionPhase): string[] {
  return keptWork(phase) === undefined ? [] : [`maestro diff ${phase.id} shows what the attempt did`];
}

function conflictHints(phase: SessionPhase): string[] {
  const shown = diffHint(phase);
  return shown.length === 0 ? [] : [...shown, `maestro apply ${phase.id} brings it in once the files are resolved`];
}

function sensitiveHints(phase: SessionPhase): string[] {
  const shown = diffHint(phase);
  return shown.length === 0 ? [] : [...shown, `maestro apply ${phase.id} brings it in as it is, because you decide so`];
}

function scopeHints(phase: SessionPhase): string[] {
  return [
    ...diffHint(phase),
    `To let it change those files: maestro session revise <plan in which phase ${phase.id} owns them>, then maestro retry ${phase.id}`,
    `To be warned of them only: maestro retry ${phase.id}, then maestro resume --ownership warn`,
  ];
}

/** One line per option, numbered as in the block above. */
function answers({ id }: SessionPhase, choices: readonly Choice[]): string[] {
  const lines = choices.map((choice, at) => `    ${at + 1}. ${commandOf(id, choice)}`);
  const goesOn = choices.flatMap(({ kind }, at) => (kind === "abort" ? [] : [at + 1]));
  return ["", "  To answer:", ...lines, `  After ${goesOn.join(", ")}: maestro resume`];
}

function commandOf(id: string, choice: Choice): string {
  switch (choice.kind) {
    case "retry":
    case "adjust":
      return `maestro retry ${id}${choice.timeoutMs === undefined ? "" : ` --timeout ${option(choice.timeoutMs)}`}`;
    case "skip":
      return `maestro skip ${id}`;
    case "abort":
      return "maestro abort";
    case "narrow":
      return `maestro session revise <plan with a smaller phase ${id}>, then maestro retry ${id}`;
  }
}

function longer(phase: SessionPhase): Choice {
  const timeout = lastAttempt(phase)?.timeout_ms;
  return timeout === undefined ? { kind: "retry" } : { kind: "retry", timeoutMs: 2 * timeout };
}

/** "20m", "90s": in the form that the option accepts. */
function option(milliseconds: number): string {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

function objectiveOf(phase: SessionPhase): string {
  return phase.plan?.description.trim() || phase.name;
}

function filesOf({ plan, files_created, files_modified, files_deleted }: SessionPhase): string[] {
  const declared = [...(plan?.files_created ?? []), ...(plan?.files_modified ?? []), ...(plan?.files_deleted ?? [])];
  return [...new Set([...declared, ...files_created, ...files_modified, ...files_deleted])];
}

/** What each retry was told that the one before it was not. */
function retriesOf({ errors, retry_count: retries }: SessionPhase): string[] {
  if (retries === 0) return [];
  const told = errors.slice(0, -1).slice(-retries);
  return told.map(
    (error, at) => `Retry ${retries - told.length + at + 1}: the agent was told of the ${reasonOf(error)}`,
  );
}

function reasonOf({ type, message }: ErrorRecord): string {
  return cut(`${type.replace("_", " ")} error before it: ${headline(message)}`, MAX_REASON);
}

/** Those that the error lists; failing that, files that another phase wrote while this one ran, or that the message names. */
function conflictingFiles(
  session: Session,
  phase: SessionPhase,
  { message, conflicts }: Pick<RecordedError, "message" | "conflicts">,
): ConflictingFile[] {
  if (conflicts !== undefined) return conflicts.map(conflictingFile);
  const told = oldConflicts(message);
  if (told.length > 0) return told;
  const files = filesOf(phase);
  const since = lastAttempt(phase)?.started ?? phase.started ?? "";
  const others = session.phases.filter(
    (one) => one !== phase && one.started !== null && (one.completed ?? "9") > since,
  );
  const shared = files.flatMap((path) => {
    const writers = others.filter((one) =>
      [one.files_created, one.files_modified, one.files_deleted].flat().includes(path),
    );
    return writers.length === 0 ? [] : [{ path, by: [...writers, phase].map((one) => one.agents[0] ?? "unknown") }];
  });
  if (shared.length > 0) return shared;
  const named = files.filter((path) => message.includes(path));
  const paths = named.length > 0 ? named : pathsIn(message);
  return [...new Set(paths)].map((path) => ({ path, by: "external" as const }));
}

function conflictingFile({ path, by }: FileConflict): ConflictingFile {
  return { path, by: by.length === 0 ? "external" : [writersText(by)] };
}

/** Words that look like paths: with a slash or an extension. */
function pathsIn(message: string): string[] {
  const words = message.slice(0, MAX_SEARCHED).split(/[\s"'`,;:()[\]<>]+/);
  return words.filter((word) => /\w\/\w|\w\.[a-z]\w{0,7}$/i.test(word)).slice(0, MAX_FILES);
}
