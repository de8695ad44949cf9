// Brace expansion of raw shell text, `{a,b}` and `{1..3}`. Bounded: an expansion that grows too large is a fault.

import { FILLED } from "./shape.ts";

const MAX_WORDS = 1024;
const MAX_LETTERS = 1_000_000;
const MAX_DEPTH = 64;
const MAX_RANGE = 64;

export type Braces = { words: string[] } | { fault: "too-large" | "too-deep" };

/** The words that the text expands to; one when there is nothing to expand. */
export function expandBraces(text: string): Braces {
  const groups = findGroups(text);
  if (groups.size === 0) return { words: [text] };
  return expand(text, 0, text.length, groups, 0);
}

interface Group {
  close: number;
  commas: number[];
}

function expand(text: string, start: number, end: number, groups: Map<number, Group>, depth: number): Braces {
  if (depth > MAX_DEPTH) return { fault: "too-deep" };
  let words = [""];
  let literal = start;
  for (let at = start; at < end; at++) {
    const group = groups.get(at);
    if (group === undefined) continue;
    const choices = choicesOf(text, at, group, groups, depth);
    if ("fault" in choices) return choices;
    const count = words.length * choices.words.length;
    if (count > MAX_WORDS || count * (end - start) > MAX_LETTERS) return { fault: "too-large" };
    const before = text.slice(literal, at);
    words = words.flatMap((word) => choices.words.map((choice) => word + before + choice));
    literal = group.close + 1;
    at = group.close;
  }
  const rest = text.slice(literal, end);
  return { words: words.map((word) => word + rest) };
}

function choicesOf(text: string, open: number, group: Group, groups: Map<number, Group>, depth: number): Braces {
  if (group.commas.length === 0) {
    const range = rangeOf(text.slice(open + 1, group.close));
    if (range !== undefined) return { words: range };
    const inner = expand(text, open + 1, group.close, groups, depth + 1);
    return "fault" in inner ? inner : { words: inner.words.map((word) => `{${word}}`) };
  }
  const words: string[] = [];
  const bounds = [open, ...group.commas, group.close];
  for (let i = 1; i < bounds.length; i++) {
    const choice = expand(text, (bounds[i - 1] as number) + 1, bounds[i] as number, groups, depth + 1);
    if ("fault" in choice) return choice;
    words.push(...choice.words);
    if (words.length > MAX_WORDS) return { fault: "too-large" };
  }
  return { words };
}

function rangeOf(text: string): string[] | undefined {
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?$/.exec(text);
  const letters = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(text);
  const found = numbers ?? letters;
  if (found === null) return undefined;
  const value = (bound: string | undefined) => (numbers === null ? (bound ?? "").charCodeAt(0) : Number(bound));
  const from = value(found[1]);
  const to = value(found[2]);
  const step = Math.abs(Number(found[3] ?? 1)) || 1;
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  const word = (at: number) => (numbers === null ? String.fromCharCode(at) : String(at));
  const words = Array.from({ length: Math.min(count, MAX_RANGE) }, (_, i) => word(from + (to < from ? -i : i) * step));
  return count > MAX_RANGE ? [...words, FILLED] : words;
}

/** Pairs of braces outside quotes and expansions, each with its commas. An unpaired brace is an ordinary character. */
function findGroups(text: string): Map<number, Group> {
  const groups = new Map<number, Group>();
  const open: { at: number; commas: number[] }[] = [];
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === "{") open.push({ at, commas: [] });
    else if (letter === ",") open.at(-1)?.commas.push(at);
    else if (letter === "}") {
      const group = open.pop();
      if (group !== undefined) groups.set(group.at, { close: at, commas: group.commas });
    } else at = endOfQuoted(text, at);
  }
  return groups;
}

/** The last index of the quoted or expanded text at `at`; `at` itself when there is none. */
function endOfQuoted(text: string, at: number): number {
  const letter = text[at];
  if (letter === "\\") return at + 1;
  if (letter === "'" || letter === '"' || letter === "`") return endOf(text, at + 1, letter, letter !== "'");
  if (letter !== "$") return at;
  const next = text[at + 1];
  if (next === "'") return endOf(text, at + 2, "'", true);
  if (next === "{") return endOfNested(text, at + 1, "{", "}");
  return next === "(" ? endOfNested(text, at + 1, "(", ")") : at;
}

function endOf(text: string, start: number, quote: string, hasEscapes: boolean): number {
  for (let at = start; at < text.length; at++) {
    if (hasEscapes && text[at] === "\\") at++;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

function endOfNested(text: string, start: number, open: string, close: string): number {
  let level = 0;
  for (let at = start; at < text.length; at++) {
    const letter = text[at];
    if (letter === "\\") at++;
    else if (letter === "'") at = endOf(text, at + 1, "'", false);
    else if (letter === open) level++;
    else if (letter === close && --level === 0) return at;
  }
  return text.length;
}
