// Turns the values of a file field into plain paths. They are claims of an agent: this file cleans them, other code checks them, and it
// never opens them.
import type { Item } from "./markdown/fields.ts";
import { bracketed, splitList } from "./markdown/lists.ts";
import { isNone, words } from "./markdown/words.ts";

interface Claim {
  readonly path: string;
  /** Whether it is written as code, as a link or in quotation marks. */
  readonly sure: boolean;
  readonly described: boolean;
}

/** Null when nothing is declared: an empty value or an unfilled template declares nothing, `none` declares that there are no files. */
export function pathsOf(items: readonly Item[]): string[] | null {
  const listed = items.filter((item) => item.kind === "listed");
  const margin = listed.reduce((least, item) => Math.min(least, item.line.indent), Number.POSITIVE_INFINITY);
  const paths = new Set<string>();
  let declared = false;

  for (const [index, { kind, line, file, text }] of items.entries()) {
    // Text next to a list ("2 files:") and lists nested under a file are remarks, unless they can only be paths.
    const remark = kind === "listed" ? line.indent > margin : (kind === "line" && index > 0) || listed.length > 0;
    const found = pathsIn(file ?? text, remark);
    declared ||= found !== null;
    for (const path of found ?? []) paths.add(path);
  }
  return declared ? [...paths] : null;
}

function pathsIn(text: string, remark: boolean): string[] | null {
  if (isNone(text) || isNoneExplained(text)) return [];
  const paths: string[] = [];
  let described = remark;
  for (const piece of (bracketed(text) ?? splitList(text)).flatMap(splitAnd)) {
    const claim = claimOf(piece);
    if (claim === null) continue;
    // After a description, the text behind a comma may continue the description.
    const plain = isPathLike(claim.path) && !/\s/.test(claim.path);
    if (claim.sure || plain || !described) paths.push(claim.path);
    described ||= claim.described;
  }
  return paths.length === 0 ? null : paths;
}

/** Matches "None - all changes are in existing files". */
function isNoneExplained(text: string): boolean {
  return /^[*_`(]{0,4}none[*_`]{0,4}\s?[.,;:(—–-]/iu.test(text) && !/[/\\]|\.\w/.test(text);
}

function claimOf(piece: string): Claim | null {
  if (piece.length > 1024 || isNone(piece)) return null;
  let text = piece.replace(/^(?:(?:and|&)\s|(?:\p{S}|\uFE0F|\u200D){1,8}\s+)/iu, "");
  let sure = false;
  let described = false;
  for (let opened = unwrap(text); opened !== null; opened = unwrap(text)) {
    sure ||= opened.sure;
    described ||= opened.described;
    text = opened.inner;
  }
  if (!sure) {
    const end = descriptionStart(text);
    described ||= end < text.length;
    text = withoutTrailing(text.slice(0, end).trim());
  }
  const path = text
    .replace(/[\n\t]/g, "")
    .replace(/:\d+(?:[:-]\d+){0,2}$/, "")
    .replace(/^(?:\.[/\\])+/, "")
    .trim();
  return path !== "" && (sure || isPlausible(path)) ? { path, sure, described } : null;
}

/** Removes one layer of code, quotation marks, bold or link from the start of the text. */
function unwrap(text: string): { inner: string; sure: boolean; described: boolean } | null {
  const link = /^\[([^\]]+)\]\(<?([^)>]+)>?\)/.exec(text);
  if (link !== null) {
    const [all, label = "", target = ""] = link;
    const inner = /^(?:[a-z]+:\/\/|#)/i.test(target) ? label : target;
    return { inner, sure: true, described: text.length > all.length };
  }
  const wrapped = /^(\*\*|`{1,3}|"|')(.+?)\1/u.exec(text);
  if (wrapped === null) return null;
  const [all, mark = "", inner = ""] = wrapped;
  return { inner, sure: mark !== "**", described: text.length > all.length };
}

function descriptionStart(text: string): number {
  const separator = text.search(/\s(?:[-–—]+|=>|->|→|#|\/\/)\s|:\s|[—\t]/u);
  const before = separator < 0 ? text : text.slice(0, separator);
  const bracket = before.search(/\s\(/);
  // "file (1).txt" is a name; "a.ts (new)" and "Makefile (new)" have a description.
  const isRemark = bracket >= 0 && (hasExtension(before.slice(0, bracket)) || !hasExtension(before));
  return isRemark ? bracket : before.length;
}

function splitAnd(piece: string): string[] {
  const parts = piece.split(/ (?:and|&) /);
  return parts.every((part) => /\.\p{L}[\p{L}\p{N}]{0,15}[`'"]?$/u.test(part) && !/\s/.test(part)) ? parts : [piece];
}

const placeholders = new Set(
  "tbd todo pending unknown various several multiple list paths path file files filename see same below above yes unchanged".split(
    " ",
  ),
);

function isPlausible(path: string): boolean {
  if (!/[\p{L}\p{N}]/u.test(path) || /^(?:<|\$\{|\{\{)/.test(path)) return false;
  return isPathLike(path) || (/^\S*\p{L}\S*$/u.test(path) && !placeholders.has(words(path)));
}

function isPathLike(text: string): boolean {
  return /[/\\]|^\.[\p{L}\p{N}]/u.test(text) || hasExtension(text);
}

function hasExtension(text: string): boolean {
  return /\.[\p{L}\p{N}_-]{1,16}$/u.test(text);
}

function withoutTrailing(text: string): string {
  let end = text.length;
  while (end > 0 && ".,;:!*".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
