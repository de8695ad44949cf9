// How the attempts of a run are kept apart, and what is known about the project as a whole. Snapshots and integrations take turns: nobody
// may see the project while a change is half in it.

import { MaestroError } from "../errors.ts";
import type { Repository } from "../git/repository.ts";
import { type Snapshot, snapshot } from "../git/snapshot/snapshot.ts";
import { TurnTaking } from "../git/turn-taking.ts";
import { freeName } from "../git/worktree/marker.ts";
import type { Worktree } from "../git/worktree/worktree.ts";
import type { CommitId } from "../ids.ts";
import { ownedFiles } from "../session/decide/attempt.ts";
import type { Attempt, Session, SessionPhase } from "../session/session.ts";
import { type Listing, listProject } from "./attempt/listing.ts";

export interface IsolationOptions {
  projectRoot: string;
  /** How the names of its worktrees begin: one engine has them to itself. */
  prefix: string;
  /** `parallel`: a phase that is alone in its plan, or is to run alone, works in the project itself. `unwatched`: nobody looks at files at all. */
  worktrees: "all" | "parallel" | "none" | "unwatched";
  /** Null outside git. */
  repository: Repository | null;
  ownership: "strict" | "warn";
  /** Several attempts may be at work in the project at the same time. */
  isShared: boolean;
  /** Below the project and no part of it. */
  exclude: readonly string[];
  /** Ignored files that a worktree needs, as patterns. */
  include: readonly string[];
  /** Prepares a worktree; empty: nothing to do. */
  setup: string;
  /** Puts a command into a sandbox around a worktree; null: it runs as it is. */
  sandbox: ((command: Command, worktree: Pick<Worktree, "path" | "apart">) => Command) | null;
}

export interface Command {
  program: string;
  args: readonly string[];
}

/** The project at one moment: a commit, or outside git what is where. */
export type Moment = { kind: "commit"; snapshot: Snapshot } | { kind: "listing"; listing: Listing };

/** Where an attempt works. */
export interface Ground {
  /** The agent's project. */
  root: string;
  worktree: Worktree | null;
  /** What it begins with: a commit, a listing outside git, null when nobody looks. */
  before: CommitId | Listing | null;
}

export class Isolation {
  readonly options: IsolationOptions;
  /** Whoever changes the project, or must not see it change. */
  readonly tree = new TurnTaking();
  /** Whoever proves a change on the project as it is, and must not see others bring theirs in meanwhile. */
  readonly gate = new TurnTaking();
  readonly #names = new Set<string>();
  /** Of the phase at work in the project, which is one at a time. */
  readonly #listings = new Map<string, Listing>();
  #shared: { moment: Promise<Moment>; asked: number } | undefined;

  constructor(options: IsolationOptions) {
    this.options = options;
  }

  get repository(): Repository {
    if (this.options.repository !== null) return this.options.repository;
    throw new MaestroError("environment", "The work of this session is in a git repository, which cannot be used now", {
      hint: '"maestro doctor" says why.',
    });
  }

  get isWatching(): boolean {
    return this.options.worktrees !== "unwatched";
  }

  usesWorktree(session: Session, phase: SessionPhase): boolean {
    const { worktrees } = this.options;
    if (worktrees !== "parallel") return worktrees === "all";
    // Who has begun in one goes on in one: its work so far is not in the project.
    const hasBegun = phase.attempts.some(({ placed }) => placed !== undefined && placed.worktree !== null);
    return hasBegun || (phase.parallel && session.phases.length > 1);
  }

  /** A name for a worktree. The same few are used again and again: agents keep notes about every directory they ever worked in. */
  reserve(): string {
    const name = freeName(this.repository, this.options.prefix, this.#names);
    this.#names.add(name);
    return name;
  }

  /** The worktree is gone; `afterMs` later nothing is left of whoever worked there. */
  release(name: string, afterMs: number): void {
    setTimeout(() => this.#names.delete(name), afterMs).unref();
  }

  /** The project as it is now; attempts that start together share it. */
  now(session: Session): Promise<Moment> {
    const asked = performance.now();
    if (this.#shared !== undefined && asked - this.#shared.asked < TOGETHER_MS) return this.#shared.moment;
    const moment = this.tree.take(() => this.look(session));
    this.#shared = { moment, asked };
    // Whoever asked hears of it.
    moment.catch(() => undefined);
    return moment;
  }

  /**
   * What a phase in the project is judged against: its files before its first attempt in this run, so that a retry may take back what an
   * attempt before it had no right to, and cannot get away with leaving it there.
   */
  beforeFirst(session: Session, run: string, phase: SessionPhase, now: Moment): CommitId | Listing {
    const first = this.options.isShared ? undefined : firstOfRow(session, run, phase);
    if (now.kind === "commit") return first?.placed?.base ?? now.snapshot.commit;
    if (first === undefined) return now.listing;
    const key = `${run} ${phase.id} ${first.attempt}`;
    const listing = this.#listings.get(key) ?? now.listing;
    this.#listings.clear();
    this.#listings.set(key, listing);
    return listing;
  }

  /** The project has changed: who starts from here on starts from that. */
  changed(): void {
    this.#shared = undefined;
  }

  /** As `now`, for somebody whose turn it is. */
  async look(session: Session): Promise<Moment> {
    const { projectRoot, repository, exclude } = this.options;
    if (repository === null) return { kind: "listing", listing: await listProject(projectRoot, { exclude }) };
    return { kind: "commit", snapshot: await this.snapshot(session) };
  }

  snapshot(session: Session): Promise<Snapshot> {
    const { exclude, include } = this.options;
    return snapshot(this.repository, { exclude, include, force: declaredFiles(session) });
  }
}

/** The first of the attempts at the phase that followed each other without anybody else at work or a person's word between them. */
function firstOfRow(session: Session, run: string, phase: SessionPhase): Attempt | undefined {
  const row = phase.attempts.slice(phase.attempts_at_decision ?? 0).filter((one) => one.run === run);
  const [first] = row;
  if (first === undefined || !row.every(({ placed }) => placed === undefined || placed.worktree === null))
    return undefined;
  const isDisturbed = session.phases.some(
    (other) => other !== phase && other.attempts.some(({ seq }) => seq > first.seq),
  );
  return isDisturbed ? undefined : first;
}

/** Launches of one turn of the engine. */
const TOGETHER_MS = 20;

/** What no snapshot takes along because a plan says so: keys and the like stay where they are. */
const secret = /(?:^|\/)\.env(?:\.[^/]*)?$|\.(?:pem|key|credentials)$/i;

/** Files that phases own by name: they are part of the work also when git ignores them. */
export function declaredFiles({ phases }: Session): string[] {
  const names = phases.flatMap((phase) => [...ownedFiles(phase), ...phase.granted]);
  return [...new Set(names)].filter((path) => !/[*?{[]|\/$|^\.$/.test(path) && !secret.test(path));
}
