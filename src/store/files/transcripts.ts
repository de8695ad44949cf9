// Reads the transcripts that Gemini CLI keeps of the agents that a conversation delegated to. Never writes.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errno } from "../../errors.ts";
import { readTranscript, type Transcript } from "../../handoff/output/transcript.ts";

/** The transcript of a long delegation is a few megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Two clocks of one machine, rounded. */
const SLACK_MS = 1000;

/**
 * The transcript in `directory` of the agent whose prompt begins with `header` and who started at `since` or later. An earlier delegation of
 * the same conversation may have had the same header. Undefined when none fits, or more than one.
 */
export function findTranscript(directory: string, header: string, since: string): Transcript | undefined {
  const after = new Date(Date.parse(since) - SLACK_MS).toISOString();
  const found = namesIn(directory).flatMap((name) => {
    const text = textAt(join(directory, name), after);
    const read = text === undefined ? undefined : readTranscript(text, header);
    return read !== undefined && (read.started ?? "") >= after ? [read] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

function namesIn(directory: string): string[] {
  return orNothing(() => readdirSync(directory).filter((name) => name.endsWith(".jsonl"))) ?? [];
}

/** Undefined for a file that was last written before `after`. */
function textAt(path: string, after: string): string | undefined {
  return orNothing(() => {
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > MAX_BYTES || stat.mtime.toISOString() < after) return undefined;
    return readFileSync(path, "utf8");
  });
}

/** Gemini CLI may remove its files at any time. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}
