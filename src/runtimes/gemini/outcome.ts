// Turns the end of a Gemini CLI attempt into its Outcome. Success is exit 0, a readable response, and no kill: the CLI also exits with 0
// when it is terminated. Must never throw, whatever was printed.

import type { ParseError } from "../../handoff/output/answer.ts";
import { findGeminiJson, readGeminiJson } from "../../handoff/output/gemini-json.ts";
import { foldStream, isStreamJson } from "../../handoff/output/stream-json.ts";
import { tokensByModel } from "../../handoff/output/tokens.ts";
import { isObject } from "../../shape.ts";
import { stripControls } from "../../text.ts";
import { compose, lastWords, quotaJudgement, type Shortcoming, stoppedBy, TAIL } from "../judgement.ts";
import { quotaSign, tellsOfQuota } from "../quota.ts";
import type { Ending, Outcome } from "../runtime.ts";
import { type ErrorDocument, errorIn, errorOnStderr } from "./error-document.ts";
import { meaningOf } from "./exit-meaning.ts";

export function judgeGemini(ending: Ending): Outcome {
  const { answer, problem, document } = readOutput(ending.stdout);
  const text = stripControls(answer);
  const printed = errorIn(document);
  const stopped = stoppedBy(ending);
  const isAnswered = problem === null && text.trim() !== "";
  const reported = tokensByModel(document.stats);
  if (stopped === null && ending.exitCode === 0 && isAnswered && printed === null) {
    return { kind: "success", text, usage: reported };
  }
  const error = printed ?? errorOnStderr(ending.stderr);
  const usage = reported ?? tokensByModel(error?.stats);
  if (stopped !== null) return { ...stopped, text, usage };
  if (isQuota(ending, error)) return { ...quota(ending, error), text, usage };
  if (ending.exitCode !== 0) return { ...failed(ending, error), text, usage };

  const reason = isAnswered ? "incomplete_response" : (problem ?? "empty_response");
  return { ...noAnswer(reason, ending, detailOf(ending, error) || warningsIn(document)), text, usage };
}

interface Output {
  answer: string;
  /** Why there is no answer, by the codes of the handoff reader. */
  problem: ParseError | null;
  /** The object of `--output-format json`. */
  document: Record<string, unknown>;
}

/** An attempt prints a stream; `dispatch`, and attempts of older versions, print one object. */
function readOutput(stdout: string): Output {
  if (isStreamJson(stdout)) return readEvents(stdout);
  const { text, parseError } = readGeminiJson(stdout);
  return { answer: text, problem: parseError, document: findGeminiJson(stdout.trim()).document ?? {} };
}

function readEvents(stdout: string): Output {
  const { response, result, warnings } = foldStream(stdout);
  const answer = response ?? "";
  if (result === null) return { answer, problem: "no_result_event", document: { warnings } };
  const isFailed = result.status === "error";
  const error = result.error ?? (isFailed ? { type: "INVALID_STREAM", message: warnings.at(-1) ?? "" } : null);
  return { answer, problem: null, document: { error, warnings, stats: knownStats(result.stats) } };
}

/** The CLI counts 0 when a request was rejected, and when a hook hid the usage: nothing is known then. */
function knownStats(stats: unknown): unknown {
  return isObject(stats) && stats.total_tokens === 0 ? undefined : stats;
}

const QUOTA_EXIT = 429 & 255;

function isQuota({ exitCode, stderr }: Ending, error: ErrorDocument | null): boolean {
  if (exitCode === QUOTA_EXIT || error?.status === 429) return true;
  if (error !== null) return tellsOfQuota(`${error.message}\n${error.raw}`);
  return exitCode === 1 && quotaSign(stderr.slice(-TAIL)) !== null;
}

function quota(ending: Ending, error: ErrorDocument | null): Shortcoming {
  return quotaJudgement(ending, error?.raw ?? "", detailOf(ending, error));
}

function failed(ending: Ending, error: ErrorDocument | null): Shortcoming {
  const { reason, errorType, what, advice } = meaningOf(ending.exitCode ?? 0, error, ending.stderr);
  const message = compose(`${what} (exit code ${ending.exitCode})`, detailOf(ending, error), advice);
  return { kind: "failure", reason, errorType, message };
}

/** Exit 0 without an answer, by the codes of the handoff reader. */
const shortcomings: Record<string, string> = {
  empty_output: "Gemini CLI ended without a result, as it does when it is terminated from outside",
  no_result_event: "Gemini CLI ended without a result, as it does when it is terminated from outside",
  not_json: "Gemini CLI printed something other than its JSON",
  truncated_json: "The answer of Gemini CLI is truncated",
  no_response: "The answer of Gemini CLI has no response",
  empty_response: "The model gave an empty response",
  incomplete_response: "The model's response came with an error",
};

function noAnswer(problem: string, { stdout }: Ending, detail: string): Shortcoming {
  const shown = detail || (problem === "not_json" ? stripControls(stdout).trim().slice(0, 500) : "");
  return {
    kind: "failure",
    reason: problem === "empty_output" || problem === "no_result_event" ? "no_result" : problem,
    errorType: "runtime",
    message: compose(shortcomings[problem] ?? "Gemini CLI gave no answer", shown),
  };
}

/** The best available detail: the error itself, otherwise the end of stderr. */
function detailOf(ending: Ending, error: ErrorDocument | null): string {
  return error?.message || lastWords(ending);
}

/** The CLI reports blocking hooks and interrupted loops as warnings. */
function warningsIn(document: Record<string, unknown>): string {
  const { warnings } = document;
  if (!Array.isArray(warnings)) return "";
  return stripControls(warnings.filter((one) => typeof one === "string").join("; ")).trim();
}
