// What an agent does, in one line for people: the end of what it says, or a tool call with the argument that says what it is about. Pure; must
// never throw, whatever was printed.

import { isObject } from "../shape.ts";
import { stripControls } from "../text.ts";

/** Much longer than what is shown: the caller redacts before it cuts. */
const MAX_LINE = 1_200;
const MAX_TEXT = 4_000;

/** `telling`: names of arguments that say what a call is about, the best first. */
export function callLine(tool: unknown, input: unknown, telling: readonly string[]): string {
  const name = briefly(tool);
  if (typeof input === "string") return `${name} ${shortPath(briefly(input))}`.trimEnd();
  if (!isObject(input)) return name;
  const key = telling.find((one) => typeof input[one] === "string") ?? Object.keys(input)[0];
  const value = key === undefined ? undefined : input[key];
  return typeof value === "string" && value.trim() !== "" ? `${name} ${shortPath(briefly(value))}` : name;
}

/** Agents name files by their absolute paths, of which only the end is useful. */
function shortPath(argument: string): string {
  const parts = argument.split("/");
  return argument.startsWith("/") && !argument.includes(" ") && parts.length > 4
    ? `…/${parts.slice(-3).join("/")}`
    : argument;
}

/** Starts with a whole word: half of a secret would not be recognised. */
export function endOfWords(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(-MAX_TEXT).replace(/^\S+/, "");
}

export function lastLine(text: string): string {
  return briefly(text.trimEnd().split("\n").at(-1) ?? "");
}

/** Empty for what is not text. */
export function briefly(text: unknown): string {
  if (typeof text !== "string") return "";
  // Cut first: stripping megabytes for one line would take longer than a tick.
  return stripControls(text.slice(0, MAX_LINE)).replace(/\s+/g, " ").trim();
}
