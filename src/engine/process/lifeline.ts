// The engine's side of the warden process (see warden/main.ts): starts it, has it start processes, reports which other process groups run,
// and restarts it if it dies.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { READY, type StartReport, type StartRequest } from "./start-request.ts";

const RESTART_MS = 200;
const MAX_RESTARTS = 10;
/** Removals are sent with this delay, which is much shorter than the time until a process id is reused. */
const REMOVAL_MS = 200;

/** What becomes of a process that was to start: first `started` or `failed`, and after `started` either `ended` or `lost`. */
export interface ProcessEvents {
  started: (pid: number) => void;
  failed: (reason: string) => void;
  ended: (code: number | null, signal: NodeJS.Signals | null) => void;
  /** The warden, whose child it is, was killed: no process reports its end. `pid` is null when it is unknown whether the process was started. */
  lost: (pid: number | null) => void;
}

type Warden = ChildProcessByStdio<Writable, Readable, null>;

interface Child {
  pid: number | null;
  events: ProcessEvents;
}

export class Lifeline {
  readonly #groups = new Set<number>();
  /** The processes that the warden starts or has started, by the id of the request. */
  readonly #children = new Map<number, Child>();
  #lastId = 0;
  readonly #start: () => Warden;
  #warden: Warden;
  /** The warden that has said that it runs. */
  #ready: Warden | undefined;
  readonly #ended = new WeakSet<Warden>();
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
        stdio: ["pipe", "pipe", "ignore"],
        env: {},
        cwd: "/",
        detached: true,
      });
      warden.stdin.on("error", () => undefined);
      this.#listen(warden);
      // Not "exit": its last reports may still be in the pipe.
      warden.once("close", () => this.#end(warden));
      warden.once("error", () => this.#end(warden));
      return warden;
    };
    this.#warden = this.#start();
  }

  /**
   * Has the warden start a process in a group of its own. The engine would copy its large memory for each process it starts and wait for
   * the copy; the warden is small. False when it cannot be done: the warden does not run yet, or no more.
   */
  start(request: Omit<StartRequest, "id">, events: ProcessEvents): boolean {
    // macOS starts processes without such a copy, and does not show whose process an orphan is.
    if (process.platform !== "linux" || this.#ready === undefined || this.#closing) return false;
    this.#lastId += 1;
    this.#children.set(this.#lastId, { pid: null, events });
    this.#send(`*${JSON.stringify({ id: this.#lastId, ...request } satisfies StartRequest)}\n`, 0);
    return true;
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

  #listen(warden: Warden): void {
    let unfinished = "";
    warden.stdout.setEncoding("utf8");
    warden.stdout.on("data", (chunk: string) => {
      const lines = `${unfinished}${chunk}`.split("\n");
      unfinished = lines.pop() ?? "";
      this.#ready = warden;
      for (const line of lines) if (line !== READY) this.#take(JSON.parse(line));
    });
  }

  #take(report: StartReport): void {
    const child = this.#children.get(report.id);
    if (child === undefined) return;
    if ("pid" in report) {
      child.pid = report.pid;
      this.#groups.add(report.pid);
      child.events.started(report.pid);
      return;
    }
    this.#children.delete(report.id);
    if ("failure" in report) child.events.failed(report.failure);
    else child.events.ended(report.code, report.signal);
  }

  /** The warden has exited. Its processes continue without it. */
  #end(warden: Warden): void {
    if (this.#closing || this.#ended.has(warden)) return;
    this.#ended.add(warden);
    this.#ready = undefined;
    // The next warden gets all groups again, but no open request: the process of such a request counts as lost.
    this.#unsent = "";
    const orphans = [...this.#children.values()];
    this.#children.clear();
    for (const { pid, events } of orphans) events.lost(pid);
    setTimeout(() => this.#restart(), RESTART_MS);
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
