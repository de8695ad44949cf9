// A line of an agent's output as styled text: colours stay, every other escape sequence is removed, and hidden characters become visible.
// The caller makes text nodes of it, never markup. Pure.

import { visible } from "../../views/text/visible.ts";

export interface StyledText {
  text: string;
  /** Class names: `f1` for colour 1, `b4` for background 4, `bold`, `dim`, `italic`, `underline`. */
  classes: string;
}

/** OSC (links and titles), DCS and their relatives with their text; then every CSI that is not a colour; then other escapes. */
const foreign =
  /\u001b[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*(?!m)[@-~]|\u001b(?!\[)[ -/]*[0-~]?/g;

const colourCodes = /(?:\u001b\[|\u009b)([0-?]*)m/;
const decorations = ["", "bold", "dim", "italic", "underline"];

export function styledLine(line: string): StyledText[] {
  if (!line.includes("\u001b") && !line.includes("\u009b")) return [{ text: visible(lastState(line)), classes: "" }];
  const clean = lastState(line.replace(foreign, ""));
  const style = new Style();
  // Texts and the codes between them, in turn.
  return clean.split(colourCodes).flatMap((part, at) => {
    if (at % 2 === 1) style.apply(part.split(/[;:]/).map(Number));
    return at % 2 === 1 || part === "" ? [] : [{ text: visible(part), classes: style.classes }];
  });
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
class Style {
  #front = "";
  #back = "";
  #decorations = new Set<string>();

  get classes(): string {
    return [this.#front, this.#back, ...this.#decorations].filter((name) => name !== "").join(" ");
  }

  apply(codes: readonly number[]): void {
    for (let at = 0; at < codes.length; at += 1) {
      const code = codes[at] ?? 0;
      if (code === 38 || code === 48) {
        // A colour of the palette (5;n) or of its own (2;r;g;b).
        const [kind, colour = 16] = codes.slice(at + 1);
        this.#set(code === 38, kind === 5 && colour < 16 ? colour % 8 : undefined);
        at += kind === 5 ? 2 : 4;
      } else this.#applyOne(code);
    }
  }

  #applyOne(code: number): void {
    const place = code % 10;
    const tens = (code - place) / 10;
    const colour = place < 8 ? place : undefined;
    if (code === 0) {
      this.#decorations.clear();
      this.#set(true, undefined);
      this.#set(false, undefined);
    } else if (code < decorations.length) this.#decorations.add(decorations[code] ?? "");
    else if (code === 22) for (const ended of ["bold", "dim"]) this.#decorations.delete(ended);
    else if (tens === 2) this.#decorations.delete(decorations[place] ?? "");
    else if (tens === 3 || tens === 9) this.#set(true, colour);
    else if (tens === 4 || tens === 10) this.#set(false, colour);
  }

  #set(isFront: boolean, colour: number | undefined): void {
    if (isFront) this.#front = colour === undefined ? "" : `f${colour}`;
    else this.#back = colour === undefined ? "" : `b${colour}`;
  }
}
