// Detects that a journal no longer holds what the engine read and wrote, by a digest that is compared when another process has touched
// the file. Separate from journal.ts because only an engine needs it.

import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { readFrom } from "../../disk/durable.ts";
import type { ForeignJudge } from "./foreign-tail.ts";

const CHUNK_BYTES = 1024 * 1024;

export class JournalWatch implements ForeignJudge {
  readonly judge: ForeignJudge["judge"];
  readonly now: ForeignJudge["now"];
  readonly warn: ForeignJudge["warn"];
  #digest = createHash("sha256");
  /** The stamp of the file when its content was last known to be intact. */
  #stamp = "";

  constructor({ judge, now, warn }: ForeignJudge) {
    this.judge = judge;
    this.now = now;
    this.warn = warn;
  }

  /** Starts with the digest of the first `offset` bytes of the file. */
  begin(fd: number, offset: number): void {
    this.#digest = createHash("sha256");
    this.#stamp = "";
    for (const chunk of chunksOf(fd, offset)) this.#digest.update(chunk);
  }

  /** Adds bytes that were read and accepted, or written. */
  add(bytes: Uint8Array): void {
    this.#digest.update(bytes);
  }

  /** After our own write: the file is intact if it has exactly the expected length. */
  note(stat: Stats, length: number): void {
    this.#stamp = stat.size === length ? stampOf(stat) : "";
  }

  /** Whether this is the file as it was when its content was last known to be intact. */
  isNoted(stat: Stats): boolean {
    return stampOf(stat) === this.#stamp;
  }

  /** Whether the first `offset` bytes are those that were read and written. An unchanged stamp makes the comparison unnecessary. */
  isIntact(fd: number, stat: Stats, offset: number): boolean {
    const stamp = stampOf(stat);
    if (stamp === this.#stamp) return true;
    const found = createHash("sha256");
    for (const chunk of chunksOf(fd, offset)) found.update(chunk);
    if (found.digest("hex") !== this.#digest.copy().digest("hex")) return false;
    this.#stamp = stamp;
    return true;
  }
}

/** Uses the change time, because any process can set the modification time. */
function stampOf({ ino, size, ctimeMs }: Stats): string {
  return `${ino} ${size} ${ctimeMs}`;
}

function* chunksOf(fd: number, end: number): Generator<Buffer> {
  for (let at = 0; at < end; at += CHUNK_BYTES) yield readFrom(fd, at, Math.min(end, at + CHUNK_BYTES));
}
