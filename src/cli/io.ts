// The machine as a verb sees it. A verb gets it as an argument; only main.ts knows the real one.

export interface Io {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The answer. */
  out(text: string | Uint8Array): void;
  /** Progress and warnings. */
  err(text: string): void;
  readStdin(): Promise<Uint8Array>;
  /** From now on a signal waits for the file operation in progress, so that nothing temporary is left behind. */
  deferSignals(): void;
  now(): Date;
  /** Takes over the signals that end a run; returns how to give them back. */
  onSignal(handler: (signal: NodeJS.Signals) => void): () => void;
  /** Whether somebody can be asked: questions and answers are on a terminal. */
  interactive: boolean;
  /** Asks on the terminal; only when `interactive`. */
  ask(question: string): Promise<string>;
  /** The size of the terminal that progress goes to; undefined when it is none. */
  screen(): { columns: number; rows: number } | undefined;
  /** Colours are wanted: a terminal, and NO_COLOR is not set. */
  color: boolean;
}

export function printJson(io: Io, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}
