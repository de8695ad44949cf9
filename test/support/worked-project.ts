// A project in git with a session whose attempts have left their work, as an engine records and keeps it. No engine runs.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { changesBetween } from "../../src/git/objects/changes.ts";
import { commitTree } from "../../src/git/objects/commit.ts";
import { openRepository } from "../../src/git/open.ts";
import { keepCommit } from "../../src/git/refs.ts";
import type { Repository } from "../../src/git/repository.ts";
import { type Snapshot, snapshot } from "../../src/git/snapshot/snapshot.ts";
import { requireSession } from "../../src/session/decide/operation.ts";
import type { SessionEvent } from "../../src/session/events.ts";
import type { Session } from "../../src/session/session.ts";
import { locateState, type StateLocation } from "../../src/store/location.ts";
import { projectStore } from "../../src/store/project-store.ts";
import { commandLine } from "./command-line.ts";
import { GitProject, workFiles } from "./git-repository.ts";
import { copySession, type PhaseSpec, Project, planPath, planText, type Run, type RunOptions } from "./project.ts";

const exclude = [".gemini/state", ".gemini/plans", ".gemini/parallel"];

export interface AttemptOptions {
  /** Its work is in the project. */
  integrated?: boolean;
  outside?: string[];
  /** Files that count though git ignores them. */
  force?: string[];
  /** Recorded as in a project without git. */
  unkept?: boolean;
}

export class WorkedProject {
  readonly git = new GitProject();
  /** The project: the repository, or a directory in it. */
  readonly path: string;
  readonly #shell = new Project();

  constructor(below = "") {
    this.path = join(this.git.path, below);
    mkdirSync(this.path, { recursive: true });
  }

  maestro(args: string[], { env = {}, ...options }: RunOptions = {}): Run {
    const own = { HOME: join(this.git.base, "home"), XDG_CACHE_HOME: this.git.cache };
    return this.#shell.maestro(args, { cwd: this.path, env: { ...own, ...env }, ...options });
  }

