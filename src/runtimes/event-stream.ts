// Reads the event stream of any agent program (one JSON object per line) by a table of its event types, and turns it into activity, text for
// people, tokens and the Outcome. A runtime only describes its events. Must never throw, whatever was printed.

import { parseJson } from "../handoff/output/json.ts";
import { isObject } from "../shape.ts";
import { stripControls } from "../text.ts";
import { briefly, callLine, endOfWords, lastLine } from "./activity.ts";
import { compose, lastWords, quotaJudgement, type Shortcoming, stoppedBy, TAIL } from "./judgement.ts";
import { quotaSign, tellsOfQuota } from "./quota.ts";
import type { Ending, Outcome, Progress, Shown } from "./runtime.ts";

type Json = Record<string, unknown>;
type Counted = NonNullable<Outcome["usage"]>[number];

/** What one event says. */
export type Said =
  | { kind: "text"; text: string }
  | { kind: "call"; tool: string; input: unknown }
  /** A tool call failed or was denied; the agent continues. */
  | { kind: "failed"; message: string }
  /** An error that decides the outcome unless the stream ends well after it. `isFinal`: it decides even then. */
  | { kind: "problem"; message: string; isFinal?: true }
  /** All that was spent so far: replaces what was known. */
  | { kind: "usage"; usage: Counted[] }
  /** What one step spent. `isWhole`: a summary that replaces the steps since the last summary, of which some may not have been read. */
  | { kind: "spent"; usage: Counted[]; isWhole?: true }
  /** The terminal event. `text`: the answer, when the event repeats it. */
  | { kind: "end"; isGood: boolean; text?: string };

/** By the value of `type`. */
export type EventTable = Readonly<Record<string, (event: Json) => readonly Said[]>>;

export interface StreamFacts {
  /** The program's name in messages: "Claude Code". */
  label: string;
  events: EventTable;
  /** Where an event has its type, when that is not `type`. */
  typeOf?: (event: Json) => unknown;
  /** What a message means beyond the signs that all programs share. */
  meanings?: readonly { sign: RegExp; reason: string; what: string; advice?: string }[];
  /** How to sign in. */
  signIn: string;
}

/** Each line that is not JSON costs an exception. */
const BROKEN_LIMIT = 10_000;

function* saidIn({ events: table, typeOf }: StreamFacts, lines: string): Generator<Said | null> {
  let broken = 0;
  for (const line of lines.split("\n")) {
    const text = line.trim();
    if (broken > BROKEN_LIMIT) return;
    if (!text.startsWith("{") || !text.endsWith("}")) continue;
    const event = parseJson(text);
    if (event === undefined) broken += 1;
    if (!isObject(event)) continue;
    const type = typeOf === undefined ? event.type : typeOf(event);
    if (typeof type !== "string" || !Object.hasOwn(table, type)) continue;
    // Tells that the line is an event, even if it says nothing.
    yield null;
    yield* table[type]?.(event) ?? [];
  }
}

/** Adds whole lines that the program has printed since to what is known. */
export function streamProgress(facts: StreamFacts): (known: Progress, lines: string) => Progress {
  return (before, lines) => {
    let known = before;
    for (const said of saidIn(facts, lines)) known = said === null ? known : after(known, said);
    return known;
  };
}

function after(known: Progress, said: Said): Progress {
  if (said.kind === "text") {
    const text = endOfWords(`${known.text}${stripControls(said.text)}`);
    return { ...known, text, activity: lastLine(text) || known.activity };
  }
  if (said.kind === "call") return { ...known, text: "", activity: callLine(said.tool, said.input, telling) };
  if (said.kind === "problem") return { ...known, activity: `error: ${briefly(said.message)}` };
  if (said.kind === "usage") return { ...known, usage: said.usage };
  // A summary repeats the steps, which were counted.
  if (said.kind !== "spent" || said.isWhole) return known;
  return { ...known, usage: sumOf(known.usage ?? [], said.usage) };
}

/** Whole lines as a person reads them; null when no line is an event. */
export function streamShown(facts: StreamFacts): (lines: string, isMidLine: boolean) => Shown | null {
  return (lines, isMidLine) => {
    let isStream = false;
    let text = "";
    let isOpen = isMidLine;
    const line = (words: string) => {
      text += `${isOpen ? "\n" : ""}${words}\n`;
      isOpen = false;
    };
    for (const said of saidIn(facts, lines)) {
      isStream = true;
      if (said?.kind === "text") {
        const words = stripControls(said.text);
        text += words;
        if (words !== "") isOpen = !words.endsWith("\n");
      } else if (said?.kind === "call") line(`> ${callLine(said.tool, said.input, telling)}`);
      else if (said?.kind === "failed") line(`  failed: ${briefly(said.message)}`);
      else if (said?.kind === "problem") line(`error: ${briefly(said.message)}`);
    }
    return isStream ? { text, isMidLine: isOpen } : null;
  };
}

interface Folded {
  text: string;
  end: { isGood: boolean } | null;
  problems: string[];
  usage: Counted[] | null;
  isStream: boolean;
}

