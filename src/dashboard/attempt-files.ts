// The log and the prompt of an attempt, found by what the journal records about it, never by a path that a request names.

import { readRegular } from "../disk/durable.ts";
import { attemptReader } from "../engine/runtimes/described.ts";
import { errno, MaestroError } from "../errors.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { Attempt } from "../session/session.ts";
import type { Environment } from "../setting-layers.ts";
import { Batch, batchPath, MAX_READ_STDOUT } from "../store/files/batch.ts";
import type { StateLocation } from "../store/location.ts";
import type { LogPart } from "../web/model/route.ts";

/** Of one answer. */
const CHUNK_BYTES = 1024 * 1024;
/** A line without an end is cut here. */
const MAX_LINE_BYTES = 4 * CHUNK_BYTES;
const MAX_PROMPT_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

const kinds = { output: "json", errors: "log", validation: "validation.log" } as const;

interface Place {
  location: StateLocation;
  redact: (text: string) => string;
  env: Environment;
}

export interface LogChunk {
  text: string;
  /** Where the next chunk starts. */
  next: number;
  /** Nothing more is there now. */
  isEnd: boolean;
}

/** Whole lines from `from` on: half of a secret would not be redacted. */
export function readLog({ location, redact, env }: Place, attempt: Attempt, part: LogPart, from: number): LogChunk {
  return inBatch(location, attempt, (batch) => {
    const read = (most: number) => batch.readRange(attempt.name, kinds[part], from, most);
    const runtime = attemptReader(env, location.projectRoot)(attempt);
    const isOver = attempt.result !== null;
    let { bytes, size } = read(CHUNK_BYTES);
    if (bytes.length < size - from && bytes.lastIndexOf(NEWLINE) === -1) ({ bytes, size } = read(MAX_LINE_BYTES));
    if (part === "output" && from === 0 && isOver && size <= MAX_READ_STDOUT) {
      const answer = answerIn(runtime, read(MAX_READ_STDOUT).bytes.toString("utf8"));
      if (answer !== null) return { text: redact(answer), next: size, isEnd: true };
    }
    const isLast = isOver && from + bytes.length >= size;
    const end = isLast || bytes.length === MAX_LINE_BYTES ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
    const lines = bytes.subarray(0, end).toString("utf8");
    const shown = part === "output" ? (runtime.shown(lines, from > 0)?.text ?? lines) : lines;
    // A file that was shortened meanwhile is read from its new end.
    const next = from > size ? size : from + end;
    return { text: redact(shown), next, isEnd: end === 0 || next >= size };
  });
}

/** The text of an answer that is one JSON document; null for a stream of events and for anything else. */
function answerIn(runtime: Runtime, stdout: string): string | null {
  if (runtime.shown(stdout, false) !== null) return null;
  const { text } = runtime.judge({ exitCode: 0, killed: null, stdout, stderr: "" });
  return text === "" ? null : `${text.trimEnd()}\n`;
}

export function readPrompt(location: StateLocation, attempt: Attempt, redact: (text: string) => string): string {
  return inBatch(location, attempt, (batch) => {
    const bytes = readRegular(batch.prompts, `${attempt.name}.txt`, MAX_PROMPT_BYTES);
    if (bytes !== undefined) return redact(bytes.toString("utf8"));
    throw new MaestroError(
      "not_found",
      "The prompt does not exist any more: Maestro deletes prompts when their session has ended",
    );
  });
}

function inBatch<T>(location: StateLocation, attempt: Attempt, use: (batch: Batch) => T): T {
  let batch: Batch;
  try {
    batch = new Batch(batchPath(location, attempt.batch), attempt.batch);
  } catch (error) {
    if (errno(error) !== "ENOENT") throw error;
    throw new MaestroError("not_found", `The files of attempt ${attempt.name} do not exist`, { cause: error });
  }
  try {
    return use(batch);
  } finally {
    batch.close();
  }
}
