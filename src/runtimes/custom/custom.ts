// A runtime that a file describes: command line, variables, and the meaning of what its program prints. Every form of output becomes events
// of the same stream, so that one reader judges them all.

import { parseJson } from "../../handoff/output/json.ts";
import { isObject } from "../../shape.ts";
import {
  countOf,
  type EventTable,
  type Said,
  type StreamFacts,
  streamJudge,
  streamProgress,
  streamShown,
  wordsOf,
} from "../event-stream.ts";
import { compose, lastWords } from "../judgement.ts";
import { quotaSign, retryHint } from "../quota.ts";
import type { AttemptSpec, Ending, Outcome, Runtime } from "../runtime.ts";
import { type Description, type EventRule, type Output, type TokenRule, tiersOf } from "./description.ts";

/** The prompt is always standard input, which is a file: a program that wants a path gets the one of its own input. */
const PROMPT_FILE = "/dev/stdin";

/** `program`: the described one, with a path relative to its file made absolute. */
export function customRuntime(description: Description, program: string): Runtime {
  const { name, credentials = [], environment = {}, output } = description;
  const { install = "See its documentation.", sign_in: signIn = "" } = description;
  const facts: StreamFacts = { label: name, events: tableOf(output), signIn, ...typeOf(output) };
  return {
    name,
    program,
    callsModel: true,
    install,
    unattended: "",
    argv: (spec) => argv(description, spec),
    payload: (prompt) => prompt,
    environment,
    vendor: new RegExp(`^(?:${credentials.join("|") || "(?!)"})$`),
    credentials,
    home: [],
    envFiles: [],
    pinned: [],
    distrust: {},
    capabilities: {
      tiers: tiersOf(description),
      heldBy: description.held_by ?? "the arguments of its file",
      turnLimit: null,
      budget: null,
      streams: output.form === "json-lines" ? "as its file says" : "nothing",
      tokens: tellsTokens(output) ? "as its file says" : "none",
      atOnce: description.at_once ?? null,
      limits: description.limits ?? [],
    },
    judge: (ending) => judged(description, facts, ending),
    ...readers(output, facts),
    quotaSign,
  };
}

function argv({ args, model_args: modelArgs = [], tiers }: Description, spec: AttemptSpec): string[] {
  const { agent, tier, model, extraArgs } = spec;
  const fill = (word: string) =>
    word.replace(/\{(prompt|agent|tier)\}/g, (_, what) => ({ prompt: PROMPT_FILE, agent, tier })[what as "agent"]);
  return [
    ...args.map(fill),
    ...(model === null ? [] : modelArgs.map((word) => word.replaceAll("{model}", () => model))),
    // A tier that it does not hold is played only in a sandbox or with the user's permission, as its full one.
    ...(tiers[tier] ?? tiers.full ?? []),
    ...extraArgs,
  ];
}

/** The types of the events that a whole document and plain text become. */
const DOCUMENT = "document";
const TEXT = "text";

function tableOf(output: Output): EventTable {
  if (output.form === "json-lines") {
    const rules = Object.entries(output.events);
    return Object.fromEntries(rules.map(([type, rule]) => [type, (event: object) => saidBy(rule, event)]));
  }
  if (output.form === "json") {
    const { form: _, ...rule } = output;
    return { [DOCUMENT]: ({ document }) => saidBy({ ...rule, end: true }, document) };
  }
  return {
    [TEXT]: ({ text }) => [
      { kind: "text", text: wordsOf(text) },
      { kind: "end", isGood: true },
    ],
  };
}

function typeOf(output: Output): Pick<StreamFacts, "typeOf"> {
  const at = output.form === "json-lines" ? output.type : undefined;
  return at === undefined ? {} : { typeOf: (event) => pointed(event, at) };
}

function tellsTokens(output: Output): boolean {
  if (output.form === "json-lines") return Object.values(output.events).some(({ tokens }) => tokens !== undefined);
  return output.form === "json" && output.tokens !== undefined;
}

