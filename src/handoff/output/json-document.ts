// Finds the JSON object that a program printed between other lines. Linear: failed parses are paid from a fixed budget.

import { isObject } from "../../shape.ts";
import { parseJson } from "./json.ts";

export interface Found {
  /** The last object with the best wanted key that any object has; otherwise the last object. */
  readonly document: Record<string, unknown> | null;
  /** The beginning of the first object that is never closed. */
  readonly truncated: string | null;
}

export function findDocument(text: string, wanted: readonly string[]): Found {
  let document: Record<string, unknown> | null = null;
  let rank = wanted.length;
  let truncated: string | null = null;
  let budget = 16 * text.length + 1_000_000;

  let at = text.startsWith("{") ? 0 : lineStart(text, 0);
  while (at >= 0 && budget > 0) {
    const { end, closed } = extentOf(text, at);
    const value = closed ? parseJson(text.slice(at, end)) : undefined;
    if (isObject(value)) {
      const found = wanted.findIndex((key) => Object.hasOwn(value, key));
      const valueRank = found < 0 ? wanted.length : found;
      if (valueRank <= rank) {
        document = value;
        rank = valueRank;
      }
      at = adjacentStart(text, end) ?? lineStart(text, end);
      continue;
    }
    if (!closed && end > at) truncated ??= text.slice(at, at + 4096);
    budget -= end - at + 1000;
    at = lineStart(text, at + 1);
  }
  return { document, truncated };
}

/** The next line that begins with a brace, or -1. */
function lineStart(text: string, from: number): number {
  return text.indexOf("\n{", from) + 1 || -1;
}

const brace = /\s*\{/y;

function adjacentStart(text: string, from: number): number | null {
  brace.lastIndex = from;
  return brace.test(text) ? brace.lastIndex - 1 : null;
}

const opening = /\{\s*(?:["}]|$)/y;

/** How far the object at `at` extends. It is not closed when the text, or a line inside a string, ends first. */
function extentOf(text: string, at: number): { end: number; closed: boolean } {
  opening.lastIndex = at;
  if (!opening.test(text)) return { end: at, closed: false };

  let depth = 0;
  let inString = false;
  for (let i = at; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
      else if (char === 0x0a) return { end: i, closed: false };
      continue;
    }
    if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) depth += 1;
    else if (char === 0x7d || char === 0x5d) depth -= 1;
    if (depth === 0) return { end: i + 1, closed: true };
  }
  return { end: text.length, closed: false };
}
