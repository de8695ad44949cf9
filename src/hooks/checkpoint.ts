// state/compress-checkpoint.md: the session summary that must survive the compression of a conversation, and that lets hooks answer
// without reading the journal. Its first line identifies the state of the journal; the checkpoint is valid while that state is on disk.

import { closeSync, constants, fstatSync, type Stats } from "node:fs";
import type { Directory } from "../disk/contained.ts";
import { readFrom } from "../disk/durable.ts";
import { JOURNAL_FILE } from "../store/journal/journal-file.ts";
import { parseInput, textValue } from "./input.ts";

export const CHECKPOINT_FILE = "compress-checkpoint.md";
const MAX_BYTES = 64 * 1024;

export interface Checkpoint {
  /** Identifies the journal file and its state. */
  journal: string;
  status: string;
  /** The session's line in the history if the conversation ends now. */
  facts: string;
  /** The message for a new conversation. */
  waiting: string;
  /** The state of the session, for the model and the user. */
  brief: string;
  /** The context of an ordinary turn: the same, and how to continue without instructions of Maestro. */
  turn: string;
  /** A delegation has no recorded end: its agent is running, or its conversation has ended. */
  open: boolean;
}

/** Undefined without a journal. */
export function journalMark(state: Directory): string | undefined {
  const stat = state.lstat(JOURNAL_FILE);
  return stat === undefined ? undefined : markOf(stat);
}

export function markOf({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs}`;
}

/** The checkpoint, if it describes the present state of the journal. */
export function validCheckpoint(state: Directory, journal: string): Checkpoint | undefined {
  if (state.lstat(CHECKPOINT_FILE)?.isFile() !== true) return undefined;
  const fd = state.open(CHECKPOINT_FILE, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return parseCheckpoint(readFrom(fd, 0, Math.min(MAX_BYTES, fstatSync(fd).size)).toString("utf8"), journal);
  } finally {
    closeSync(fd);
  }
}

/** Undefined when it describes another state of the journal, or cannot be parsed. */
export function parseCheckpoint(text: string, journal: string): Checkpoint | undefined {
  const read = parseInput(text.slice("<!-- ".length, text.indexOf(" -->\n")));
  if (read?.journal !== journal) return undefined;
  return {
    journal,
    status: textValue(read.status),
    facts: textValue(read.facts),
    waiting: textValue(read.waiting),
    brief: textValue(read.brief),
    turn: textValue(read.turn),
    open: read.open === true,
  };
}

/** Escapes `>`, so that nothing in the JSON can end the comment. */
export function renderCheckpoint(checkpoint: Checkpoint, lines: readonly string[]): string {
  return `<!-- ${JSON.stringify(checkpoint).replaceAll(">", "\\u003e")} -->\n${lines.join("\n")}\n`;
}