/** What one event says by the rule of its type. An event that ends the stream ends it badly when it has an error. */
function saidBy(rule: EventRule, event: unknown): Said[] {
  const at = (pointer: string | undefined) => (pointer === undefined ? undefined : pointed(event, pointer));
  const [text, error, failed] = [at(rule.text), at(rule.error), at(rule.failed)].map(asText);
  const said: Said[] = [];
  if (rule.tool !== undefined) said.push({ kind: "call", tool: asText(at(rule.tool)), input: at(rule.input) });
  if (failed) said.push({ kind: "failed", message: failed });
  if (error) said.push({ kind: "problem", message: error });
  if (rule.tokens !== undefined) said.push(usageBy(rule.tokens, event));
  if (rule.end !== true) return text ? [...said, { kind: "text", text }] : said;
  return [...said, { kind: "end", isGood: !error, ...(text ? { text } : {}) }];
}

function usageBy(rule: TokenRule, event: unknown): Said {
  const count = (pointer: string | undefined) => (pointer === undefined ? 0 : countOf(pointed(event, pointer)));
  const cached = count(rule.cached);
  const thoughts = count(rule.thoughts);
  const input = count(rule.input) + (rule.input_excludes_cached === true ? cached : 0);
  const model = rule.model === undefined ? "" : wordsOf(pointed(event, rule.model));
  return {
    kind: "usage",
    usage: [{ model: model.slice(0, 200) || null, input, cached, output: count(rule.output), thoughts }],
  };
}

/** Text as it is; an object or a list as JSON, so that no error goes unseen. */
function asText(value: unknown): string {
  if (value === undefined || value === null || value === false) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value at a JSON pointer; undefined when there is none. */
function pointed(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = /^(?:0|[1-9]\d{0,8})$/.test(key) ? found[Number(key)] : undefined;
    else if (isObject(found) && Object.hasOwn(found, key)) found = found[key];
    else return undefined;
  }
  return found;
}

function judged({ output, exit_codes: codes }: Description, facts: StreamFacts, ending: Ending): Outcome {
  const outcome = streamJudge(facts)(ending.killed === null ? asStream(output, ending) : ending);
  if (outcome.kind !== "failure" || ending.exitCode === null) return outcome;
  if (codes?.quota?.includes(ending.exitCode)) {
    const hint = retryHint(`${outcome.message}\n${ending.stderr}`);
    return {
      ...outcome,
      kind: "quota",
      reason: "quota",
      errorType: "quota",
      ...(hint === null ? {} : { retryAfterMs: hint }),
    };
  }
  if (!codes?.auth?.includes(ending.exitCode)) return outcome;
  const message = compose(`${facts.label} could not sign in`, lastWords(ending), facts.signIn);
  return { ...outcome, reason: "auth", errorType: "auth", message };
}

function asStream({ form }: Output, ending: Ending): Ending {
  const { exitCode, killed, stdout } = ending;
  const wrapped = form === "json-lines" ? stdout : form === "json" ? documentIn(stdout) : textIn(stdout);
  return { exitCode, killed, stdout: wrapped, stderr: ending.stderr };
}

/** A program may print lines of its own before the document. */
function documentIn(stdout: string): string {
  const start = /^\s*\{/m.exec(stdout)?.index;
  const document = start === undefined ? undefined : parseJson(stdout.slice(start).trim());
  return document === undefined ? stdout : `${JSON.stringify({ type: DOCUMENT, document })}\n`;
}

function textIn(text: string): string {
  return text.trim() === "" ? "" : `${JSON.stringify({ type: TEXT, text })}\n`;
}

/** A document says nothing before its end; plain text is what it is. */
function readers({ form }: Output, facts: StreamFacts): Pick<Runtime, "progress" | "shown"> {
  if (form === "json-lines") return { progress: streamProgress(facts), shown: streamShown(facts) };
  if (form === "json") return { progress: (known) => known, shown: () => null };
  const progress = streamProgress(facts);
  return {
    progress: (known, lines) => progress(known, textIn(lines)),
    shown: (lines) => ({ text: lines, isMidLine: lines !== "" && !lines.endsWith("\n") }),
  };
}
