// A project whose attempts run on workers: a Redis server, an exchange, and worker processes with homes of their own.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { TestContext } from "vitest";
import { IsolatedProject } from "./isolated.ts";
import { type Background, background, until, withRemoved } from "./processes.ts";
import { type PhaseSpec, planPath, programPath } from "./project.ts";
import { startRedis, type TestRedis } from "./redis.ts";

/** Runs `use` with a project and a Redis server of its own. */
export async function within(
  context: Pick<TestContext, "skip">,
  phases: PhaseSpec[],
  use: (project: RemoteProject) => Promise<void>,
  lease?: Record<string, string>,
): Promise<void> {
  const redis = await startRedis(context);
  try {
    const project = new RemoteProject(redis, { "README.md": "hello\n" }, phases);
    if (lease !== undefined) project.lease = lease;
    await withRemoved(project, use);
  } finally {
    await redis.close();
  }
}

export const KEY = "0123456789abcdef0123456789abcdef";

/** Heartbeats are frequent, and a busy machine loses no attempt. */
const calm = { MAESTRO_WORKER_LEASE: "40s", MAESTRO_WORKER_RENEWAL: "500ms", MAESTRO_WORKER_SWEEP: "500ms" };
/** For tests in which a worker is lost: it is noticed soon. */
export const shortLease = { ...calm, MAESTRO_WORKER_LEASE: "3s" };

export interface WorkerSpec {
  name?: string;
  words?: string[];
  env?: Record<string, string>;
  /** The home of an earlier worker, which is restarted. */
  home?: string;
}

export class RemoteProject extends IsolatedProject {
  readonly redis: TestRedis;
  /** Its path. */
  readonly exchange: string;
  /** Its address, as the engine and workers are given it. */
  address: string;
  lease: Record<string, string> = calm;
  readonly #place = realpathSync(mkdtempSync(join(tmpdir(), "maestro-workers-")));
  #workers = 0;

  constructor(redis: TestRedis, files: Record<string, string>, phases: PhaseSpec[]) {
    super(files, phases);
    this.redis = redis;
    this.exchange = join(this.#place, "exchange.git");
    this.address = this.exchange;
    const template = join(process.env.VITEST_TEMPLATES ?? "", "exchange.git");
    if (!existsSync(template)) this.#makeTemplate(template);
    cpSync(template, this.exchange, { recursive: true });
  }

  /** An exchange is created once in each run of the tests: it takes a dozen processes. */
  #makeTemplate(path: string): void {
    const draft = join(this.#place, "template.git");
    const made = this.maestro(["exchange", "init", draft]);
    if (made.code !== 0) throw new Error(made.stderr);
    try {
      renameSync(draft, path);
    } catch (error) {
      // Another worker made it first.
      if (!existsSync(path)) throw error;
    }
  }

  newHome(): string {
    this.#workers += 1;
    // Below the project, so that what is left of it is found and ended with the test.
    const home = join(this.path, ".home", `worker-${this.#workers}`);
    mkdirSync(join(home, "bin"), { recursive: true });
    const launcher = `#!/bin/sh\nexec '${process.execPath}' '${programPath("stand-in")}' '${this.agents.journal}' "$@"\n`;
    writeFileSync(join(home, "bin", "gemini"), launcher);
    chmodSync(join(home, "bin", "gemini"), 0o755);
    return home;
  }

  /** A worker with a home, a cache and a program of its own. Resolves when it waits for work. */
  async worker({ name = `w${this.#workers + 1}`, words = [], env = {}, home = this.newHome() }: WorkerSpec = {}) {
    const own = {
      HOME: home,
      XDG_CACHE_HOME: join(home, "cache"),
      XDG_STATE_HOME: join(home, "state"),
      PATH: [join(home, "bin"), process.env.PATH].join(delimiter),
      MAESTRO_WORKER_KEY: KEY,
      ...this.lease,
      ...env,
    };
    const args = ["worker", "--queue", this.redis.url, "--exchange", this.address, "--name", name, "--grace", "300ms"];
    const worker = background(this, [...args, "--runtimes", "gemini", ...words], own);
    await until(
      `worker ${name} is ready`,
      () => /is ready|takes no order until/.test(worker.stderr()) || worker.child.exitCode !== null,
    );
    return Object.assign(worker, { home, name });
  }

  /** `maestro run` or `resume` with workers. */
  engine(
    words: string[] = [],
    env: Record<string, string> = {},
    verb = ["run", planPath, "--mode", "parallel"],
  ): Background {
    const args = [...verb, "--keep-open", "--grace", "300ms", "--workers", this.redis.url, "--exchange", this.address];
    const own = { ...this.agents.env(), PATH: process.env.PATH ?? "", MAESTRO_WORKER_KEY: KEY, ...this.lease, ...env };
    return background(this, [...args, ...words], own);
  }

  resumed(words: string[] = [], env: Record<string, string> = {}): Background {
    return this.engine(["--yes", ...words], env, ["resume"]);
  }

  /** The references of the exchange. */
  orders(): string[] {
    return execFileSync("git", ["for-each-ref", "--format=%(refname)"], { cwd: this.exchange, encoding: "utf8" })
      .split("\n")
      .filter((line) => line !== "");
  }

  override remove(): void {
    super.remove();
    rmSync(this.#place, { recursive: true, force: true });
  }
}
