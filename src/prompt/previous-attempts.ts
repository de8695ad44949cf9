// The results of earlier attempts at a phase, and what the next one should do differently: more with every retry.

import type { ErrorRecord } from "../session/events.ts";
import { failureCodeOf } from "../session/old-errors.ts";
import { OUTSIDE_SCOPE } from "../session/scope.ts";
import type { Attempt, SessionPhase } from "../session/session.ts";
import { encloseAll, promptLine, type TextLimits } from "./data.ts";

const limits: TextLimits = { each: 6_000, total: 20_000 };

interface Past {
  title: string;
  texts: string[];
}

/** Empty when no attempt has worked on the phase yet. */
export function previousAttempts(phase: SessionPhase, maxRetries: number, tag: string): string {
  const retry = retryNumber(phase);
  const pasts = pastsOf(phase);
  if (retry === 0 && pasts.length === 0) return "";
  const blocks = encloseAll(
    tag,
    pasts.map(({ texts }) => texts.join("\n\n")),
    limits,
  );
  return [
    "# Previous attempts",
    isReopened(phase) ? REOPENED : whatThisIs(retry, maxRetries),
    earlierWork(phase),
    isReopened(phase) ? "" : guidance(phase, retry, maxRetries),
    ...pasts.flatMap(({ title }, index) => [`## ${title}`, blocks[index] ?? ""]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const REOPENED =
  "The work of this phase was finished. The user reviewed it and wants it changed: do what the user asks for, and leave the rest as it is.";

/** No attempt has worked on the phase since the user reopened it. */
function isReopened({ retry_decisions: decisions = [], attempts, attempts_at_decision: at }: SessionPhase): boolean {
  return decisions.at(-1)?.reopened === true && attempts.length === at;
}

/** A failed phase counts its retry when it starts again, which may be after its prompt is written. */
function retryNumber({ retry_count, status }: SessionPhase): number {
  return status === "failed" ? retry_count + 1 : retry_count;
}

function whatThisIs(retry: number, maxRetries: number): string {
  if (retry === 0) return "An earlier attempt ended before its work was done. Continue where it stopped.";
  if (retry > maxRetries) return `This is retry ${retry}. The automatic ones are used up; a person asked for this one.`;
  return `This is retry ${retry} of ${maxRetries}.`;
}

/** Where the work of earlier attempts is. */
function earlierWork(phase: SessionPhase): string {
  const conflicting = conflictingWork(phase);
  if (conflicting === undefined) {
    return "Earlier work may be in the tree, whole or in part. Look before you change anything, keep what is right, finish the rest. A file already created or deleted there is not a failed Scope Verification.";
  }
  const { base, commit } = conflicting;
  return `The project has changed since the last attempt began, and its work could not be merged into it. This attempt starts from the project as it is now. \`git diff ${base} ${commit}\` shows that work, if your tools allow it: reuse what is missing and still fits, and undo nothing that others did.`;
}

/** The work of the last attempt that left any, when it could not be merged into the project. */
function conflictingWork({ errors, attempts }: SessionPhase): { base: string; commit: string } | undefined {
  const last = attempts.findLast(({ changes }) => changes !== undefined);
  const error = errors.at(-1);
  const isApart = typeof last?.placed?.worktree === "string";
  if (!isApart || error?.type !== "file_conflict" || error.timestamp < last.started) return undefined;
  const { base, commit } = last.changes ?? {};
  return base && commit ? { base, commit } : undefined;
}

const adviceByRetry = [
  "Fix exactly what failed, as told below. Leave what works as it is.",
  "The first fix did not hold. Do not repeat it: find the cause before you change anything, and take another approach. Narrow the work to the part that failed, and make that pass first.",
  "Several approaches have failed; repeat none of them. Do the smallest part of the objective that you can finish and check, and report the rest as `partial` with what stands in its way.",
];

const adviceByError: Partial<Record<ErrorRecord["type"], string>> = {
  validation: "Run the failed command first, if your tools allow it, and see the failure yourself.",
  timeout: "The time was not enough: do the essential part first, and start nothing that waits, watches or serves.",
  file_conflict: "A file changed during the attempt: read every file again before you edit it.",
  runtime: "Whatever happens, end with the complete form of the Output Handoff Contract.",
  dependency:
    "Something it needed was not there: check for that first, and if it is still missing, report `failure` and name it.",
};

const deliveryAdvice =
  "Deliver every file that is listed below: create it at exactly that path, or delete it. If one is not needed, report `failure` and say why.";

const lastAdvice = "If this one fails, a person decides: an honest `partial` or `failure` helps them most.";

function guidance(phase: SessionPhase, retry: number, maxRetries: number): string {
  if (retry === 0) return "";
  const advice = [adviceByRetry[Math.min(retry, adviceByRetry.length) - 1], adviceOnError(phase)];
  if (retry >= maxRetries) advice.push(lastAdvice);
  return advice.filter((text) => text !== undefined).join(" ");
}

function adviceOnError({ errors, attempts }: SessionPhase): string | undefined {
  const error = errors.at(-1);
  const code = error && failureCodeOf(error);
  if (code === "outside_scope" || code === "sensitive_change") return scopeAdvice(attempts.at(-1));
  if (code === "not_delivered") return deliveryAdvice;
  const type = error?.type ?? attempts.at(-1)?.result?.error_type;
  return type && adviceByError[type];
}

/** The files are listed once, with the error. */
function scopeAdvice(last: Attempt | undefined): string {
  const isApart = typeof last?.placed?.worktree === "string";
  return [
    `Out of scope are the files listed below after "${OUTSIDE_SCOPE}".`,
    ...(isApart ? ["Changes to them were not kept."] : []),
    "Leave them alone, or ask for them with `maestro_request_scope` before you change them.",
  ].join(" ");
}

function pastsOf(phase: SessionPhase): Past[] {
  // A rejection by the provider does not help the next attempt.
  const worked = phase.attempts.filter((attempt) => attempt.result?.outcome !== "quota");
  const pasts = worked.map((attempt): Past & { since: string } => ({
    title: `Attempt ${attempt.attempt} (${promptLine(attempt.agent)}): ${endingOf(attempt)}`,
    texts: [attempt.result?.message, leftChanged(attempt)].filter((text) => text !== undefined),
    since: attempt.started,
  }));
  const unattributed: Past[] = [];
  for (const error of phase.errors) {
    const past = pasts.findLast(({ since }) => since <= error.timestamp);
    if (past === undefined) unattributed.push({ title: `Error (${promptLine(error.agent)})`, texts: [textOf(error)] });
    else past.texts = [...past.texts.filter((text) => !error.message.includes(text)), textOf(error)];
  }
  const all = [...unattributed, ...pasts];
  return [...all, ...failedValidation(phase, all), ...lastReport(phase)];
}

const MAX_FILES = 30;

/** What it had changed when it ended, so that the next attempt can inspect it. */
function leftChanged({ changes }: Attempt): string | undefined {
  if (changes === undefined || changes.total === 0) return undefined;
  const lines = changes.files.slice(0, MAX_FILES).map(({ path, kind, added, removed }) => {
    const amount = added === null ? "" : `, +${added} -${removed}`;
    return `- ${promptLine(path)} (${kind}${amount})`;
  });
  const more = changes.total - lines.length;
  return ["Files it left changed:", ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}

function endingOf({ result }: Attempt): string {
  if (result === null) return "its end was not recorded";
  const reason = result.reason === undefined ? "" : ` (${promptLine(result.reason)})`;
  const endings = {
    success: "the agent finished",
    failure: `failed${reason}`,
    timeout: `ran out of time after ${Math.round(result.duration_ms / 1000)} s`,
    quota: "rejected by the provider",
    interrupted: "stopped from outside; not a fault of the work",
  };
  return endings[result.outcome];
}

function textOf({ type, message, resolution }: ErrorRecord): string {
  return `${type}: ${message}${resolution === "" || resolution === "pending" ? "" : `\nresolution: ${resolution}`}`;
}

/** Its output, unless an error already includes it. */
function failedValidation({ validation }: SessionPhase, pasts: readonly Past[]): Past[] {
  if (validation?.result !== "fail") return [];
  const detail = validation.detail.trim();
  const isTold = pasts.some(({ texts }) => texts.some((text) => text.includes(detail)));
  return isTold ? [] : [{ title: "The validation that failed", texts: [detail] }];
}

function lastReport({ handoff, files_created, files_modified, files_deleted }: SessionPhase): Past[] {
  if (handoff === undefined) return [];
  const lines: [string, string][] = [
    ["Status", handoff.status ?? "none"],
    ["Missing in it", handoff.missing.join(", ")],
    ["Files Created", files_created.join(", ")],
    ["Files Modified", files_modified.join(", ")],
    ["Files Deleted", files_deleted.join(", ")],
    ["Summary", handoff.summary],
  ];
  const told = lines.filter(([, text]) => text.trim() !== "").map(([name, text]) => `${name}: ${text}`);
  return [{ title: "The last report", texts: [told.join("\n")] }];
}
