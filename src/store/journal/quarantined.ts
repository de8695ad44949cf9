// Copies of records that an engine rejected, beside the journal: progress.jsonl.quarantined-<time>.

import type { Directory } from "../../disk/contained.ts";
import { readRegular } from "../../disk/durable.ts";
import { JOURNAL_FILE } from "./journal-file.ts";

export const QUARANTINED = "quarantined";
const MAX_COPY_BYTES = 64 * 1024 * 1024;

/** How many bytes at the end of the journal are already in quarantine, because an engine was killed before it cut them off. */
export function uncutTail(state: Directory, journal: Buffer): number {
  for (const name of state.list()) {
    const stat = name.startsWith(`${JOURNAL_FILE}.${QUARANTINED}-`) ? state.lstat(name) : undefined;
    if (stat?.isFile() !== true || stat.size === 0 || stat.size >= Math.min(journal.length, MAX_COPY_BYTES)) continue;
    const tail = readRegular(state, name, MAX_COPY_BYTES);
    if (tail?.equals(journal.subarray(journal.length - tail.length))) return tail.length;
  }
  return 0;
}

/** Whether a copy exists. Usually none does, and then nothing has to be compared. */
export function hasQuarantined(state: Directory): boolean {
  return state.list().some((name) => name.startsWith(`${JOURNAL_FILE}.${QUARANTINED}-`));
}