  /** A program that runs in the project. */
  start(command: string, args: string[], env: Record<string, string> = {}) {
    const own = { HOME: join(this.git.base, "home"), XDG_CACHE_HOME: this.git.cache };
    const options = { cwd: this.path, env: this.#shell.environment({ ...own, ...env }) };
    return spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  }

  /** As `maestro`, without starting a process: for commands whose process is not under test. */
  command(words: string[], { env = {}, input = "" }: Pick<RunOptions, "env" | "input"> = {}): Promise<Run> {
    const own = { HOME: join(this.git.base, "home"), XDG_CACHE_HOME: this.git.cache, ...env };
    const place = { path: this.path, environment: (extra = {}) => this.#shell.environment({ ...own, ...extra }) };
    return commandLine(place, words, { input });
  }

  /** On a terminal; the answer without its carriage returns. */
  onTerminal(command: string, env: Record<string, string> = {}): string {
    const own = { HOME: join(this.git.base, "home"), XDG_CACHE_HOME: this.git.cache, TERM: "xterm" };
    const run = this.#shell.run("script", ["-qec", command, "/dev/null"], { cwd: this.path, env: { ...own, ...env } });
    return run.stdout.replaceAll("\r\n", "\n");
  }

  get location(): StateLocation {
    return locateState(this.path, ".gemini");
  }

  async repository(): Promise<Repository> {
    const opening = await openRepository(this.path, join(this.git.cache, "maestro"));
    if (opening.kind !== "open") throw new Error(opening.reason);
    return opening.repository;
  }

  write(files: Record<string, string>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.path, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }

  /** What the user sees, without state. */
  files(): Record<string, string> {
    const all = Object.entries(workFiles(this.path)).filter(([name]) => !name.startsWith(".gemini/"));
    return Object.fromEntries(all.map(([name, content]) => [name, content.slice(2)]));
  }

  createSession(phases: PhaseSpec[] = [{ id: 1 }], title = "Task API"): void {
    if (!existsSync(join(this.path, ".gemini"))) {
      copySession(this.path, planText(phases, title));
      // The user's consent is recorded in the home, which is elsewhere here.
      cpSync(join(this.path, ".home"), join(this.git.base, "home"), { recursive: true });
      rmSync(join(this.path, ".home"), { recursive: true });
      return;
    }
    const path = join(this.path, planPath);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, planText(phases, title));
    const run = this.maestro(["session", "create", planPath]);
    if (run.code !== 0) throw new Error(run.stderr);
  }

  get session(): Session {
    const store = this.#store();
    store.read();
    return requireSession(store.session);
  }

  record(...events: SessionEvent[]): void {
    const store = this.#store();
    store.update(() => ({ events, result: undefined }));
    store.close();
  }

  /** An attempt that did what `edit` does: recorded and kept. The project is left as it was, unless its work was integrated. */
  async attempt(
    phase: string,
    edit: () => void,
    options: AttemptOptions = {},
  ): Promise<{ base: string; commit: string }> {
    const repository = await this.repository();
    const force = options.force ?? [];
    const take = (): Promise<Snapshot> => snapshot(repository, { exclude, include: [], force });
    const before = await take();
    const files = this.files();
    edit();
    const { tree } = await take();
    if (!options.integrated) this.#restore(files);
    const commit = await commitTree(repository, { tree, parents: [before.commit], message: "What an attempt left" });
    await this.#recordWork(repository, phase, before, { tree, commit }, options);
    return { base: before.commit, commit };
  }

  async #recordWork(
    repository: Repository,
    phase: string,
    before: Snapshot,
    after: { tree: string; commit: string },
    { integrated = false, outside = [], unkept = false }: AttemptOptions,
  ): Promise<void> {
    const { session_id: session, phases } = this.session;
    const found = phases.find(({ id }) => id === phase);
    const attempt = (found?.attempts.length ?? 0) + 1;
    const changes = await changesBetween(repository, before.tree, after.tree);
    const files = changes.map(({ binary, added, removed, ...file }) =>
      binary ? { ...file, added: null, removed: null } : { ...file, added, removed },
    );
    const about = { phase, attempt };
    const run = { run: "r1", runtime: "gemini", model: null, batch: session, name: `coder.p${phase}-${attempt}` };
    const sum = (count: "added" | "removed") => changes.reduce((all, one) => all + one[count], 0);
    const kept = unkept ? { base: null, commit: null } : { base: before.commit, commit: after.commit };
    const counted = { files, total: files.length, added: sum("added"), removed: sum("removed"), outside };
    const finished = { outcome: "success", exit_code: 0, signal: null, duration_ms: 1, usage: null } as const;
    if (!unkept) await keepCommit(repository, { session, phase, attempt, commit: after.commit });
    this.record(
      ...(found?.status === "pending"
        ? [{ type: "phase.moved", phase, from: "pending", to: "in_progress", hashes: {} } as const]
        : []),
      { type: "attempt.started", ...about, agent: "coder", ...run, prompt_bytes: 1, timeout_ms: 1000 },
      { type: "attempt.placed", ...about, worktree: "w", base: before.commit },
      { type: "attempt.changed", ...about, ...kept, ...counted },
      { type: "attempt.finished", ...about, ...finished },
      ...(integrated ? [{ type: "phase.integrated", ...about, from: before.tree, to: after.tree } as const] : []),
    );
  }

  #restore(files: Record<string, string>): void {
    for (const name of Object.keys(this.files())) if (!(name in files)) rmSync(join(this.path, name));
    this.write(files);
  }

  #store() {
    return projectStore(this.location, {
      now: () => new Date(),
      warn: () => undefined,
      maxRetries: () => 2,
      env: { HOME: join(this.git.base, "home") },
    });
  }

  remove(): void {
    this.#shell.remove();
    this.git.remove();
  }
}
