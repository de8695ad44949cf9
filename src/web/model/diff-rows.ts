// A patch as rows of a page: files, hunks, lines with both numbers, and the words that changed within a line. Large files and lock files
// are folded, never left out. Pure.

import parseDiff from "parse-diff";
import { changedWords, type WordPart } from "./words.ts";

export interface DiffFile {
  path: string;
  /** The old path of a renamed file. */
  from: string | null;
  kind: "created" | "modified" | "deleted" | "renamed";
  added: number;
  removed: number;
  isBinary: boolean;
  /** Why it is folded at first; null: it is open. */
  folded: string | null;
  rows: DiffRow[];
}

export interface DiffRow {
  kind: "hunk" | "same" | "added" | "removed";
  before: number | null;
  after: number | null;
  text: string;
  /** The parts of the line, the changed ones marked; absent: the whole line. */
  words?: WordPart[];
}

const MAX_OPEN_LINES = 400;
/** Comparing the words of long lines takes too long to be worth it. */
const MAX_WORD_LINE = 500;
const lockFile =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Gemfile\.lock|composer\.lock|go\.sum|flake\.lock)$/;

export function diffFiles(patch: string): DiffFile[] {
  return parseDiff(patch).map((file) => {
    const to = file.to ?? "";
    const from = file.from ?? "";
    const path = to === "" || to === "/dev/null" ? from : to;
    const isRenamed = from !== "" && from !== "/dev/null" && to !== "/dev/null" && from !== to;
    const kind = file.new ? "created" : file.deleted ? "deleted" : isRenamed ? "renamed" : "modified";
    const lines = file.additions + file.deletions;
    const folded = lockFile.test(path) ? "lock file" : lines > MAX_OPEN_LINES ? `${lines} changed lines` : null;
    const rows = file.chunks.flatMap((chunk) => [
      { kind: "hunk", before: null, after: null, text: chunk.content } satisfies DiffRow,
      ...withWords(chunk.changes.flatMap(rowOf)),
    ]);
    return {
      path,
      from: isRenamed ? from : null,
      kind,
      added: file.additions,
      removed: file.deletions,
      isBinary: file.chunks.length === 0 && !isRenamed,
      folded,
      rows,
    };
  });
}

function rowOf(change: parseDiff.Change): DiffRow[] {
  // git prints "\ No newline at end of file" about the line before.
  const text = change.content.slice(1);
  if (change.type === "add") return [{ kind: "added", before: null, after: change.ln, text }];
  if (change.type === "del") return [{ kind: "removed", before: change.ln, after: null, text }];
  return [{ kind: "same", before: change.ln1, after: change.ln2, text }];
}

/** Pairs the removed lines of a block with the added lines that follow, and marks the words that differ. */
function withWords(rows: DiffRow[]): DiffRow[] {
  for (let at = 0; at < rows.length; at += 1) {
    if (rows[at]?.kind !== "removed") continue;
    const start = at;
    while (rows[at]?.kind === "removed") at += 1;
    const middle = at;
    while (rows[at]?.kind === "added") at += 1;
    const pairs = Math.min(middle - start, at - middle);
    for (let pair = 0; pair < pairs; pair += 1) markWords(rows[start + pair], rows[middle + pair]);
    at -= 1;
  }
  return rows;
}

function markWords(before: DiffRow | undefined, after: DiffRow | undefined): void {
  if (before === undefined || after === undefined) return;
  if (before.text.length > MAX_WORD_LINE || after.text.length > MAX_WORD_LINE) return;
  const [removed, added] = changedWords(before.text, after.text);
  const same = removed.reduce((sum, { text, isChanged }) => sum + (isChanged ? 0 : text.trim().length), 0);
  // Lines that share almost nothing are easier to read as a whole.
  if (same * 4 < Math.max(before.text.trim().length, after.text.trim().length)) return;
  before.words = removed;
  after.words = added;
}
