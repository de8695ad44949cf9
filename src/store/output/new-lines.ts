// Reads a result file that a process is still writing, in whole lines and with bounded memory. Never writes.

import type { Batch, ResultKind } from "../files/batch.ts";

const LINE_BREAK = 0x0a;

/** The position in one growing file. */
export class NewLines {
  readonly #name: string;
  readonly #kind: ResultKind;
  readonly #limit: number;
  #position = 0;
  #size = 0;
  #inode = 0;
  /** How many lines are before the position; not a number when some were skipped. */
  #lines = 0;
  /** Whether the position is inside a line whose beginning was skipped. */
  #isInside = false;

  /** `limit`: how many bytes are read at most in one call; whatever comes before them, and a longer line, is skipped. */
  constructor(name: string, kind: ResultKind, limit: number) {
    this.#name = name;
    this.#kind = kind;
    this.#limit = limit;
  }

  /** The whole lines since the last call. `isLast`: also a line without a line break, because nothing follows. */
  next(batch: Batch, isLast = false): string {
    const size = batch.size(this.#name, this.#kind);
    this.#followReplaced(batch);
    if (size < this.#position) this.#position = size;
    if (size === this.#size && !isLast) return "";
    this.#size = size;
    const { start, bytes } = batch.readBytes(this.#name, this.#kind, this.#limit, this.#position);
    if (bytes.length === 0) return "";
    if (start > this.#position) {
      this.#isInside = true;
      this.#lines = Number.NaN;
    }
    const first = this.#isInside ? bytes.indexOf(LINE_BREAK) + 1 : 0;
    const end = isLast ? bytes.length : bytes.lastIndexOf(LINE_BREAK) + 1;
    if (end === 0 || (this.#isInside && first === 0)) {
      const isTooLong = this.#isInside || bytes.length >= this.#limit;
      if (isTooLong) this.#position = start + bytes.length;
      if (isTooLong) this.#lines = Number.NaN;
      this.#isInside = isTooLong;
      return "";
    }
    this.#isInside = false;
    this.#position = start + end;
    this.#lines += countLines(bytes.subarray(0, end));
    return bytes.toString("utf8", first, end);
  }

  /** A file is replaced when secrets in it are redacted, which changes the length of lines but not their number. */
  #followReplaced(batch: Batch): void {
    const inode = batch.inode(this.#name, this.#kind);
    if (inode === this.#inode) return;
    if (this.#inode !== 0) {
      const { start, bytes } = batch.readBytes(this.#name, this.#kind, this.#limit, 0);
      const isKnown = start === 0 && !Number.isNaN(this.#lines);
      this.#position = isKnown ? afterLines(bytes, this.#lines) : start + bytes.length;
    }
    this.#inode = inode;
  }
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_BREAK); at >= 0; at = bytes.indexOf(LINE_BREAK, at + 1)) count += 1;
  return count;
}

/** The position behind that many lines. */
function afterLines(bytes: Buffer, lines: number): number {
  let position = 0;
  for (let line = 0; line < lines; line++) position = bytes.indexOf(LINE_BREAK, position) + 1 || bytes.length;
  return position;
}
