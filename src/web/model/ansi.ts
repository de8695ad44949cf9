// A line of an agent's output as styled text: colours stay, every other escape sequence is removed, and hidden characters become visible.
// The caller makes text nodes of it, never markup. Pure.

import Anser from "anser";
import { visible } from "../../views/text/visible.ts";

export interface StyledText {
  text: string;
  /** Class names: `f1` for colour 1, `b4` for background 4, `bold`, `dim`, `italic`, `underline`. */
  classes: string;
}

/** OSC (links and titles), DCS and their relatives with their text; then every CSI that is not a colour; then other escapes. */
const foreign =
  /\u001b[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*(?!m)[@-~]|\u001b(?!\[)[ -/]*[0-~]?/g;

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

export function styledLine(line: string): StyledText[] {
  if (!line.includes("\u001b") && !line.includes("\u009b")) return [{ text: visible(lastState(line)), classes: "" }];
  const clean = lastState(line.replace(foreign, ""));
  return Anser.ansiToJson(clean, { use_classes: true, remove_empty: true, json: true }).map((token) => ({
    text: visible(token.content),
    classes: [colour("f", token.fg), colour("b", token.bg), ...(token.decorations ?? [])].filter(Boolean).join(" "),
  }));
}

/** The line without its styles. */
export function plainLine(line: string): string {
  return styledLine(line)
    .map(({ text }) => text)
    .join("");
}

/** A progress bar rewrites its line: what a terminal shows in the end is what follows the last carriage return. */
function lastState(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const at = text.lastIndexOf("\r");
  return at === -1 ? text : text.slice(at + 1);
}

/** Only the sixteen named colours have a class; other colours would need a style that a person's theme does not know. */
function colour(kind: "f" | "b", name: string | null): string {
  if (!name) return "";
  const at = names.findIndex((one) => name === `ansi-${one}` || name === `ansi-bright-${one}`);
  return at === -1 ? "" : `${kind}${at}`;
}
