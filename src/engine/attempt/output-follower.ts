// Follows what a running attempt prints: the engine at its tick, `watch` and `status` from another process. Nothing of it is recorded; the
// attempt's own output files are the record.

import { complaintIn } from "../../runtimes/complaint.ts";
import { noProgress, type Progress, type Runtime } from "../../runtimes/runtime.ts";
import type { Usage } from "../../session/events.ts";
import type { Batch } from "../../store/files/batch.ts";
import { LiveTokens } from "../../store/output/live-tokens.ts";
import { NewLines } from "../../store/output/new-lines.ts";

/** How much of new output is read at once: a longer line, and what comes before it, is skipped. */
const MAX_NEW_BYTES = 128 * 1024;
const MAX_NEW_STDERR = 64 * 1024;
const MAX_COMPLAINT = 2_000;
const MAX_SHOWN = 200;

export interface Metered {
  usage: readonly Usage[];
  /** How many answers of a model it is; absent when the stream does not say. */
  requests?: number;
}

export class OutputFollower {
  readonly #runtime: Runtime;
  readonly name: string;
  readonly #stdout: NewLines;
  #stderrSeen = 0;
  progress: Progress = noProgress;
  /** All tokens so far; null when none are known. */
  tokens: number | null = null;
  readonly #meter: LiveTokens;

  /** `home`: the directory that the runtime uses as the user's home. */
  constructor(runtime: Runtime, name: string, home: string, meterEveryMs?: number) {
    this.#meter = new LiveTokens(home, meterEveryMs);
    this.#runtime = runtime;
    this.name = name;
    this.#stdout = new NewLines(name, "json", MAX_NEW_BYTES);
  }

  /** What the attempt has used so far, by its transcript or its own stream; null when nothing is known. */
  get metered(): Metered | null {
    const { answers } = this.#meter;
    if (answers.length > 0) return { usage: answers, requests: answers.length };
    const { usage } = this.progress;
    return usage === undefined ? null : { usage };
  }

  /** Reads what is new, and returns the new part of stderr. */
  read(batch: Batch): string {
    const stderr = this.#readStderr(batch);
    // Whatever the program says about itself at every start is not an activity.
    const complaint = complaintIn(lastLines(stderr), MAX_COMPLAINT).split("\n").at(-1) ?? "";
    if (complaint !== "") this.progress = { ...this.progress, activity: complaint };
    const lines = this.#stdout.next(batch);
    if (lines !== "") this.progress = this.#runtime.progress(this.progress, lines);
    const { conversation, usage } = this.progress;
    if (usage !== undefined) this.tokens = tokensIn(usage);
    if (conversation !== null) this.tokens = this.#meter.read(conversation);
    return stderr;
  }

  /** Skips the end of stderr that was kept when its middle was removed. */
  skipStderr(batch: Batch): void {
    this.#stderrSeen = batch.size(this.name, "log");
  }

  #readStderr(batch: Batch): string {
    const size = batch.size(this.name, "log");
    if (size === this.#stderrSeen) return "";
    const from = Math.min(this.#stderrSeen, size);
    this.#stderrSeen = size;
    return batch.read(this.name, "log", MAX_NEW_STDERR, from);
  }
}

function tokensIn(usage: readonly Usage[]): number {
  return usage.reduce((sum, { input, output, thoughts }) => sum + input + output + thoughts, 0);
}

function lastLines(text: string): string {
  if (text.length <= MAX_COMPLAINT) return text;
  const end = text.slice(-MAX_COMPLAINT);
  return end.slice(end.indexOf("\n") + 1 || end.length);
}

/** The last activity as it is shown. Redacted before it is cut: half a secret would not be recognised. */
export function shownActivity({ activity }: Progress, redact: (text: string) => string): string {
  return redact(activity).slice(0, MAX_SHOWN);
}
