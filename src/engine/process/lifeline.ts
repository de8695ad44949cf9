// The engine's side of the warden process (see warden/main.ts): starts it, tells it which process groups run, and restarts it if it
// dies.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Writable } from "node:stream";

const RESTART_MS = 200;
const MAX_RESTARTS = 10;
/** Removals are sent with this delay, which is much shorter than the time until a process id is reused. */
const REMOVAL_MS = 200;

export class Lifeline {
  readonly #groups = new Set<number>();
  readonly #start: () => ChildProcessByStdio<Writable, null, null>;
  #warden: ChildProcessByStdio<Writable, null, null>;
  #closing = false;
  #restarts = 0;
  readonly #warn: (message: string) => void;
  #unsent = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(program: string, run: string, graceMs: number, warn: (message: string) => void) {
    this.#warn = warn;
    this.#start = () => {
      // Detached, so that a signal to the engine's process group does not reach it.
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
    this.#send(`+${group}\n`, 0);
  }

  remove(group: number): void {
    this.#groups.delete(group);
    this.#send(`-${group}\n`, REMOVAL_MS);
  }

  /** Processes that are left at the end are killed without a grace period. */
  hurry(): void {
    this.#send("!\n", 0);
  }

  /** Batches lines into one write, because every write wakes the warden. */
  #send(line: string, withinMs: number): void {
    this.#unsent += line;
    if (this.#timer !== undefined && withinMs > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#flush(), withinMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unsent !== "" && !this.#warden.stdin.writableEnded) this.#warden.stdin.write(this.#unsent);
    this.#unsent = "";
  }

  /** Lets the warden kill what is left; resolves when it has. May be called again. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#flush();
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
        "The warden, which kills agents when the engine is killed, keeps exiting; this run continues without it",
      );
      return;
    }
    this.#warden = this.#start();
    for (const group of this.#groups) this.#warden.stdin.write(`+${group}\n`);
  }
}
