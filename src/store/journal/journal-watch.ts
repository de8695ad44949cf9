// Whether a journal still holds what an engine has read and written: a digest of all of it, compared when the file was touched by
// another process. Apart from journal.ts because only an engine needs it.

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
  /** The file when its content was last known to be as it should be. */
  #stamp = "";

  constructor({ judge, now, warn }: ForeignJudge) {
    this.judge = judge;
    this.now = now;
    this.warn = warn;
  }

  /** Begins with the first `offset` bytes of the file. */
  begin(fd: number, offset: number): void {
    this.#digest = createHash("sha256");
    this.#stamp = "";
    for (const chunk of chunksOf(fd, offset)) this.#digest.update(chunk);
  }

  /** Bytes that were read and believed, or written. */
  add(bytes: Uint8Array): void {
    this.#digest.update(bytes);
  }

  /** After a write of our own: nobody else has touched the file if it is exactly as long as it should be. */
  note(stat: Stats, length: number): void {
    this.#stamp = stat.size === length ? stampOf(stat) : "";
  }

  /** Whether the first `offset` bytes are those that were read and written. The change time tells when there is nothing to compare. */
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

/** Not the modification time: any process can set it. */
function stampOf({ ino, size, ctimeMs }: Stats): string {
  return `${ino} ${size} ${ctimeMs}`;
}

function* chunksOf(fd: number, end: number): Generator<Buffer> {
  for (let at = 0; at < end; at += CHUNK_BYTES) yield readFrom(fd, at, Math.min(end, at + CHUNK_BYTES));
}
