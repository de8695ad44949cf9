// Reads the output of `gemini --output-format stream-json`: one event per line; the last must be `result`.

import { isObject } from "../../shape.ts";
import { type AgentAnswer, errorTypeOfMember, unreadable } from "./answer.ts";
import { parseJson } from "./json.ts";
import { tokensOf } from "./tokens.ts";

export type StreamEvent = Record<string, unknown>;

const eventTypes = new Set<unknown>(["init", "message", "tool_use", "tool_result", "error", "result"]);

/** What a stream says, in the terms of the object that `--output-format json` prints. */
export interface Streamed {
  /** The text of the last turn, which is all that `response` of the object has; null without any. */
  response: string | null;
  /** The `result` event; null when the stream ends without one. */
  result: StreamEvent | null;
  /** The messages of its error events. */
  warnings: string[];
}

/** Lines that are not events are ignored as noise. */
export function foldStream(text: string): Streamed {
  let chunks: string[] | null = null;
  let isOpen = false;
  let isOver = false;
  let warnings: string[] = [];
  let result: StreamEvent | null = null;

  for (const event of streamEvents(text)) {
    const { type, content, delta } = event;
    if (type === "init") {
      // Another run starts, so the text before it is not its answer.
      chunks = null;
      warnings = [];
      result = null;
    }
    if (type === "error" && typeof event.message === "string") warnings.push(event.message);
    if (type === "result") result = event;
    if (endsTurn(event)) isOver = true;
    const isAnswer = isSaid(event);
    if (isAnswer) {
      if (isOver) chunks = null;
      isOver = false;
      chunks ??= [];
      // Consecutive chunks belong to one message; any event between two of them starts a new message.
      if (chunks.length > 0 && !(isOpen && delta === true)) chunks.push("\n");
      chunks.push(String(content));
    }
    isOpen = isAnswer && delta === true;
  }
  return { response: isOver ? null : (chunks?.join("") ?? null), result, warnings };
}

/** Whether an event is text of the agent. The prompt comes back as a message of the user. */
export function isSaid({ type, role, content }: StreamEvent): boolean {
  return type === "message" && (role === "assistant" || role === "model") && typeof content === "string";
}

/** The results of tools end a turn of the model, unless a hook stops the agent with one. */
function endsTurn({ type, error }: StreamEvent): boolean {
  return type === "tool_result" && !(isObject(error) && error.type === "stop_execution");
}

export function readStreamJson(output: string): AgentAnswer {
  const text = output.trim();
  if (text === "") return unreadable("empty_output");
  const { response, result, warnings } = foldStream(text);
  const lastError = warnings.length === 0 ? null : { message: warnings.at(-1) };
  const answer = response ?? "";
  if (result === null) {
    const isJson = /^\{/m.test(text) || parseJson(text) !== undefined;
    return { ...unreadable(isJson ? "no_result_event" : "not_json", errorTypeOfMember(lastError)), text: answer };
  }
  const failed = result.status === "error" || (result.error !== undefined && result.error !== null);
  const errorType = failed ? errorTypeOfMember(result.error ?? lastError ?? {}) : null;
  const tokens = tokensOf(result.stats);
  if (answer.trim() !== "") return { text: answer, tokens, parseError: null, errorType };
  return { ...unreadable(response === null ? "no_response" : "empty_response", errorType), tokens };
}

/** Whether a line is an event, or starts like one. */
export function isStreamJson(text: string): boolean {
  const beginning = /^\{\s*"type"\s*:\s*"(?:init|message|tool_use|tool_result|error|result)"/m;
  return beginning.test(text) || streamEvents(text).next().done !== true;
}

/** A few broken lines are noise; parsing stops at thousands, because each one costs an exception. */
const brokenLimit = 10_000;

/** The events in whole lines; anything else between them is noise. */
export function* streamEvents(text: string): Generator<StreamEvent> {
  let broken = 0;
  let next = 0;
  for (let start = 0; start < text.length && broken < brokenLimit; start = next) {
    const newline = text.indexOf("\n", start);
    next = newline < 0 ? text.length : newline + 1;
    const line = text.slice(start, next).trim();
    if (!line.startsWith("{") || !line.endsWith("}") || !line.includes('"type"')) continue;
    const event = parseJson(line);
    if (event === undefined) broken += 1;
    if (isObject(event) && eventTypes.has(event.type)) yield event;
  }
}
