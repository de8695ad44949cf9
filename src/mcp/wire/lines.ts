// Splits bytes into lines. Of a line that exceeds the limit only the length, the beginning and the end are kept.

/** How much of the beginning and end of an overlong line is kept. */
const KEPT_BYTES = 256;
const NEWLINE = 0x0a;

export type ProtocolLine = { bytes: Buffer } | { length: number; head: Buffer; tail: Buffer };

export class LineReader {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #length = 0;
  /** Set while the current line exceeds the limit. */
  #head: Buffer | undefined;
  #tail = Buffer.alloc(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that `chunk` completes, in order, without their newlines. */
  push(chunk: Buffer): ProtocolLine[] {
    const lines: ProtocolLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** The text after the last newline, as a line. */
  end(): ProtocolLine[] {
    return this.#length === 0 ? [] : [this.#take()];
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#head === undefined) {
      this.#parts.push(part);
      if (this.#length <= this.#limit) return;
      const kept = Buffer.concat(this.#parts);
      this.#head = Buffer.from(kept.subarray(0, KEPT_BYTES));
      this.#tail = Buffer.from(kept.subarray(-KEPT_BYTES));
      this.#parts = [];
      return;
    }
    // Copies: a slice would keep the whole chunk in memory.
    this.#tail = Buffer.from(Buffer.concat([this.#tail, part.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES));
  }

  #take(): ProtocolLine {
    const line: ProtocolLine =
      this.#head === undefined
        ? { bytes: Buffer.concat(this.#parts) }
        : { length: this.#length, head: this.#head, tail: this.#tail };
    this.#parts = [];
    this.#length = 0;
    this.#head = undefined;
    this.#tail = Buffer.alloc(0);
    return line;
  }
}
