// state/compress-checkpoint.md: what must survive a compressed conversation, and what hooks know of a session without reading its
// journal. Its first line says of which state of the journal it speaks; as long as that is the one on disk, it holds.

import { closeSync, constants, fstatSync, type Stats } from "node:fs";
import type { Directory } from "../disk/contained.ts";
import { readFrom } from "../disk/durable.ts";
import { JOURNAL_FILE } from "../store/journal/journal-file.ts";
import { parseInput, textValue } from "./input.ts";

export const CHECKPOINT_FILE = "compress-checkpoint.md";
const MAX_BYTES = 64 * 1024;

export interface Checkpoint {
  /** Which journal, and how much of it. */
  journal: string;
  status: string;
  /** Its line in the history, should the conversation end now. */
  facts: string;
  /** What a new conversation is told. */
  waiting: string;
  /** What a turn is told. */
  brief: string;
}

/** Undefined without a journal. */
export function journalMark(state: Directory): string | undefined {
  const stat = state.lstat(JOURNAL_FILE);
  return stat === undefined ? undefined : markOf(stat);
}

export function markOf({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs}`;
}

/** The checkpoint, if it speaks of the journal as it is. */
export function validCheckpoint(state: Directory, journal: string): Checkpoint | undefined {
  if (state.lstat(CHECKPOINT_FILE)?.isFile() !== true) return undefined;
  const fd = state.open(CHECKPOINT_FILE, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return parseCheckpoint(readFrom(fd, 0, Math.min(MAX_BYTES, fstatSync(fd).size)).toString("utf8"), journal);
  } finally {
    closeSync(fd);
  }
}

/** Undefined when it speaks of another journal, or says nothing. */
export function parseCheckpoint(text: string, journal: string): Checkpoint | undefined {
  const read = parseInput(text.slice("<!-- ".length, text.indexOf(" -->\n")));
  if (read?.journal !== journal) return undefined;
  const { status, facts, waiting, brief } = read;
  return {
    journal,
    status: textValue(status),
    facts: textValue(facts),
    waiting: textValue(waiting),
    brief: textValue(brief),
  };
}

/** Nothing in the text may end the comment. */
export function renderCheckpoint(checkpoint: Checkpoint, lines: readonly string[]): string {
  return `<!-- ${JSON.stringify(checkpoint).replaceAll(">", "\\u003e")} -->\n${lines.join("\n")}\n`;
}
