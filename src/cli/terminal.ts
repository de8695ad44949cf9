// Text on its way out of the command. Nothing in it acts on a terminal: escapes and control characters are taken out, hidden characters
// are spelled out. Only this file makes escape sequences: of the marks of colours, and of the frames of the live table.

import { bold, cyan, dim, green, red, yellow } from "yoctocolors";
import { revealed, stripControls } from "../text.ts";
import { colorOf, marked, type Paint } from "../views/text/paint.ts";

const styles: Paint = { bold, cyan, dim, green, red, yellow };
const usual = /^[\t\n -~]*$/;

export function outgoing(text: string): string {
  if (usual.test(text)) return text;
  let shown = "";
  let last = 0;
  for (const { index, 0: whole, 1: mark = "", 2: inner = "" } of text.matchAll(marked)) {
    shown += harmless(text.slice(last, index)) + styles[colorOf(mark)](harmless(inner));
    last = index + whole.length;
  }
  return shown + harmless(text.slice(last));
}

function harmless(text: string): string {
  return revealed(stripControls(text));
}

/** A frame over the last one, which had `height` lines; the first one hides the cursor. */
export function frameText(lines: readonly string[], height: number): string {
  const over = height === 0 ? "\u001b[?25l" : `\u001b[${height}A\r`;
  return `${over}${lines.map((line) => `${outgoing(line)}\u001b[K\n`).join("")}\u001b[J`;
}

/** Behind the last frame. */
export const SHOW_CURSOR = "\u001b[?25h\n";
