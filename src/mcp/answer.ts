// A tool's answer, and the only place that limits its length. Lists are paged; anything else that does not fit is cut, and the answer
// says what was cut and how to get it. Pure.

import { plainJson } from "../text.ts";

/** In bytes of text. A model pays for each of them in every later request of the conversation. */
export const MAX_ANSWER_BYTES = 1_500;

export interface Answer {
  body: Readonly<Record<string, unknown>>;
  page?: Page;
  /** The caller asked for the whole answer, whatever its length. */
  full?: boolean | undefined;
  /** How to get what was cut; by default with `full: true`. */
  rest?: string;
}

/** A list that is answered in pages. */
export interface Page {
  /** Its name in the body. */
  key: string;
  total: number;
  item: (index: number) => unknown;
  offset?: number | undefined;
  limit?: number | undefined;
}

/** The answer as JSON. */
export function answerText({ body, page, full = false, rest = askForAll }: Answer): string {
  if (full) return textOf({ ...body, ...(page === undefined ? {} : pageOf(page, Number.POSITIVE_INFINITY)) });
  const whole = page === undefined ? body : { ...body, ...pageOf(page, MAX_ANSWER_BYTES - bytesOf(body) - PAGE_BYTES) };
  return bytesOf(whole) <= MAX_ANSWER_BYTES ? textOf(whole) : textOf(shortened(whole, rest));
}

/** Escapes control characters, because the CLI shows the answer on a terminal. */
function textOf(value: unknown): string {
  return plainJson(JSON.stringify(value));
}

const askForAll = "full: true for all";

/** Room for `total`, `next_offset` and the name of the list. */
const PAGE_BYTES = 120;

function pageOf({ key, total, item, offset = 0, limit = total }: Page, room: number): Record<string, unknown> {
  const items: unknown[] = [];
  let used = 0;
  let index = offset;
  for (; index < total && items.length < limit; index++) {
    const next = item(index);
    used += bytesOf(next) + 1;
    // The first item is always included, and cut if it is too long.
    if (used > room && items.length > 0) break;
    items.push(next);
    if (used > room) {
      index += 1;
      break;
    }
  }
  return { [key]: items, total, next_offset: index < total ? index : null };
}

/** Limits for texts (characters) and lists (entries), from the mildest to the harshest. */
const measures = [1_000, 700, 500, 350, 250, 180, 120, 80, 50, 30, 15].map((most) => ({
  text: most,
  list: Math.ceil(most / 8),
}));
const MAX_CUTS_NAMED = 4;
/** Maestro's own records have fewer keys; a map by name may have more. */
const FEW_KEYS = 32;

interface Cut {
  kept: number;
  of: number;
}

/** The mildest cut that fits. */
function shortened(body: Readonly<Record<string, unknown>>, hint: string): object {
  let answer: object = {};
  for (const measure of measures) {
    const cuts = new Map<string, Cut>();
    const kept = shorten(body, "", measure, cuts);
    const named = Object.fromEntries([...cuts].slice(0, MAX_CUTS_NAMED));
    answer = { ...(kept as object), cut: { ...named, hint } };
    if (bytesOf(answer) <= MAX_ANSWER_BYTES) return answer;
  }
  return withoutLarge(answer, hint);
}

/** The parts that fit, in their order; for an answer of very many small parts. */
function withoutLarge(answer: object, hint: string): object {
  const parts = Object.entries(answer).filter(([key]) => key !== "cut");
  const kept: [string, unknown][] = [];
  const cutOf = () => ({ parts: { kept: kept.length, of: parts.length }, hint });
  for (const part of parts) {
    kept.push(part);
    if (bytesOf({ ...Object.fromEntries(kept), cut: cutOf() }) > MAX_ANSWER_BYTES) kept.pop();
  }
  return { ...Object.fromEntries(kept), cut: cutOf() };
}

/** The first items that fit into `room` bytes, at least one. */
export function fitting<Item>(items: readonly Item[], room: number): Item[] {
  let used = 0;
  const end = items.findIndex((item) => {
    used += bytesOf(item) + 1;
    return used > room;
  });
  return items.slice(0, end === -1 ? items.length : Math.max(1, end));
}

function shorten(value: unknown, path: string, most: (typeof measures)[number], cuts: Map<string, Cut>): unknown {
  if (typeof value === "string") {
    if (value.length <= most.text) return value;
    cuts.set(path, { kept: most.text, of: value.length });
    return `${value.slice(0, most.text).replace(/[\uD800-\uDBFF]$/, "")} ...`;
  }
  if (Array.isArray(value)) {
    if (value.length > most.list) cuts.set(path, { kept: most.list, of: value.length });
    return value.slice(0, most.list).map((item) => shorten(item, `${path}[]`, most, cuts));
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const room = Math.max(most.list, FEW_KEYS);
  if (entries.length > room) cuts.set(path, { kept: room, of: entries.length });
  const kept = entries
    .slice(0, room)
    .map(([key, item]) => [key, shorten(item, path === "" ? key : `${path}.${key}`, most, cuts)]);
  return Object.fromEntries(kept);
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(plainJson(JSON.stringify(value) ?? "null"));
}
