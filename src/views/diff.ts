// Shows what an attempt changed: as a unified diff on a terminal, or as one line per file.

import type { FileChange } from "../session/events.ts";
import type { Changes } from "../session/session.ts";
import { cellRight, oneLine, widest } from "./text/cell.ts";
import type { Paint } from "./text/paint.ts";
import { visible } from "./text/visible.ts";
import { amountOf, nameOf } from "./work.ts";

const KIND_WIDTH = 8;

/** A diff that is safe to show: nothing in the files can act on the terminal. */
export function diffText(patch: string, paint: Paint): string {
  let isHead = true;
  const lines = patch.split("\n").map((line) => {
    // Inside a file's changes, a line that starts with "--- " is a removed line.
    if (line.startsWith("diff --git ")) isHead = true;
    else if (line.startsWith("@@ ")) isHead = false;
    return painted(visible(line), isHead, paint);
  });
  return lines.join("\n");
}

function painted(line: string, isHead: boolean, paint: Paint): string {
  if (line === "") return line;
  if (isHead) return paint.bold(line);
  if (line.startsWith("@@ ")) return paint.cyan(line);
  if (line.startsWith("+")) return paint.green(line);
  return line.startsWith("-") ? paint.red(line) : line;
}

export interface ShownWork {
  phase: string;
  attempt: number;
  changes: Changes;
  isIntegrated: boolean;
}

export function statLines({ phase, attempt, changes, isIntegrated }: ShownWork, paint: Paint): string[] {
  const where = isIntegrated ? "in the project" : "not in the project";
  return [`Phase ${phase}, attempt ${attempt}: ${amountOf(changes)}, ${where}`, ...fileLines(changes, paint)];
}

/** One line per file: its kind of change, its line counts, its name. */
export function fileLines(
  { files, total, outside }: Pick<Changes, "files" | "total" | "outside">,
  paint: Paint,
): string[] {
  const plus = files.map(({ added }) => (added === null ? "" : `+${added}`));
  const minus = files.map(({ removed }) => (removed === null ? "" : `-${removed}`));
  const [plusWidth, minusWidth] = [widest(plus, 12), widest(minus, 12)];
  const foreign = new Set(outside);
  const lines = files.map((file, at) => {
    const counts = `${paint.green(cellRight(plus[at] ?? "", plusWidth))} ${paint.red(cellRight(minus[at] ?? "", minusWidth))}`;
    return `  ${file.kind.padEnd(KIND_WIDTH)}  ${counts}  ${oneLine(nameOf(file))}${isForeign(file, foreign) ? paint.yellow("  (not one of its files)") : ""}`;
  });
  const more = total - files.length;
  return more > 0 ? [...lines, `  and ${more} more`] : lines;
}

function isForeign({ path, from }: FileChange, foreign: ReadonlySet<string>): boolean {
  return foreign.has(path) || (from !== undefined && foreign.has(from));
}
