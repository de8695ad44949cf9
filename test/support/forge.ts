// Journal lines as an attacker who knows the format writes them: numbered and with correct checksums, at the end of the journal.

import { appendFileSync, readFileSync } from "node:fs";
import type { SessionEvent } from "../../src/session/events.ts";
import { encodeChange } from "../../src/store/journal/record.ts";

export type Forged = Record<string, unknown>;

/** Appends `changes`, each a list of events, in one write and without asking for the lock. Returns the bytes. */
export function forge(path: string, changes: Forged[][], ts = new Date().toISOString()): Buffer {
  let last = lastRecord(readFileSync(path, "utf8"));
  const pieces = changes.map((events) => {
    const encoded = encodeChange(last, ts, events as unknown as SessionEvent[]);
    last = encoded;
    return encoded.bytes;
  });
  const bytes = Buffer.concat(pieces);
  appendFileSync(path, bytes);
  return bytes;
}

function lastRecord(text: string): { seq: number; crc: string } {
  const { seq, crc } = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "{}");
  return { seq, crc };
}
