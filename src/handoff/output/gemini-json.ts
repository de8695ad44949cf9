// Reads the output of `gemini --output-format json`: one object, possibly with log lines around it or truncated.
import { stripControls } from "../../text.ts";
import { type AgentAnswer, errorTypeOfMember, unreadable } from "./answer.ts";
import { parseJson } from "./json.ts";
import { type Found, findDocument } from "./json-document.ts";
import { tokensOf } from "./tokens.ts";

/** The keys that identify Gemini's object, the best first. */
const keys = ["response", "error", "session_id"];

export function readGeminiJson(output: string): AgentAnswer {
  const text = output.trim();
  if (text === "") return unreadable("empty_output");
  const { document, truncated } = findGeminiJson(text);
  if (document === null) {
    if (truncated !== null) return unreadable("truncated_json");
    return unreadable(parseJson(text) === undefined ? "not_json" : "no_response");
  }
  const { response, error, stats } = document;
  const errorType = errorTypeOfMember(error);
  const tokens = tokensOf(stats);
  if (typeof response !== "string") {
    // A log line may be an object too; then the truncated object is the answer.
    if (response === undefined && errorType === null && truncated !== null) return unreadable("truncated_json");
    return { ...unreadable("no_response", errorType), tokens };
  }
  if (response.trim() === "") return { ...unreadable("empty_response", errorType), tokens };
  return { text: response, tokens, parseError: null, errorType };
}

export function findGeminiJson(text: string): Found {
  const found = findDocument(text, keys);
  // Colour codes and carriage returns may hide where a line begins.
  return found.document === null && found.truncated === null ? findDocument(stripControls(text), keys) : found;
}

/** Whether the object found, or its truncated beginning, can be Gemini's. */
export function isGeminiJson({ document, truncated }: Found): boolean {
  if (document !== null) return keys.some((key) => Object.hasOwn(document, key));
  return truncated !== null && keys.some((key) => truncated.includes(`"${key}"`));
}
