// Text that came from outside (a model, a file, a terminal) made safe to show and store. No other string helpers live here.

const escapeSequences =
  // OSC, DCS, SOS, PM and APC that are closed on their line (an open one must not swallow the text); CSI; two-character escapes.
  // No part can start another one inside it, so the whole is linear.
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]?/g;
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Removes terminal escapes and control characters; keeps tab and newline; CRLF and lone CR become newlines. */
export function stripControls(text: string): string {
  return text.replace(escapeSequences, "").replace(/\r\n?/g, "\n").replace(controls, "");
}
