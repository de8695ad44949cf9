// The engine's end of the lifeline (see warden/main.ts): it starts the warden, tells it what runs, and starts another one
// should it die.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Writable } from "node:stream";

const RESTART_MS = 200;
const MAX_RESTARTS = 10;
/** Far less than it takes for the number of a process to be given again. */
const REMOVAL_MS = 200;

export class Lifeline {
  readonly #groups = new Set<number>();
  readonly #start: () => ChildProcessByStdio<Writable, null, null>;
  #warden: ChildProcessByStdio<Writable, null, null>;
  #closing = false;
  #restarts = 0;
  readonly #warn: (message: string) => void;
  #unsaid = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(program: string, run: string, graceMs: number, warn: (message: string) => void) {
    this.#warn = warn;
    this.#start = () => {
      // In a session of its own: a signal for the engine's whole group does not reach it.
      const warden = spawn(process.execPath, [program, run, String(graceMs)], {
        stdio: ["pipe", "ignore", "ignore"],
        env: {},
        cwd: "/",
        detached: true,
      });
      warden.stdin.on("error", () => undefined);
      warden.once("exit", () => this.#restartSoon());
      warden.once("error", () => this.#restartSoon());
      return warden;
    };
    this.#warden = this.#start();
  }

  add(group: number): void {
    this.#groups.add(group);
    this.#tell(`+${group}\n`, 0);
  }

  remove(group: number): void {
    this.#groups.delete(group);
    this.#tell(`-${group}\n`, REMOVAL_MS);
  }

  /** What is left in the end gets no grace. */
  hurry(): void {
    this.#tell("!\n", 0);
  }

  /** What is said within a moment goes in one write: every write wakes another process. */
  #tell(line: string, withinMs: number): void {
    this.#unsaid += line;
    if (this.#timer !== undefined && withinMs > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#speak(), withinMs);
  }

  #speak(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unsaid !== "" && !this.#warden.stdin.writableEnded) this.#warden.stdin.write(this.#unsaid);
    this.#unsaid = "";
  }

  /** Lets the warden end what is left; resolves when it has. May be called again. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#speak();
    if (this.#warden.exitCode !== null || this.#warden.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      this.#warden.once("exit", () => resolve());
      this.#warden.stdin.end();
    });
  }

  #restartSoon(): void {
    if (!this.#closing) setTimeout(() => this.#restart(), RESTART_MS);
  }

  #restart(): void {
    if (this.#closing) return;
    this.#restarts += 1;
    if (this.#restarts > MAX_RESTARTS) {
      this.#warn(
        "The process that ends agents when the engine is killed does not stay alive; this run goes on without it",
      );
      return;
    }
    this.#warden = this.#start();
    for (const group of this.#groups) this.#warden.stdin.write(`+${group}\n`);
  }
}
