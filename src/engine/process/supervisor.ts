// Starts attempts and sees to it that they end: each in a process group of its own, its output straight in files, its limits
// kept by one clock. Ours because no library ends a whole tree when the supervisor itself is killed.

import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { constants } from "node:os";
import { errno, reasonOf } from "../../errors.ts";
import { watchGit } from "../../git/running.ts";
import type { Killed } from "../../runtimes/runtime.ts";
import type { Lifeline } from "./lifeline.ts";
import { endAll, isGroupAlive, signalGroup } from "./tree.ts";

const TICK_MS = 100;
/** A longer pause between two ticks was not the agents' time: the machine slept, or somebody stopped us. */
const LONGEST_TICK_MS = 1000;

/**
 * What runs in front of an agent. It opens the files, which costs the engine nothing then, waits, and writes the exit code down, so that a
 * result is complete even if nobody is left to see it. Output is appended: a file that was cut goes on at its new end. A handler, not an
 * ignored signal: the agent itself must die of TERM. Who was told to end has no exit code of its own, unless it ended well.
 * `set -C`: the last file must be new.
 * Arguments: umask of the agent, exit file, stdin ("-": as it is), stdout, stderr, program, arguments.
 */
const wrapper = `umask 077; [ "$3" = - ] || exec <"$3"; exec >>"$4" 2>>"$5"; umask "$1"; exit_file=$2; shift 5
told=; trap told=1 HUP INT TERM; "$@"; code=$?
if [ -z "$told" ] || [ "$code" = 0 ]; then umask 077; set -C; printf '%s\\n' "$code" >"$exit_file"; fi; exit "$code"`;

const umask = process.umask().toString(8);

export interface Launch {
  program: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** The marker that its processes carry. */
  marker: string;
  /** A file, or an open one, which is closed here once the process has it. */
  stdin: string | number;
  /** Files that output is appended to. */
  stdout: string;
  stderr: string;
  exitFile: string;
  timeoutMs: number;
  /** Looked at on every tick: why it must be stopped, if it must. */
  check: () => Killed;
}

export interface Exit {
  /** As a shell has it; null when it could not be started. */
  code: number | null;
  killed: Killed;
  durationMs: number;
  /** Why it could not be started. */
  failure?: string;
}

interface Running {
  launch: Launch;
  group: number;
  started: number;
  /** Time that counts against the limit. */
  elapsed: number;
  killed: Killed;
  killedAt: number;
  /** What went wrong with us while it ran. */
  failure?: unknown;
}

export class Supervisor {
  readonly #lifeline: Lifeline;
  readonly #graceMs: number;
  readonly #running = new Set<Running>();
  #ticker: NodeJS.Timeout | undefined;
  #lastTick = 0;
  readonly #remains = new Set<Promise<void>>();
  #isHurried = false;
  readonly #leaveGit: () => void;

  constructor(lifeline: Lifeline, graceMs: number) {
    this.#lifeline = lifeline;
    this.#graceMs = graceMs;
    // A git that waits for something would outlive an engine that is killed.
    this.#leaveGit = watchGit({ started: (group) => lifeline.add(group), ended: (group) => lifeline.remove(group) });
  }

  /** Starts an attempt; resolves when its process has ended, however long a grandchild holds on to its output. */
  launch(launch: Launch): { exit: Promise<Exit>; stop: (why: Killed) => void } {
    const started = performance.now();
    const { program, args, cwd, env, stdin } = launch;
    const files = [launch.exitFile, typeof stdin === "string" ? stdin : "-", launch.stdout, launch.stderr];
    const words = ["-c", wrapper, "maestro-attempt", umask, ...files, program, ...args];
    let child: ReturnType<typeof spawn>;
    try {
      const first = typeof stdin === "string" ? "ignore" : stdin;
      child = spawn("/bin/sh", words, { cwd, env, stdio: [first, "ignore", "ignore"], detached: true });
    } catch (error) {
      // Node throws some errors (arguments that are too long) and emits others.
      if (errno(error) === undefined) throw error;
      const failed: Exit = { code: null, killed: null, durationMs: 0, failure: reasonOf(error) };
      return { exit: Promise.resolve(failed), stop: () => undefined };
    } finally {
      if (typeof stdin === "number") closeSync(stdin);
    }
    const running: Running = { launch, group: child.pid ?? 0, started, elapsed: 0, killed: null, killedAt: 0 };
    const exit = new Promise<Exit>((resolve, reject) => {
      child.once("error", (error) => {
        if (child.pid !== undefined) return;
        resolve({ code: null, killed: null, durationMs: 0, failure: reasonOf(error) });
      });
      child.once("exit", (code, signal) => {
        this.#running.delete(running);
        this.#endRemains(running);
        const durationMs = Math.round(performance.now() - started);
        if (running.failure !== undefined) reject(running.failure);
        resolve({ code: code ?? 128 + signalNumber(signal), killed: running.killed, durationMs });
      });
    });
    if (child.pid !== undefined) {
      this.#lifeline.add(child.pid);
      this.#running.add(running);
      this.#startTicking();
    }
    return { exit, stop: (why) => this.#end(running, why) };
  }

  /** Ends everything that runs: TERM, grace, KILL; `now`: KILL at once. */
  stopAll(why: Killed, now = false): void {
    for (const running of this.#running) {
      this.#end(running, why);
      if (now) signalGroup(running.group, "SIGKILL");
    }
    if (!now) return;
    this.#isHurried = true;
    this.#lifeline.hurry();
  }

  /** Resolves when nothing is left of any attempt, and the warden is gone too. */
  async close(): Promise<void> {
    clearInterval(this.#ticker);
    await Promise.all(this.#remains);
    this.#leaveGit();
    await this.#lifeline.close();
  }

  #end(running: Running, why: Killed): void {
    if (running.killed !== null || !this.#running.has(running)) return;
    running.killed = why;
    running.killedAt = performance.now();
    signalGroup(running.group, "SIGTERM");
  }

  /** What an attempt left behind in its group, or outside of it, does not outlive it for long. */
  #endRemains({ group, launch, killed, killedAt }: Running): void {
    // What ended by itself and left its group empty left nothing; of what was killed, a child may have gone elsewhere.
    if (killed === null && !isGroupAlive(group)) {
      this.#lifeline.remove(group);
      return;
    }
    // An attempt and what it leaves have one grace between them.
    const grace = killed === null ? this.#graceMs : Math.max(0, this.#graceMs - (performance.now() - killedAt));
    const remains = { groups: new Set([group]), runs: new Set([launch.marker]) };
    const ended = endAll(remains, grace, () => this.#isHurried).then(() => {
      this.#lifeline.remove(group);
      this.#remains.delete(ended);
    });
    this.#remains.add(ended);
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
      if (running.killed !== null) {
        if (now - running.killedAt >= this.#graceMs) signalGroup(running.group, "SIGKILL");
        continue;
      }
      const why = running.elapsed >= running.launch.timeoutMs ? "timeout" : check(running);
      if (why !== null) this.#end(running, why);
    }
    if (this.#running.size > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }
}

/** A look that fails (no more descriptors, a directory gone) ends the attempt; whoever waits for it is told why. */
function check(running: Running): Killed {
  try {
    return running.launch.check();
  } catch (error) {
    running.failure = error;
    return "stopped";
  }
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
