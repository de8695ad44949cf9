// Reads the rows of a Markdown table.
import { letters } from "./words.ts";

/** The cells of `| a | b |`, or null for any other line. An escaped pipe is part of its cell. */
export function cellsOf(row: string): string[] | null {
  if (!row.startsWith("|")) return null;
  const cells: string[] = [];
  let cell = "";
  for (const part of row.split("|").slice(1)) {
    if (part.endsWith("\\")) {
      cell += `${part.slice(0, -1)}|`;
      continue;
    }
    cells.push((cell + part).trim());
    cell = "";
  }
  if (cell !== "") cells.push(cell.trim());
  if (cells.at(-1) === "") cells.pop();
  return cells;
}

export function isSeparatorRow(cells: readonly string[] | null): boolean {
  return cells !== null && cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell));
}

const fileHeaders = new Set(["file", "files", "path", "paths", "filepath", "filename", "name"]);

/** The column that names the file: the one whose header says so, otherwise the first. */
export function fileColumn(header: readonly string[]): number {
  return Math.max(
    0,
    header.findIndex((cell) => fileHeaders.has(letters(cell.slice(0, 40)))),
  );
}
