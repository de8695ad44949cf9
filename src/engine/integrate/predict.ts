// Predicts conflicts: while attempts run, it merges their work so far with each other and with the current project, and warns once about
// each conflict, early enough to act on it. It changes nothing, and uses a small share of the run's time.

import { errno, MaestroError } from "../../errors.ts";
import { changesBetween, type TreeChange } from "../../git/objects/changes.ts";
import { mergeTrees } from "../../git/objects/merge.ts";
import { withPassingObjects } from "../../git/objects/own-objects.ts";
import type { Repository } from "../../git/repository.ts";
import { treeOf, type Worktree } from "../../git/worktree/worktree.ts";
import type { CommitId, PhaseId, TreeId } from "../../ids.ts";
import { phaseWarned } from "../../session/decide/facts.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import type { SessionEvent } from "../../session/events.ts";
import { declaredFiles, type Ground } from "../isolation.ts";
import type { RunContext } from "../run-context.ts";

const LEAST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 15_000;
/** Each pause is this many times as long as the check before it. */
const PAUSE_FACTOR = 12;
const MAX_NAMED = 5;
const MAX_TREE_BYTES = 4 * 1024 * 1024;

export interface Running {
  phase: PhaseId;
  ground: Ground | null;
}

interface Watched {
  running: () => Running[];
  /** Records events without waiting for them. */
  warn: (events: SessionEvent[]) => void;
  /** Called with an error that ends the run. */
  fail: (error: unknown) => void;
}

/** An attempt's work so far. */
interface Progress {
  phase: PhaseId;
  base: CommitId;
  tree: TreeId;
  paths: ReadonlySet<string>;
}

export class Predictor {
  readonly #context: RunContext;
  readonly #watched: Watched;
  readonly #warned = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> = Promise.resolve();
  #isStopped = true;

  constructor(context: RunContext, watched: Watched) {
    this.#context = context;
    this.#watched = watched;
  }

  start(): void {
    if (this.#context.isolation.options.repository === null) return;
    this.#isStopped = false;
    this.#wait(LEAST_PAUSE_MS);
  }

  /** Resolves when the current check has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#checking;
  }

  #wait(ms: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      const began = performance.now();
      this.#checking = this.#check().then(() => this.#wait(pauseAfter(performance.now() - began)), this.#watched.fail);
    }, ms);
  }

  async #check(): Promise<void> {
    try {
      await withPassingObjects(this.#context.isolation.repository, async (repository) => {
        const all = await this.#progress(repository);
        for (const [at, one] of all.entries()) {
          for (const other of all.slice(at + 1)) await this.#compare(repository, one, other);
        }
        if (all.length > 0) await this.#compareWithProject(repository, all);
      });
    } catch (error) {
      // A worktree may disappear when its attempt ends, and half-written files cannot be read. The next check will succeed.
      if (!(error instanceof MaestroError) && errno(error) === undefined) throw error;
    }
  }

  async #progress(repository: Repository): Promise<Progress[]> {
    const { isolation, store } = this.#context;
    const options = { exclude: isolation.options.exclude, force: declaredFiles(requireSession(store.session)) };
    const all: Progress[] = [];
    for (const { phase, ground } of this.#watched.running()) {
      if (ground?.worktree == null || typeof ground.before !== "string") continue;
      const done = await this.#progressOf(repository, phase, ground.worktree, ground.before, options);
      if (done.paths.size > 0) all.push(done);
    }
    return all;
  }

  async #progressOf(
    repository: Repository,
    phase: PhaseId,
    worktree: Worktree,
    base: CommitId,
    options: { exclude: readonly string[]; force: readonly string[] },
  ): Promise<Progress> {
    // The tree is only used for this check, so large files are not read.
    const bound = { bytes: MAX_TREE_BYTES, counts: () => true };
    const { tree } = await treeOf(repository, worktree, { ...options, bound });
    return { phase, base, tree, paths: pathsOf(await changesBetween(repository, base, tree)) };
  }

  async #compare(repository: Repository, one: Progress, other: Progress): Promise<void> {
    if (![...one.paths].some((path) => other.paths.has(path))) return;
    // Rebase one attempt's work onto the other's base, then merge the other attempt's work on top.
    const moved = await mergeTrees(repository, { base: one.base, ours: other.base, theirs: one.tree });
    if (moved.kind === "conflict") return;
    const merged = await mergeTrees(repository, { base: other.base, ours: moved.tree, theirs: other.tree });
    if (merged.kind === "clean") return;
    const agent = requirePhase(requireSession(this.#context.store.session), one.phase).agents[0] ?? "unknown";
    this.#warnOnce(other.phase, merged.files, `phase ${one.phase} (${agent}), which is running now`);
  }

  async #compareWithProject(repository: Repository, all: readonly Progress[]): Promise<void> {
    const { isolation, store } = this.#context;
    const now = await isolation.tree.take(() => isolation.snapshot(requireSession(store.session), repository));
    for (const { phase, base, tree } of all) {
      const merged = await mergeTrees(repository, { base, ours: now.commit, theirs: tree });
      if (merged.kind === "conflict") this.#warnOnce(phase, merged.files, "the project, which has changed since");
    }
  }

  #warnOnce(phase: PhaseId, files: readonly { path: string; reason: string }[], other: string): void {
    const key = [phase, other, ...files.map(({ path }) => path)].join("\n");
    if (this.#warned.has(key) || this.#isStopped) return;
    this.#warned.add(key);
    const named = files.slice(0, MAX_NAMED).map(({ path, reason }) => `${path} (${reason})`);
    const more = files.length - named.length;
    const list = `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    const message = `Its current work conflicts with ${other}: ${list}`;
    this.#watched.warn([phaseWarned(phase, { code: "conflict_predicted", message })]);
  }
}

function pauseAfter(ms: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, PAUSE_FACTOR * ms));
}

function pathsOf(changes: readonly TreeChange[]): Set<string> {
  return new Set(changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])));
}
