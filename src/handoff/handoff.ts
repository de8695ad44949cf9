// Turns an agent's output into its handoff, and says what is missing in it. Pure, linear in the output, and without a library, because
// hooks load it. It is lenient about form and strict about meaning: nothing is taken from a fence, a quote, a template or another report.
import { stripControls } from "../text.ts";
import { type DownstreamContext, emptyContext } from "./downstream-context.ts";
import { type AgentAnswer, type ParseError, unreadable } from "./output/answer.ts";
import { type ErrorClass, type ErrorType, recordedType } from "./output/error-type.ts";
import type { HandoffFormat } from "./output/formats.ts";
import { findGeminiJson, isGeminiJson, readGeminiJson } from "./output/gemini-json.ts";
import { isStreamJson, readStreamJson } from "./output/stream-json.ts";
import { unwrapSubagent } from "./output/subagent.ts";
import type { Tokens } from "./output/tokens.ts";
import { type FileKey, fileKeys, readReport, type TaskReport } from "./report.ts";
import type { Status, Validation } from "./status.ts";

export type MissingPart = "task_report" | "downstream_context" | "status" | FileKey;

export interface HandoffCheck {
  valid: boolean;
  missing: MissingPart[];
  has_task_report: boolean;
  has_downstream_context: boolean;
  status: Status | null;
  files_created: string[];
  files_modified: string[];
  files_deleted: string[];
  downstream_context: DownstreamContext;
  tokens: Tokens | null;
  parse_error: ParseError | null;
  error_type: ErrorType | null;
}

export interface HandoffOptions {
  /** Detected when absent. */
  readonly format?: HandoffFormat | undefined;
  /** False when no phase depends on this one: then it needs no Downstream Context. */
  readonly dependents?: boolean | undefined;
}

/** The handoff: its verdict, and what a session records with it. */
export interface Handoff {
  check: HandoffCheck;
  summary: string;
  validation: Validation | undefined;
  /** What the agent wrote about its validation; empty if nothing. */
  validationText: string;
  /** The two sections as the agent wrote them; empty without a Task Report. */
  report: string;
  /** All that the agent said; its raw output when that cannot be parsed. */
  words: string;
}

export function checkHandoff(source: string | Uint8Array, options: HandoffOptions = {}): HandoffCheck {
  return readHandoff(source, options).check;
}

export function readHandoff(source: string | Uint8Array, options: HandoffOptions = {}): Handoff {
  const output = decode(source);
  const answer = readAnswer(output, options.format ?? formatOf(output));
  const { report, errorType } = readText(answer.text);
  const missing = missingParts(report, options.dependents !== false);
  const failed = answer.errorType ?? errorType;
  const error_type = failed === null ? null : recordedType(failed);
  const check: HandoffCheck = {
    valid: missing.length === 0 && answer.parseError === null && error_type === null,
    missing,
    has_task_report: report.found,
    has_downstream_context: report.context !== null,
    status: report.status,
    files_created: report.files.files_created ?? [],
    files_modified: report.files.files_modified ?? [],
    files_deleted: report.files.files_deleted ?? [],
    downstream_context: report.context ?? emptyContext(),
    tokens: answer.tokens,
    parse_error: answer.parseError,
    error_type,
  };
  const words = answer.text || output;
  return {
    check,
    summary: report.summary,
    validation: report.validation,
    validationText: report.validationText,
    report: report.text,
    words,
  };
}

function missingParts(report: TaskReport, dependents: boolean): MissingPart[] {
  const missing: MissingPart[] = [];
  if (!report.found) missing.push("task_report");
  if (report.context === null && dependents) missing.push("downstream_context");
  if (report.status === null) missing.push("status");
  return [...missing, ...fileKeys.filter((key) => report.files[key] === null)];
}

function decode(source: string | Uint8Array): string {
  const text = typeof source === "string" ? source : new TextDecoder().decode(source);
  return text.replace(/^\uFEFF/, "");
}

function readAnswer(output: string, format: HandoffFormat): AgentAnswer {
  if (format === "gemini-json") return readGeminiJson(output);
  if (format === "stream-json") return readStreamJson(output);
  if (stripControls(output).trim() === "") return unreadable("empty_output");
  return { text: output, tokens: null, parseError: null, errorType: null };
}

/** A report outside JSON lines makes the output text, because agents print JSON too. */
function formatOf(output: string): HandoffFormat {
  const isStream = isStreamJson(output);
  if (!isStream && !isGeminiJson(findGeminiJson(output))) return "text";
  const prose = output.replace(/^[ \t]*["{}[\]].*$/gm, "");
  if (readText(prose).report.found) return "text";
  return isStream ? "stream-json" : "gemini-json";
}

function readText(text: string): { report: TaskReport; errorType: ErrorClass | null } {
  const { text: result, errorType } = unwrapSubagent(stripControls(text));
  const report = readReport(result.replace(/^\uFEFF/, ""));
  // A subagent that did not reach its goal has not succeeded, whatever its report says.
  const status = errorType !== null && report.status === "success" ? "partial" : report.status;
  return { report: { ...report, status }, errorType };
}
