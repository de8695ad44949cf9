// Judges a hand-off (P9): success, or the reason why not. Pure; used by the engine and the hooks.

import type { Handoff, HandoffCheck, MissingPart } from "../../handoff/handoff.ts";
import type { ErrorClass } from "../../handoff/output/error-type.ts";
import { fileKeys } from "../../handoff/report.ts";
import type { AttemptOutcome, FailureCode, FileConflict } from "../events.ts";

export interface Shortfall {
  kind: Exclude<AttemptOutcome, "success">;
  /** A code for programs. */
  reason: string;
  errorType: ErrorClass;
  /** For people, and for the next attempt. */
  message: string;
  /** Views and the next prompt depend on this code, never on the message. */
  code?: FailureCode;
  conflicts?: FileConflict[];
}

export type AttemptVerdict = { kind: "success" } | Shortfall;

/** `handoff` is null when the agent's output could not be read. */
export function judgeHandoff(handoff: Handoff | null, hasDependents: boolean): AttemptVerdict {
  if (handoff === null) return incomplete(allParts(hasDependents));
  const { check } = handoff;
  const missing = missingParts(check, hasDependents);
  if (check.status === "partial" || check.status === "failure") return reported(handoff, check.status, missing);
  if (missing.length > 0) return incomplete(missing);
  if (check.parse_error === null && check.error_type === null) return { kind: "success" };
  const fault = check.parse_error ?? `${check.error_type} error`;
  return {
    kind: "failure",
    reason: check.parse_error ?? "reported_error",
    errorType: check.error_type ?? "runtime",
    message: `The report says success, but the output contradicts it (${fault})`,
  };
}

/** Limits an agent's summary, which can have any length, to more than the next attempt can use. */
const LONGEST_MESSAGE = 8_000;

function reported(
  { check, summary, validation }: Handoff,
  status: "partial" | "failure",
  missing: MissingPart[],
): Shortfall {
  const said = summary.length > LONGEST_MESSAGE ? `${summary.slice(0, LONGEST_MESSAGE)} ...` : summary;
  // A report of success with a failed validation counts as partial, which the agent did not say.
  const claim = status === "partial" && validation === "fail" ? "that its validation failed" : status;
  const message = `The agent reported ${claim}${said === "" ? " without a summary" : `: ${said}`}`;
  return {
    kind: "failure",
    reason: `reported_${status}`,
    errorType: tellsOfConflict(summary) ? "file_conflict" : (check.error_type ?? "runtime"),
    message: missing.length === 0 ? message : `${message}\n${lacks(missing)}`,
  };
}

/** Negates a mention of conflicts in the same sentence. */
const denial = /\b(?:no|any|without|zero|resolved|avoid(?:ed|s|ing)?)\s(?:[\w-]+\s){0,3}(?:conflict|concurrent)/i;
const conflictSigns = [
  /\bfile[- ]conflict/i,
  /\bconflicting\s(?:[\w-]+\s){0,2}(?:modif|edit|change|write|overw)/i,
  /\b(?:concurrent(?:ly)?|simultaneous(?:ly)?)\s(?:[\w-]+\s){0,2}(?:modif|edit|overw)/i,
  /\bconflict\w{0,3}\s(?:with|between)\b.{0,80}\b(?:another|other|external|agents?|phases?|process|user)\b/i,
  /\b(?:modified|changed|edited|overwritten|rewritten|touched)\b.{0,80}\b(?:by (?:another|an external|some other|other)|externally|concurrently|simultaneously|since (?:the |this )?(?:phase|task|work) (?:start|began))/i,
];

/** Whether the summary says that another process changed the agent's files while it worked. */
function tellsOfConflict(summary: string): boolean {
  const sentences = summary.slice(0, LONGEST_MESSAGE).split(/(?<=[.!?;])\s+|\n/);
  return sentences.some((sentence) => !denial.test(sentence) && conflictSigns.some((sign) => sign.test(sentence)));
}

/** How each part must look. */
const parts: Record<MissingPart, string> = {
  task_report: 'the section "## Task Report"',
  status: 'the line "- Status:" with success, partial or failure',
  files_created: 'the line "- Files Created:" with paths or none',
  files_modified: 'the line "- Files Modified:" with paths or none',
  files_deleted: 'the line "- Files Deleted:" with paths or none',
  downstream_context:
    'the section "## Downstream Context" with Key Interfaces Introduced, Patterns Established, Integration Points, Assumptions and Warnings',
};

function incomplete(missing: MissingPart[]): Shortfall {
  return { kind: "failure", reason: "handoff_incomplete", errorType: "validation", message: lacks(missing) };
}

export function lacks(missing: readonly MissingPart[]): string {
  const inOrder = (Object.keys(parts) as MissingPart[]).filter((part) => missing.includes(part));
  return `The hand-off is incomplete. Missing at the end of the answer: ${inOrder.map((part) => parts[part]).join("; ")}`;
}

/** Decides here whether Downstream Context is missing, because the parser may not have known whether other phases depend on this one. */
export function missingParts(check: HandoffCheck, hasDependents: boolean): MissingPart[] {
  const missing = check.missing.filter((part) => part !== "downstream_context");
  return hasDependents && !check.has_downstream_context ? [...missing, "downstream_context"] : missing;
}

function allParts(hasDependents: boolean): MissingPart[] {
  return ["task_report", "status", ...fileKeys, ...(hasDependents ? (["downstream_context"] as const) : [])];
}
