// A home, a project with a worktree beside others, and a process in a sandbox among them: for tests of what it finds there.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "vitest";
import { cellFor, type Whereabouts } from "../../src/engine/sandbox/cell.ts";
import { inSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { bubblewrap, socketScope } from "./bubblewrap.ts";

/** A word that no process in the sandbox may read. */
export const CANARY = `canary-${randomUUID()}`;

/** A home, a project with a worktree beside others, and a bubblewrap. */
export class SandboxFixture {
  readonly base: string;
  readonly home: string;
  readonly project: string;
  readonly worktree: string;
  readonly env: Record<string, string>;

  constructor(parent: string) {
    mkdirSync(parent, { recursive: true });
    this.base = realpathSync(mkdtempSync(join(parent, "maestro-cell-")));
    this.home = join(this.base, "home");
    this.project = join(this.base, "project");
    this.worktree = join(this.base, "cache", "place", "p1-1", "project");
    this.write("home/.config/tool/settings", "readable\n");
    this.write("home/.local/bin/tool", "#!/bin/sh\necho tool\n");
    this.write("project/.gemini/state/progress.jsonl", "{}\n");
    this.write("project/.git/HEAD", CANARY);
    this.write("project/src/a.ts", "a\n");
    this.write("cache/place/p1-1/project/.git", `gitdir: ${this.project}/.git/worktrees/p1-1 ${CANARY}\n`);
    this.write("cache/place/p1-1/project/src/a.ts", "a\n");
    this.write("cache/place/p2-1/project/src/a.ts", CANARY);
    this.env = { PATH: process.env.PATH ?? "", HOME: this.home };
  }

  write(path: string, content: string, mode = 0o755): string {
    const full = join(this.base, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    chmodSync(full, mode);
    return full;
  }

  read(path: string): string {
    return readFileSync(join(this.base, path), "utf8");
  }

  link(target: string, path: string): void {
    mkdirSync(dirname(join(this.base, path)), { recursive: true });
    symlinkSync(target, join(this.base, path));
  }

  place(over: Partial<Whereabouts> = {}): Whereabouts {
    const gitDir = join(this.project, ".git");
    return {
      worktree: this.worktree,
      projectRoot: this.project,
      stateDir: join(this.project, ".gemini"),
      repository: { toplevel: this.project, gitDir, commonDir: gitDir, place: join(this.base, "cache", "place") },
      program: "/bin/sh",
      ...over,
      env: { ...this.env, ...over.env },
    };
  }

  /** Runs a line of shell inside. */
  sh(context: TestContext, script: string, over: Partial<Whereabouts> = {}, input = ""): Promise<Ended> {
    return this.run(context, ["-c", script], over, input);
  }

  run(
    context: TestContext,
    args: string[],
    over: Partial<Whereabouts> = {},
    input = "",
    scope = socketScope(),
  ): Promise<Ended> {
    const place = this.place(over);
    const command = { program: place.program, args };
    const { program, args: words } = inSandbox(bubblewrap(context), command, cellFor(place), scope);
    const child = spawn(program, words, { cwd: place.worktree, env: place.env, detached: true });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    // Some programs exit without reading it.
    child.stdin.on("error", () => undefined).end(input);
    return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}
