// Reads the output of `gemini --output-format stream-json`: one event per line; the last must be `result`.
import { type AgentAnswer, errorTypeOfMember, unreadable } from "./answer.ts";
import { isObject, parseJson } from "./json.ts";
import { tokensOf } from "./tokens.ts";

type Event = Record<string, unknown>;

const eventTypes = new Set<unknown>(["init", "message", "tool_use", "tool_result", "error", "result"]);

/** Lines that are not events are ignored as noise. */
export function readStreamJson(output: string): AgentAnswer {
  const text = output.trim();
  if (text === "") return unreadable("empty_output");
  let chunks: string[] | null = null;
  let isOpen = false;
  let lastError: Event | null = null;
  let result: Event | null = null;

  for (const event of eventsOf(text)) {
    const { type, role, content, delta } = event;
    if (type === "init") {
      // Another run starts, so the text before it is not its answer.
      chunks = null;
      lastError = null;
      result = null;
    }
    if (type === "error") lastError = event;
    if (type === "result") result = event;
    const isAnswer = type === "message" && (role === "assistant" || role === "model") && typeof content === "string";
    if (isAnswer) {
      chunks ??= [];
      // Consecutive chunks belong to one message; any event between two of them starts a new message.
      if (chunks.length > 0 && !(isOpen && delta === true)) chunks.push("\n");
      chunks.push(content);
    }
    isOpen = isAnswer && delta === true;
  }

  const answer = chunks?.join("") ?? "";
  if (result === null) {
    const isJson = /^\{/m.test(text) || parseJson(text) !== undefined;
    return { ...unreadable(isJson ? "no_result_event" : "not_json", errorTypeOfMember(lastError)), text: answer };
  }
  const failed = result.status === "error" || (result.error !== undefined && result.error !== null);
  const errorType = failed ? errorTypeOfMember(result.error ?? lastError ?? {}) : null;
  const tokens = tokensOf(result.stats);
  if (answer.trim() !== "") return { text: answer, tokens, parseError: null, errorType };
  return { ...unreadable(chunks === null ? "no_response" : "empty_response", errorType), tokens };
}

/** Whether a line is an event, or starts like one. */
export function isStreamJson(text: string): boolean {
  const beginning = /^\{\s*"type"\s*:\s*"(?:init|message|tool_use|tool_result|error|result)"/m;
  return beginning.test(text) || eventsOf(text).next().done !== true;
}

/** A few broken lines are noise; parsing stops at thousands, because each one costs an exception. */
const brokenLimit = 10_000;

function* eventsOf(text: string): Generator<Event> {
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
