// Which decision a failed phase needs from the user, with the commands that answer it.

import { writersText } from "../../session/conflict.ts";
import type { ErrorRecord, FailureCode, FileConflict, RecordedError } from "../../session/events.ts";
import { failureCodeOf, oldConflicts } from "../../session/old-errors.ts";
import { lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { changesText } from "../retry.ts";
import { cut, oneLine } from "../text/cell.ts";
import { headline } from "../text/headline.ts";
import { keptWork } from "../work.ts";
import { type ConflictingFile, failureBlock, fileConflictBlock, timeoutBlock } from "./escalation-blocks.ts";

const MAX_REASON = 100;
const MAX_FILES = 20;
/** How much of a message is searched for paths. */
const MAX_SEARCHED = 20_000;

/** The user's possible answers; `narrow` retries with guidance to do less. */
export type Choice = { kind: "retry" | "adjust"; timeoutMs?: number } | { kind: "skip" | "abort" | "narrow" };

export interface Escalation {
  kind: "timeout" | "file_conflict" | "failure";
  message: string;
  block: string[];
  /** In the order of the block's options. */
  choices: Choice[];
  /** Commands that help to decide: they show or apply the kept work, one line each. */
  hints: string[];
}

export interface EscalationLook {
  maxRetries: number;
  /** The command that starts Maestro for this user. */
  program: string;
  /** An engine runs the session, and acts on the answer by itself. */
  isDriven?: boolean;
}

/** The block of design document S2 for the phase's last error, followed by the commands to answer. */
export function escalationBlock(session: Session, phase: SessionPhase, look: EscalationLook): string[] {
  const { block, choices, hints } = escalationOf(session, phase, look);
  return [...block, ...answers(phase, choices, look), ...hints.map((hint) => `  ${hint}`)];
}

export function escalationOf(
  session: Session,
  phase: SessionPhase,
  { maxRetries, program }: EscalationLook,
): Escalation {
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
        phase.handoff?.summary.trim() ||
        attempt.result.partial_output ||
        `(none was recorded; ${program} logs ${phase.id} shows what the agent printed)`,
      objective: objectiveOf(phase),
    });
    const choices: Choice[] = [longer(phase), { kind: "narrow" }, { kind: "skip" }, { kind: "abort" }];
    return { kind: "timeout", message, block, choices, hints: diffHint(program, phase) };
  }
  const files =
    type === "file_conflict" ? conflictingFiles(session, phase, { message, conflicts: error?.conflicts }) : [];
  if (files.length > 0) {
    const choices: Choice[] = [{ kind: "retry" }, { kind: "skip" }, { kind: "abort" }];
    const block = fileConflictBlock({ ...about, files });
    return { kind: "file_conflict", message, block, choices, hints: conflictHints(program, phase) };
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
  const hints = failureHints(program, phase, failureCodeOf({ code: error?.code, type, message }));
  return { kind: "failure", message, block, choices, hints };
}

/** The guidance for the next attempt when the user narrows its scope. */
const NARROWER = "Do the smallest part of the objective that meets the validation criteria.";

function failureHints(program: string, phase: SessionPhase, code: FailureCode | undefined): string[] {
  if (code === "sensitive_change") return sensitiveHints(program, phase);
  return code === "outside_scope" ? scopeHints(program, phase) : diffHint(program, phase);
}

function diffHint(program: string, phase: SessionPhase): string[] {
  return keptWork(phase) === undefined ? [] : [`${program} diff ${phase.id} shows what the attempt did`];
}

function conflictHints(program: string, phase: SessionPhase): string[] {
  const shown = diffHint(program, phase);
  return shown.length === 0
    ? []
    : [...shown, `${program} apply ${phase.id} applies the work once the conflicts are resolved`];
}

function sensitiveHints(program: string, phase: SessionPhase): string[] {
  const shown = diffHint(program, phase);
  return shown.length === 0
    ? []
    : [...shown, `${program} apply ${phase.id} applies the work unchanged, by your decision`];
}

function scopeHints(program: string, phase: SessionPhase): string[] {
  return [
    ...diffHint(program, phase),
    `To let it change those files: add them to phase ${phase.id} in the plan file, then ${program} session revise and ${program} retry ${phase.id}`,
    `To get only a warning about them: ${program} retry ${phase.id}, then ${program} resume --ownership warn`,
  ];
}

/** One line per option, numbered as in the block above. */
function answers({ id }: SessionPhase, choices: readonly Choice[], { program, isDriven }: EscalationLook): string[] {
  const lines = choices.map((choice, at) => `    ${at + 1}. ${commandOf(program, id, choice)}`);
  const goesOn = choices.flatMap(({ kind }, at) => (kind === "abort" ? [] : [at + 1])).join(", ");
  const next = isDriven ? "The running engine acts on it" : `After ${goesOn}: ${program} resume`;
  const adjust = choices.findIndex(({ kind }) => kind === "adjust") + 1;
  const more = adjust === 0 ? [] : [`  ${adjust} also takes --guidance, --agent, --model and --criteria`];
  return ["", "  To answer:", ...lines, `  ${next}`, ...more];
}

/** The command for an answer; it works when it is pasted. */
export function commandOf(program: string, id: string, choice: Choice): string {
  switch (choice.kind) {
    case "retry":
    case "adjust":
      return `${program} retry ${id}${choice.timeoutMs === undefined ? "" : ` --timeout ${option(choice.timeoutMs)}`}`;
    case "skip":
      return `${program} skip ${id}`;
    case "abort":
      return `${program} abort`;
    case "narrow":
      return `${program} retry ${id} --guidance "${NARROWER}"`;
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

/** What the prompt of each retry added, and what the user changed for it. */
function retriesOf({ errors, retry_count: retries, retry_decisions: decisions = [] }: SessionPhase): string[] {
  if (retries === 0) return [];
  const told = errors.slice(0, -1).slice(-retries);
  return told.map((error, at) => {
    const retry = retries - told.length + at + 1;
    const changes = changesText(
      decisions.findLast((decision) => decision.retry === retry && decision.reopened !== true),
    );
    return `Retry ${retry}: its prompt had the ${reasonOf(error)}${changes === "" ? "" : `; the user gave it ${changes}`}`;
  });
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
