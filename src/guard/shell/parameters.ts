// Expands `$x`, `${x:-y}`, `${x%/}` and `"$@"`, as far as the values are known.

import type { ParameterExpansionPart, ParameterOperation, SimpleExpansionPart, Word } from "unbash";
import { canBe, FILLED, isKnown, isUnknown, UNKNOWN } from "./shape.ts";
import type { Shell } from "./shell.ts";

/** Longer texts and patterns are not processed: the result is unknown. */
const MAX_WORKED = 512;
const MAX_WORK = 4_000_000;

export interface Expansion {
  text: string;
  /** For `$@` and `${a[@]}`: one word per element. */
  list?: readonly string[];
}

export function expandParameter(
  part: SimpleExpansionPart | ParameterExpansionPart,
  shell: Shell,
  textOf: (word: Word) => string,
): Expansion {
  if (part.type === "SimpleExpansion") return lookUp(part.text.slice(1), undefined, shell);
  const { parameter, prefix, operation } = part;
  if (prefix === "#") return { text: FILLED };
  const index = part.index === undefined ? undefined : textOf(part.index);
  const direct = lookUp(parameter, index, shell);
  if (prefix === "!" && operation?.type === "Names") return { text: UNKNOWN };
  if (prefix === "!") return isKnown(direct.text) ? lookUp(direct.text, undefined, shell) : { text: UNKNOWN };
  return operation === undefined ? direct : operated(direct, operation, parameter, shell, textOf);
}

function lookUp(name: string, index: string | undefined, shell: Shell): Expansion {
  if (name === "@" || name === "*") return { text: shell.positional.join(" "), list: shell.positional };
  if (name === "0") return { text: shell.zero };
  if (/^\d+$/.test(name)) return { text: shell.positional[Number(name) - 1] ?? "" };
  if (/^[#?$!-]$/.test(name)) return { text: FILLED };
  if (index === undefined) return { text: shell.read(name) };
  const list = shell.readList(name);
  if (index === "@" || index === "*") return { text: list.join(" "), list };
  return { text: /^\d+$/.test(index) ? (list[Number(index)] ?? "") : UNKNOWN };
}

function operated(
  value: Expansion,
  operation: ParameterOperation,
  name: string,
  shell: Shell,
  textOf: (word: Word) => string,
): Expansion {
  const { text } = value;
  switch (operation.type) {
    case "Default":
      return { text: defaulted(text, operation.operator, () => textOf(operation.operand), name, shell) };
    case "Slice": {
      const from = integer(textOf(operation.offset));
      const length = operation.length === undefined ? Number.MAX_SAFE_INTEGER : integer(textOf(operation.length));
      if (value.list !== undefined) return slicedList([shell.zero, ...value.list], from, length, name);
      return { text: sliced(text, from, length) };
    }
    case "Remove":
      return { text: removed(text, operation.operator, textOf(operation.operand), shell) };
    case "Replace":
      return { text: replaced(text, operation.operator, textOf(operation.pattern), textOf(operation.replacement)) };
    case "CaseModification":
      return { text: cased(text, operation.operator) };
    case "Transform":
      return { text: isKnown(text) && !/[EPAK]/.test(textOf(operation.operand)) ? text : UNKNOWN };
    default:
      return { text: UNKNOWN };
  }
}

/** A variable that the command line does not set is most likely unset. */
function defaulted(text: string, operator: string, operand: () => string, name: string, shell: Shell): string {
  const isMissing = isUnknown(text) || (text === "" && (operator.startsWith(":") || !shell.isAssigned(name)));
  switch (operator.replace(":", "")) {
    case "-":
      return isMissing ? operand() : text;
    case "=": {
      if (!isMissing) return text;
      const given = operand();
      shell.assign(name, given);
      return given;
    }
    case "+":
      return text === "" ? "" : operand();
    default:
      return isMissing ? FILLED : text;
  }
}

function integer(text: string): number {
  return /^\s*-?\d{1,9}\s*$/.test(text) ? Number(text) : Number.NaN;
}

function slicedList(items: readonly string[], from: number, length: number, name: string): Expansion {
  // `${@:0}` starts with the name of the shell; an array has no such element.
  const all = name === "@" || name === "*" ? items : items.slice(1);
  if (Number.isNaN(from) || Number.isNaN(length)) return { text: UNKNOWN };
  const list = from < 0 ? all.slice(from).slice(0, length) : all.slice(from, from + length);
  return { text: list.join(" "), list };
}

function sliced(text: string, from: number, length: number): string {
  if (Number.isNaN(from) || Number.isNaN(length)) return UNKNOWN;
  const start = from < 0 ? Math.max(0, text.length + from) : from;
  const end = length < 0 ? text.length + length : Math.min(text.length, start + length);
  // Before the first hole, every character is at its known position.
  return isKnown(text.slice(0, end)) && (from >= 0 || isKnown(text)) ? text.slice(start, end) : UNKNOWN;
}

function removed(text: string, operator: string, pattern: string, shell: Shell): string {
  if (isUnknown(text) || text.length > MAX_WORKED || pattern.length > MAX_WORKED)
    return isUnknown(text) ? text : UNKNOWN;
  shell.shared.work += text.length * text.length * pattern.length;
  if (shell.shared.work > MAX_WORK) return UNKNOWN;
  const isPrefix = operator.startsWith("#");
  const cuts = Array.from({ length: text.length + 1 }, (_, i) => i);
  // From the shortest piece to the longest, or the reverse.
  if (operator.length === 2) cuts.reverse();
  for (const size of cuts) {
    const piece = isPrefix ? text.slice(0, size) : text.slice(text.length - size);
    if (canBe(pattern, piece)) return isPrefix ? text.slice(size) : text.slice(0, text.length - size);
  }
  return text;
}

function replaced(text: string, operator: string, pattern: string, replacement: string): string {
  if (
    isUnknown(text) ||
    text.length > MAX_WORKED ||
    !isKnown(pattern) ||
    pattern === "" ||
    replacement.length > MAX_WORKED
  ) {
    return UNKNOWN;
  }
  if (operator === "//") return text.replaceAll(pattern, () => replacement);
  if (operator === "/#") return text.startsWith(pattern) ? replacement + text.slice(pattern.length) : text;
  if (operator === "/%") return text.endsWith(pattern) ? text.slice(0, -pattern.length) + replacement : text;
  return text.replace(pattern, () => replacement);
}

function cased(text: string, operator: string): string {
  if (operator === "^^") return text.toUpperCase();
  if (operator === ",,") return text.toLowerCase();
  const first = text.slice(0, 1);
  return (operator === "^" ? first.toUpperCase() : first.toLowerCase()) + text.slice(1);
}
