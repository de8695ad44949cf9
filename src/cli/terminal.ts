// Sanitizes all text that the command prints: removes escape sequences and control characters, and writes invisible characters as \u
// escapes. Only this file creates escape sequences: for colours and for the frames of the live table.

import { bold, cyan, dim, green, red, yellow } from "yoctocolors";
import { revealed, stripControls } from "../text.ts";
import { colorOf, marked, type Paint } from "../views/text/paint.ts";

const styles: Paint = { bold, cyan, dim, green, red, yellow };
const printable = /^[\t\n -~]*$/;

export function outgoing(text: string): string {
  if (printable.test(text)) return text;
  let shown = "";
  let last = 0;
  for (const { index, 0: whole, 1: mark = "", 2: inner = "" } of text.matchAll(marked)) {
    shown += sanitized(text.slice(last, index)) + styles[colorOf(mark)](sanitized(inner));
    last = index + whole.length;
  }
  return shown + sanitized(text.slice(last));
}

function sanitized(text: string): string {
  return revealed(stripControls(text));
}

/** Draws a frame over the last one, which had `height` lines; the first frame hides the cursor. */
export function frameText(lines: readonly string[], height: number): string {
  const over = height === 0 ? "\u001b[?25l" : `\u001b[${height}A\r`;
  return `${over}${lines.map((line) => `${outgoing(line)}\u001b[K\n`).join("")}\u001b[J`;
}

/** Written after the last frame. */
export const SHOW_CURSOR = "\u001b[?25h\n";
