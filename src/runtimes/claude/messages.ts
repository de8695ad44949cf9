// The parts of a message, as Claude Code prints them in its stream, and Qwen Code after it.

import { isObject } from "../../shape.ts";
import { member, type Said, wordsOf } from "../event-stream.ts";

type Json = Record<string, unknown>;

export function messageParts(event: Json): Json[] {
  const content = member(event, "message", "content");
  return Array.isArray(content) ? content.filter(isObject) : [];
}

export function saidByModel(part: Json): Said[] {
  if (part.type === "text") return [{ kind: "text", text: wordsOf(part.text) }];
  return part.type === "tool_use" ? [{ kind: "call", tool: wordsOf(part.name), input: part.input }] : [];
}

export function saidByTool({ type, is_error, content }: Json): Said[] {
  return type === "tool_result" && is_error === true ? [{ kind: "failed", message: wordsOf(content) }] : [];
}
