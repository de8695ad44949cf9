// Sanitizes all text that the command prints: removes escape sequences and control characters, and writes invisible characters as \u
// escapes. Only this file creates escape sequences: for colours and for the frames of the live table.

import { revealed, stripControls } from "../text.ts";
import { colorOf, marked, type Paint } from "../views/text/paint.ts";

const styled = (start: number, end: number) => (text: string) => `\u001b[${start}m${text}\u001b[${end}m`;
/** Colours never nest: `marked` finds the innermost. A library for them would load node:tty and node:net in every command. */
const styles: Paint = {
  bold: styled(1, 22),
  cyan: styled(36, 39),
  dim: styled(2, 22),
  green: styled(32, 39),
  red: styled(31, 39),
  yellow: styled(33, 39),
};
const printable = /^[\t\n -~]*$/;

/** Without colours, text that looks like a mark is not ours. */
export function outgoing(text: string, isColored = true): string {
  if (printable.test(text)) return text;
  if (!isColored) return sanitized(text);
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
export function frameText(lines: readonly string[], height: number, isColored = true): string {
  const over = height === 0 ? "\u001b[?25l" : `\u001b[${height}A\r`;
  return `${over}${lines.map((line) => `${outgoing(line, isColored)}\u001b[K\n`).join("")}\u001b[J`;
}

/** Written after the last frame. */
export const SHOW_CURSOR = "\u001b[?25h\n";
