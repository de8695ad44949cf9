// The process as a verb sees it. Every verb receives an Io as an argument; only main.ts uses the real process.

import type { signalCodes } from "../exit-codes.ts";
import { plainJson } from "../text.ts";

export type EndingSignal = keyof typeof signalCodes;

export interface Io {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Writes the answer to stdout. Text is sanitized; bytes are written unchanged unless stdout is a terminal. */
  out(text: string | Uint8Array): void;
  /** Writes progress and warnings to stderr, sanitized. */
  err(text: string): void;
  readStdin(): Promise<Uint8Array>;
  /** From now on a signal waits for the file operation in progress, so that no temporary file is left behind. */
  deferSignals(): void;
  now(): Date;
  /** Handles the signals that end a command; returns a function that removes the handler. */
  onSignal(handler: (signal: EndingSignal) => void): () => void;
  /** Runs `before` when a signal ends the command and has no other handler; returns a function that cancels this. */
  beforeSignalEnds(before: () => void): () => void;
  /** Whether the user can be asked: stdin and stderr are terminals. */
  interactive: boolean;
  /** Asks on the terminal; only when `interactive`. Null when the user closes the input, or `signal` takes the question back. */
  ask(question: string, signal?: AbortSignal): Promise<string | null>;
  /** The size of the terminal on stderr; undefined when stderr is not a terminal. */
  screen(): { columns: number; rows: number } | undefined;
  /** Draws `lines` on that terminal over the last frame; `close` shows the cursor again. */
  frames(): { draw(lines: readonly string[]): void; close(): void };
  /** Whether stdout is a terminal, which would interpret control characters. */
  terminal: boolean;
  /** Whether to use colours: stdout is a terminal and NO_COLOR is not set. */
  color: boolean;
}

/** Escapes characters that are valid in JSON but that some terminals interpret; file names may contain them. */
export function printJson(io: Io, value: unknown): void {
  io.out(`${plainJson(JSON.stringify(value, null, 2))}\n`);
}

/** As printJson, on one line. */
export function printJsonLine(io: Io, value: unknown): void {
  io.out(`${plainJson(JSON.stringify(value))}\n`);
}
