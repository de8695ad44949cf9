// A long log in memory: the text in the pieces in which it came, and where each line starts, so that a line of a hundred megabytes is found
// at once and nothing is copied. Pure.

export class LogText {
  readonly #pieces: string[] = [];
  /** For each piece, the number of its first line and the offsets of its lines. */
  readonly #firstLines: number[] = [];
  readonly #offsets: Uint32Array[] = [];
  #lines = 0;
  /** The beginning of a line whose end has not come yet. */
  #rest = "";

  /** Whole lines are stored; an unfinished one waits for its end. */
  add(text: string): void {
    const all = this.#rest + text;
    const end = all.lastIndexOf("\n") + 1;
    this.#rest = all.slice(end);
    if (end === 0) return;
    const piece = all.slice(0, end);
    const starts: number[] = [];
    for (let at = 0; at < piece.length; at = piece.indexOf("\n", at) + 1) starts.push(at);
    this.#pieces.push(piece);
    this.#firstLines.push(this.#lines);
    this.#offsets.push(Uint32Array.from(starts));
    this.#lines += starts.length;
  }

  get lines(): number {
    return this.#lines + (this.#rest === "" ? 0 : 1);
  }

  /** The line with this number, from 0, without its line break. */
  line(number: number): string {
    if (number >= this.#lines) return number === this.#lines ? this.#rest : "";
    const at = this.#pieceOf(number);
    const piece = this.#pieces[at] ?? "";
    const offsets = this.#offsets[at] ?? new Uint32Array();
    const within = number - (this.#firstLines[at] ?? 0);
    const end = offsets[within + 1] ?? piece.length;
    return piece.slice(offsets[within], end - 1);
  }

  /** The numbers of the lines that contain `text`, in any case; at most `most`. */
  search(text: string, most: number): number[] {
    const wanted = text.toLowerCase();
    const found: number[] = [];
    if (wanted === "") return found;
    for (const [at, piece] of this.#pieces.entries()) {
      const lower = piece.toLowerCase();
      const offsets = this.#offsets[at] ?? new Uint32Array();
      const first = this.#firstLines[at] ?? 0;
      for (let hit = lower.indexOf(wanted); hit !== -1 && found.length < most; ) {
        const line = lineAt(offsets, hit);
        found.push(first + line);
        const next = offsets[line + 1];
        if (next === undefined) break;
        hit = lower.indexOf(wanted, next);
      }
      if (found.length >= most) return found;
    }
    if (this.#rest.toLowerCase().includes(wanted)) found.push(this.#lines);
    return found;
  }

  /** All of it, for the clipboard and for a file. */
  parts(): string[] {
    return this.#rest === "" ? [...this.#pieces] : [...this.#pieces, this.#rest];
  }

  #pieceOf(number: number): number {
    let low = 0;
    let high = this.#firstLines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#firstLines[middle] ?? 0) <= number) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The last line that starts at or before `offset`. */
function lineAt(offsets: Uint32Array, offset: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
