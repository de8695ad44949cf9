// Shows control and hidden characters as visible signs. File names may contain any of them, and none may act on a terminal.

import { revealed } from "../../text.ts";

/** Includes lone surrogates, which no file can contain. */
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff]/gu;

/** Only text beyond ASCII needs the slower search. */
const unusual = /[^\t\n -~]/;

/** One sign per control character, hidden characters escaped; tab and newline stay. */
export function visible(text: string): string {
  return unusual.test(text) ? revealed(text.replace(unprintable, signOf)) : text;
}

/** Unicode has control pictures up to 127. */
function signOf(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
