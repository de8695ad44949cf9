// Splits a section into named fields, each with the values after, below or beside its name. It knows the shapes of Markdown (lists, tables,
// sub-headings, continued lines), not what a value means.
import { nameAndValue } from "./field-names.ts";
import { isRule, type Line } from "./lines.ts";
import { cellsOf, fileColumn, isSeparatorRow } from "./tables.ts";
import { isNone, letters } from "./words.ts";

export interface Item {
  text: string;
  /** After the name, in a list, on its own line, or in a table row. */
  readonly kind: "inline" | "listed" | "line" | "row";
  readonly line: Line;
  /** The cell of a row that names a file. */
  readonly file?: string;
}

export interface Field<K> {
  readonly key: K;
  readonly items: Item[];
}

/** Finds a key by the letters of its name; `inChanges` is true inside a "Files Changed" list. */
type KeyOf<K> = (letters: string, inChanges: boolean) => K | null;

type Named<K> = { readonly key: K; readonly value: string } | null;

interface Open<K> extends Field<K> {
  readonly line: Line;
  /** Whether everything up to the next heading or name belongs to it. */
  heading: boolean;
}

interface Table {
  readonly rows: Item[];
  readonly header: readonly string[];
  headed: boolean;
}

/** `loose` holds text without a field name. */
export function readFields<K extends string>(
  lines: readonly Line[],
  keyOf: KeyOf<K>,
): { fields: Field<K>[]; loose: Item[] } {
  const fields: Field<K>[] = [];
  const loose: Item[] = [];
  let open: Open<K> | null = null;
  let inChanges = false;
  let table: Table | null = null;

  for (const [index, line] of lines.entries()) {
    if (isRule(line.text)) {
      // A rule directly below a bare name makes it a heading.
      if (open !== null && open.items.length === 0 && !line.afterBlank) open.heading = true;
      else open = null;
      continue;
    }
    const cells = cellsOf(line.text);
    if (isSeparatorRow(cells)) {
      if (table !== null && !table.headed) table.rows.pop();
      if (table !== null) table.headed = true;
      continue;
    }
    // Below a name, the first row of a table is its header.
    const isHeader = open !== null && isSeparatorRow(cellsOf(lines[index + 1]?.text ?? ""));
    const named: Named<K> =
      cells === null ? lineName(line, open, inChanges, keyOf) : isHeader ? null : rowName(cells, inChanges, keyOf);
    if (named !== null) {
      const items = partsOf(named.value).map((text): Item => ({ text, kind: "inline", line }));
      const field: Field<K> = { key: named.key, items };
      fields.push(field);
      open = cells === null ? { ...field, line, heading: line.level > 0 } : null;
      inChanges = named.key === "files_changed" || (inChanges && named.key.startsWith("files_"));
      table = null;
      continue;
    }
    if (line.level > 0 || (open !== null && !continues(line, open))) open = null;
    if (line.level > 0) continue;
    const items: Item[] = open?.items ?? loose;
    if (cells === null) {
      table = null;
      addLine(items, line);
    } else {
      if (table === null || table.rows !== items) table = { rows: items, header: cells, headed: false };
      const file = cells[table.headed ? fileColumn(table.header) : 0] ?? "";
      items.push({ text: cells.filter((cell) => cell !== "").join(" — "), kind: "row", line, file });
    }
  }
  return { fields, loose };
}

/** Joins lines that render as one paragraph. */
export function paragraphsOf(items: readonly Item[]): { text: string; checked: boolean | null }[] {
  const paragraphs: { text: string; checked: boolean | null }[] = [];
  for (const { text, kind, line } of items) {
    const last = paragraphs.at(-1);
    if (kind === "line" && !line.afterBlank && last !== undefined) last.text += ` ${text}`;
    else paragraphs.push({ text, checked: line.checked });
  }
  return paragraphs;
}

function lineName<K extends string>(line: Line, open: Open<K> | null, inChanges: boolean, keyOf: KeyOf<K>): Named<K> {
  const named = nameAndValue(line.text, (name) => keyOf(letters(name), inChanges));
  if (named?.key !== "status" || open === null) return named;
  // A status nested in another field is not the status of the task.
  const nested = open.line.marked && line.indent > open.line.indent;
  const ofValidation = open.key === "validation" && !open.line.marked && line.level === 0;
  return nested || ofValidation ? null : named;
}

function rowName<K extends string>(cells: readonly string[], inChanges: boolean, keyOf: KeyOf<K>): Named<K> {
  const [first = "", second] = cells;
  if (second === undefined) return null;
  const key = keyOf(letters(first), inChanges);
  if (key !== null) return { key, value: second };
  // "| src/a.ts | Created |" under Files Changed.
  const change = inChanges ? keyOf(letters(second), true) : null;
  return change === null ? null : { key: change, value: first };
}

function continues<K>(line: Line, open: Open<K>): boolean {
  if (open.heading) return true;
  if (open.line.marked && line.indent > open.line.indent) return true;
  if (line.marked) return !open.line.marked;
  const startsAnother = /^[*_`]*\p{L}[\p{L}\p{N} _/&()-]{0,40}[*_`]*\s?[:：](?:[\s*_]|$)/u.test(line.text);
  if (startsAnother) return false;
  const last = open.items.at(-1);
  if (last === undefined) return !open.line.marked || !line.afterBlank;
  return !line.afterBlank && !isNone(last.text);
}

function addLine(items: Item[], line: Line): void {
  const last = items.at(-1);
  const wraps = last?.kind === "inline" || last?.kind === "listed";
  if (last !== undefined && wraps && !line.marked && !line.afterBlank) {
    last.text += ` ${line.text}`;
    return;
  }
  const kind = line.marked ? "listed" : "line";
  for (const text of partsOf(line.text)) items.push({ text, kind, line });
}

function partsOf(text: string): string[] {
  const parts = text.split(/<br\s*\/?>/i).map((part) => part.trim().replace(/^(?:[-*+•]|\d{1,3}[.)])\s+/u, ""));
  return parts.filter((part) => part !== "");
}
