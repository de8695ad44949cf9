// Cuts and pads text to terminal columns, and shares a line among columns.

import { visible } from "./visible.ts";
import { beginning, displayWidth } from "./width.ts";

/** Exactly `width` columns: padded on the right, or cut with an ellipsis. */
export function cell(text: string, width: number): string {
  const shown = cut(text, width);
  return shown + " ".repeat(Math.max(0, width - displayWidth(shown)));
}

/** Like `cell`, for numbers. */
export function cellRight(text: string, width: number): string {
  const shown = cut(text, width);
  return " ".repeat(Math.max(0, width - displayWidth(shown))) + shown;
}

/** Untrusted text as one line of at most `width` columns. */
export function cut(text: string, width: number): string {
  return clip(oneLine(text), width);
}

/** Like `cut`, for Maestro's own lines, whose spaces are intentional. */
export function clip(line: string, width: number): string {
  if (displayWidth(line) <= width) return line;
  return width < 1 ? "" : `${beginning(line, width - 1).trimEnd()}…`;
}

/** Also for file names, which may contain anything: no control character passes. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, " "));
}

/** The widest of `texts`, but no wider than `limit`. */
export function widest(texts: Iterable<string>, limit: number): number {
  let width = 0;
  for (const text of texts) {
    if (width >= limit) return limit;
    width = Math.max(width, displayWidth(oneLine(text)));
  }
  return Math.min(width, limit);
}

/** The width of each column: its minimum, plus a fair share of the rest of `room` up to its maximum. */
export function shareOut(room: number, wants: readonly { least: number; most: number }[]): number[] {
  const widths = wants.map(({ least, most }) => Math.min(least, most));
  let left = room - widths.reduce((sum, width) => sum + width, 0);
  while (left > 0) {
    const hungry = wants.flatMap(({ most }, at) => ((widths[at] ?? 0) < most ? [at] : []));
    if (hungry.length === 0) break;
    const share = Math.max(1, Math.floor(left / hungry.length));
    for (const at of hungry) {
      const given = Math.min(share, left, (wants[at]?.most ?? 0) - (widths[at] ?? 0));
      widths[at] = (widths[at] ?? 0) + given;
      left -= given;
    }
  }
  return widths;
}
