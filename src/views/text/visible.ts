// Control and hidden characters as signs that can be seen. Names of files may hold any of them, and none may act on a terminal.

import { revealed } from "../../text.ts";

/** And halves of characters, which no file can hold as they are. */
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff]/gu;

/** Rare: most text is spared the slower search. */
const unusual = /[^\t\n -~]/;

/** One sign a control character, hidden characters spelled out; tab and newline stay. */
export function visible(text: string): string {
  return unusual.test(text) ? revealed(text.replace(unprintable, signOf)) : text;
}

/** Unicode has pictures up to 127. */
function signOf(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
