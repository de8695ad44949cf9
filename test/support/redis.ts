// A real redis-server of Debian for a test, with a directory and a port of its own. A test may kill it and start it again.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { debianProgram, freePort } from "./debian-program.ts";

const START_MS = 20_000;

export class TestRedis {
  readonly port: number;
  readonly directory: string;
  readonly #program: string;
  readonly #options: readonly string[];
  #child: ChildProcess | undefined;

  constructor(program: string, port: number, options: readonly string[]) {
    this.port = port;
    this.#program = program;
    this.#options = options;
    this.directory = mkdtempSync(join(tmpdir(), "maestro-redis-"));
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it, or starts it again with what it has on disk; returns when it answers. */
  async start(): Promise<void> {
    const own = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.directory];
    const kept = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
    const child = spawn(this.#program, [...own, ...kept, ...this.#options], { stdio: "ignore" });
    this.#child = child;
    const end = Date.now() + START_MS;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || Date.now() > end)
        throw new Error(`redis-server does not start (${child.exitCode})`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Ends its process as a crash does, or as `signal` says. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    // A stopped or continued process does not end.
    if (signal !== "SIGSTOP" && signal !== "SIGCONT") await ended;
  }

  async close(): Promise<void> {
    this.#child?.kill("SIGCONT");
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** One command, each argument without blanks; the raw answer of the server. */
  send(...words: string[]): Promise<string> {
    const text = `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, "127.0.0.1", () => socket.write(text));
      socket.setEncoding("utf8");
      socket.once("data", (data) => {
        socket.destroy();
        resolve(String(data));
      });
      socket.once("error", reject);
    });
  }

  async #answers(): Promise<boolean> {
    try {
      return /^(?:\+PONG|-NOAUTH)/.test(await this.send("PING"));
    } catch {
      return false;
    }
  }
}

/** Without redis-server the test is skipped, with the reason. `options`: more of its command line. */
export async function startRedis(
  context: Pick<TestContext, "skip">,
  options: readonly string[] = [],
): Promise<TestRedis> {
  const program = debianProgram("/usr/bin/redis-server", "redis-server");
  if ("missing" in program) return context.skip(program.missing);
  const redis = new TestRedis(program.path, await freePort(), options);
  await redis.start();
  return redis;
}