function fold(facts: StreamFacts, stdout: string): Folded {
  const folded: Folded = { text: "", end: null, problems: [], usage: null, isStream: false };
  let settled: Counted[] = [];
  let isLost = false;
  for (const said of saidIn(facts, stdout)) {
    folded.isStream = true;
    if (said?.kind === "text") folded.text += said.text;
    // What was said before a tool call is not the answer.
    if (said?.kind === "call") folded.text = "";
    if (said?.kind === "problem") {
      folded.problems.push(stripControls(said.message));
      isLost ||= said.isFinal === true;
    }
    if (said?.kind === "usage") folded.usage = said.usage;
    if (said?.kind === "spent") {
      folded.usage = sumOf(said.isWhole ? settled : (folded.usage ?? []), said.usage);
      if (said.isWhole) settled = folded.usage;
    }
    if (said?.kind === "end") {
      folded.end = { isGood: said.isGood && !isLost };
      if (said.text !== undefined) folded.text = said.text;
    }
  }
  return { ...folded, text: stripControls(folded.text) };
}

function sumOf(known: readonly Counted[], more: readonly Counted[]): Counted[] {
  const sums = new Map<string | null, Counted>();
  for (const one of [...known, ...more]) {
    const sum = sums.get(one.model) ?? { model: one.model, input: 0, cached: 0, output: 0, thoughts: 0 };
    const { input, cached, output, thoughts } = one;
    sums.set(one.model, {
      ...{ model: one.model, input: sum.input + input, cached: sum.cached + cached },
      ...{ output: sum.output + output, thoughts: sum.thoughts + thoughts },
    });
  }
  return [...sums.values()];
}

/** Success is a good terminal event, exit 0, an answer, and no kill: no program's exit code can be trusted alone. */
export function streamJudge(facts: StreamFacts): (ending: Ending) => Outcome {
  return (ending) => {
    const folded = fold(facts, ending.stdout);
    const { text, end } = folded;
    const usage = folded.usage;
    const stopped = stoppedBy(ending);
    if (stopped !== null) return { ...stopped, text, usage };
    if (end?.isGood && ending.exitCode === 0 && text.trim() !== "") return { kind: "success", text, usage };
    return { ...shortfall(facts, ending, folded), text, usage };
  };
}

function shortfall(facts: StreamFacts, ending: Ending, { text, end, problems, isStream }: Folded): Shortcoming {
  const problem = problems.at(-1) ?? "";
  // Before its first event a program may print a plain complaint on either stream.
  const complaint = problem || lastWords(ending) || (isStream ? "" : lastWords({ ...ending, stderr: ending.stdout }));
  // What the agent wrote is shown, and not judged: it may be about a login or a quota of the project.
  const detail = complaint || (end?.isGood === false ? text.trim() : "");
  const isQuota = problem === "" ? quotaSign(ending.stderr.slice(-TAIL)) !== null : isQuotaText(problem);
  if (isQuota) return quotaJudgement(ending, problem, detail);
  const { label } = facts;
  const fail = (reason: string, what: string, advice = "", errorType: "runtime" | "auth" = "runtime"): Shortcoming => ({
    kind: "failure",
    reason,
    errorType,
    message: compose(what, detail, advice),
  });
  if (ending.exitCode === 127) return fail("not_found", "The program was not found", "Check PATH.");
  if (ending.exitCode === 126) return fail("not_executable", "The program cannot be executed");
  if (authSigns.test(complaint)) return fail("auth", `${label} could not sign in`, facts.signIn, "auth");
  const known = facts.meanings?.find(({ sign }) => sign.test(complaint));
  if (known !== undefined) return fail(known.reason, known.what, known.advice);
  if (/\b5\d\d\b|overloaded|internal server error/i.test(problem)) {
    return fail("server_error", "The provider failed", "Try again later.");
  }
  if (ending.exitCode !== 0) return fail("error", `${label} failed (exit code ${ending.exitCode})`);
  if (end === null) {
    return isStream || ending.stdout.trim() === ""
      ? fail("no_result", `${label} ended without a result, as it does when it is terminated from outside`)
      : fail("not_json", `${label} printed something other than its events`);
  }
  return end.isGood ? fail("empty_response", "The model gave an empty response") : fail("error", `${label} failed`);
}

function isQuotaText(text: string): boolean {
  return tellsOfQuota(text) || /\b429\b|rate.?limit|usage limit|(?:insufficient|out of) (?:quota|credits?)/i.test(text);
}

const authSigns =
  /\b40[13]\b|unauthori[sz]ed|authenticat|invalid (?:x-)?api.?key|incorrect api key|not logged in|\/login\b|sign.?in required/i;

/** The arguments that say what a call is about, the best first. */
const telling = ["file_path", "filePath", "command", "path", "pattern", "query", "url", "prompt", "description"];

/** A member of an event, by its path; undefined when it is not there. */
export function member(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const key of path) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}

export function wordsOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A count of tokens; 0 for anything else. */
export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value < 1e12 ? value : 0;
}
