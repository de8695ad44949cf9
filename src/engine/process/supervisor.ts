// Starts processes and makes sure that they end: each in its own process group, with output straight to files, and limits checked by
// one timer. Hand-written because no library kills a whole process tree when the supervisor itself is killed.

import { spawn } from "node:child_process";
import { closeSync, existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { errno, reasonOf } from "../../errors.ts";
import { watchGit } from "../../git/running.ts";
import type { Killed } from "../../runtimes/runtime.ts";
import type { Lifeline, ProcessEvents } from "./lifeline.ts";
import { endAll, hasEnded, isGroupAlive, signalGroup } from "./tree.ts";

const TICK_MS = 100;
/** A longer gap between two ticks does not count against an agent's limit: the machine or this process was suspended. */
const LONGEST_TICK_MS = 1000;

/**
 * The shell script that starts an agent. It opens the files (so that the engine does not have to), waits, and writes the exit code, so that
 * the result is complete even if the engine has died. Output is appended, so that a truncated file continues at its new end. Signals get a
 * handler instead of being ignored, because the agent must still die of TERM. After a signal the exit code is written only if it is 0.
 * `set -C`: the exit file must not exist yet.
 * Arguments: umask of the agent, exit file, stdin ("-": inherited), stdout, stderr, program, arguments.
 */
const wrapper = `umask 077; [ "$3" = - ] || exec <"$3"; exec >>"$4" 2>>"$5"; umask "$1"; exit_file=$2; shift 5
told=; trap told=1 HUP INT TERM; "$@"; code=$?
if [ -z "$told" ] || [ "$code" = 0 ]; then umask 077; set -C; printf '%s\\n' "$code" >"$exit_file"; fi; exit "$code"`;

const LOST = "the warden, which started it, was killed";
const umask = process.umask().toString(8);

export interface Launch {
  program: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** The value of RUN_MARKER in the environment of its processes. */
  marker: string;
  /** A path, or an open descriptor, which is closed once the process has it. */
  stdin: string | number;
  /** Files that output is appended to. */
  stdout: string;
  stderr: string;
  exitFile: string;
  timeoutMs: number;
  /** Called on every tick: returns why the process must be stopped, or null. */
  check: () => Killed;
}

export interface Exit {
  /** The exit code as a shell reports it; null when the process could not be started. */
  code: number | null;
  killed: Killed;
  durationMs: number;
  /** Why it could not be started. */
  failure?: string;
}

interface Running {
  launch: Launch;
  /** Null until the process has started. */
  group: number | null;
  started: number;
  /** Time that counts against the time limit. */
  elapsed: number;
  killed: Killed;
  killedAt: number;
  /** An error of `check` while the process ran. */
  failure?: unknown;
  /** Set when no process reports its end: looks for it. */
  seekEnd?: () => void;
}

export class Supervisor {
  readonly #lifeline: Lifeline;
  readonly #graceMs: number;
  readonly #running = new Set<Running>();
  #ticker: NodeJS.Timeout | undefined;
  #lastTick = 0;
  readonly #leftovers = new Set<Promise<void>>();
  #isHurried = false;
  readonly #leaveGit: () => void;

  constructor(lifeline: Lifeline, graceMs: number) {
    this.#lifeline = lifeline;
    this.#graceMs = graceMs;
    // A git process that hangs would otherwise outlive a killed engine.
    this.#leaveGit = watchGit({ started: (group) => lifeline.add(group), ended: (group) => lifeline.remove(group) });
  }

  /** Starts a process; `exit` resolves when it has ended, even if a grandchild still holds its output open. */
  launch(launch: Launch): { exit: Promise<Exit>; stop: (why: Killed) => void } {
    const started = performance.now();
    const running: Running = { launch, group: null, started, elapsed: 0, killed: null, killedAt: 0 };
    this.#running.add(running);
    const exit = new Promise<Exit>((resolve, reject) => {
      const end = (code: number | null, failure?: string) => {
        this.#running.delete(running);
        this.#killLeftovers(running);
        const durationMs = Math.round(performance.now() - started);
        if (running.failure !== undefined) reject(running.failure);
        resolve({ code, killed: running.killed, durationMs, ...(failure === undefined ? {} : { failure }) });
      };
      const events: ProcessEvents = {
        started: (pid) => {
          running.group = pid;
          // It was stopped before its group was known.
          if (running.killed !== null) signalGroup(pid, "SIGTERM");
        },
        failed: (reason) => {
          this.#running.delete(running);
          resolve({ code: null, killed: null, durationMs: 0, failure: reason });
        },
        ended: (code, signal) => end(code ?? 128 + signalNumber(signal)),
        lost: (pid) => (pid === null ? this.#startAgain(running, events) : followOrphan(running, pid, end)),
      };
      this.#start(launch, events);
    });
    this.#startTicking();
    return { exit, stop: (why) => this.#terminate(running, why) };
  }

  #start(launch: Launch, events: ProcessEvents, isHere = false): void {
    const { program, args, cwd, env, stdin } = launch;
    const files = [launch.exitFile, typeof stdin === "string" ? stdin : "-", launch.stdout, launch.stderr];
    const words = ["-c", wrapper, "maestro-attempt", umask, ...files, program, ...args];
    // A descriptor is open in this process only.
    const isForWarden = typeof stdin === "string" && !isHere;
    if (isForWarden && this.#lifeline.start({ words: ["/bin/sh", ...words], cwd, env }, events)) return;
    try {
      const first = typeof stdin === "string" ? "ignore" : stdin;
      const child = spawn("/bin/sh", words, { cwd, env, stdio: [first, "ignore", "ignore"], detached: true });
      child.once("error", (error) => {
        if (child.pid === undefined) events.failed(reasonOf(error));
      });
      if (child.pid === undefined) return;
      this.#lifeline.add(child.pid);
      events.started(child.pid);
      child.once("exit", events.ended);
    } catch (error) {
      // Node throws some errors (arguments that are too long) and emits others.
      if (errno(error) === undefined) throw error;
      events.failed(reasonOf(error));
    } finally {
      if (typeof stdin === "number") closeSync(stdin);
    }
  }

  /** The warden was killed before it said whether it had started the process. If it had, the process is killed and has failed. */
  #startAgain(running: Running, events: ProcessEvents): void {
    const { launch } = running;
    const marked = { groups: new Set<number>(), runs: new Set([launch.marker]) };
    const ended = endAll(marked, this.#graceMs, () => this.#isHurried).then(() => {
      this.#leftovers.delete(ended);
      // A started process has created this file before anything else.
      if (existsSync(launch.stdout)) events.failed(LOST);
      else this.#start(launch, events, true);
    });
    this.#leftovers.add(ended);
  }

  /** Stops everything that runs: TERM, grace period, KILL. `now`: KILL at once. */
  stopAll(why: Killed, now = false): void {
    for (const running of this.#running) {
      this.#terminate(running, why);
      if (now) signal(running, "SIGKILL");
    }
    if (!now) return;
    this.#isHurried = true;
    this.#lifeline.hurry();
  }

  /** Resolves when all processes of all attempts and the warden have ended. */
  async close(): Promise<void> {
    clearInterval(this.#ticker);
    await Promise.all(this.#leftovers);
    this.#leaveGit();
    await this.#lifeline.close();
  }

  #terminate(running: Running, why: Killed): void {
    if (running.killed !== null || !this.#running.has(running)) return;
    running.killed = why;
    running.killedAt = performance.now();
    signal(running, "SIGTERM");
  }

  /** Kills processes that an attempt left behind, inside or outside its group. */
  #killLeftovers({ group, launch, killed, killedAt }: Running): void {
    if (group === null) return;
    // A process that ended by itself with an empty group left nothing; a child of a killed process may have moved to another group.
    if (killed === null && !isGroupAlive(group)) {
      this.#lifeline.remove(group);
      return;
    }
    // An attempt and the processes it leaves share one grace period.
    const grace = killed === null ? this.#graceMs : Math.max(0, this.#graceMs - (performance.now() - killedAt));
    const remains = { groups: new Set([group]), runs: new Set([launch.marker]) };
    const ended = endAll(remains, grace, () => this.#isHurried).then(() => {
      this.#lifeline.remove(group);
      this.#leftovers.delete(ended);
    });
    this.#leftovers.add(ended);
  }

  #startTicking(): void {
    if (this.#ticker !== undefined) return;
    this.#lastTick = performance.now();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    const now = performance.now();
    const passed = Math.min(now - this.#lastTick, LONGEST_TICK_MS);
    this.#lastTick = now;
    for (const running of this.#running) {
      running.elapsed += passed;
      running.seekEnd?.();
      if (running.killed !== null) {
        if (now - running.killedAt >= this.#graceMs) signal(running, "SIGKILL");
        continue;
      }
      const why = running.elapsed >= running.launch.timeoutMs ? "timeout" : check(running);
      if (why !== null) this.#terminate(running, why);
    }
    if (this.#running.size > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }
}

/** A check that throws (out of descriptors, directory deleted) stops the process, and `exit` rejects with the error. */
function check(running: Running): Killed {
  try {
    return running.launch.check();
  } catch (error) {
    running.failure = error;
    return "stopped";
  }
}

/** The warden, whose child it is, was killed: its end is seen in the list of processes, its exit code in the exit file. */
function followOrphan(running: Running, pid: number, end: (code: number | null, failure?: string) => void): void {
  running.seekEnd = () => {
    if (!hasEnded(pid)) return;
    const code = exitCodeIn(running.launch.exitFile);
    if (code === null && running.killed === null) end(null, LOST);
    else end(code ?? 128 + constants.signals.SIGTERM);
  };
}

/** A process that has not started yet gets its signal when it has. */
function signal({ group }: Running, name: NodeJS.Signals): void {
  if (group !== null) signalGroup(group, name);
}

/** Null when the file does not exist or has no code, as that of a process that was killed. */
function exitCodeIn(path: string): number | null {
  try {
    const text = readFileSync(path, "latin1").trim();
    return /^\d{1,3}$/.test(text) ? Number(text) : null;
  } catch (error) {
    if (errno(error) === "ENOENT") return null;
    throw error;
  }
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
