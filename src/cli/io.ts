// The machine as a verb sees it. A verb gets it as an argument; only main.ts knows the real one.

import type { signalCodes } from "../exit-codes.ts";
import { plainJson } from "../text.ts";

export type EndingSignal = keyof typeof signalCodes;

export interface Io {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The answer. Text is made harmless on its way out; bytes stay as they are where no terminal is. */
  out(text: string | Uint8Array): void;
  /** Progress and warnings; made harmless likewise. */
  err(text: string): void;
  readStdin(): Promise<Uint8Array>;
  /** From now on a signal waits for the file operation in progress, so that nothing temporary is left behind. */
  deferSignals(): void;
  now(): Date;
  /** Takes over the signals that end a command; returns how to give them back. `isVital`: it goes on though nobody reads its output. */
  onSignal(handler: (signal: EndingSignal) => void, isVital?: boolean): () => void;
  /** Runs `before` when a signal ends the command and nothing else takes that signal; returns how to give that up. */
  beforeSignalEnds(before: () => void): () => void;
  /** Whether somebody can be asked: questions and answers are on a terminal. */
  interactive: boolean;
  /** Asks on the terminal; only when `interactive`. Null: the person left. */
  ask(question: string): Promise<string | null>;
  /** The size of the terminal that progress goes to; undefined when it is none. */
  screen(): { columns: number; rows: number } | undefined;
  /** Draws `lines` on that terminal over the last frame; `close` gives the cursor back. */
  frames(): { draw(lines: readonly string[]): void; close(): void };
  /** The answer goes to a terminal, on which control characters would act. */
  terminal: boolean;
  /** Colours are wanted: a terminal, and NO_COLOR is not set. */
  color: boolean;
}

/** Names of files may hold characters that JSON lets through and some terminals act on. */
export function printJson(io: Io, value: unknown): void {
  io.out(`${plainJson(JSON.stringify(value, null, 2))}\n`);
}

/** The same on one line. */
export function printJsonLine(io: Io, value: unknown): void {
  io.out(`${plainJson(JSON.stringify(value))}\n`);
}
