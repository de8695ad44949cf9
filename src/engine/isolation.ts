// Isolates the attempts of a run from each other and takes snapshots of the project. Snapshots and integrations take turns, so that no
// snapshot shows a half-applied change.

import { MaestroError } from "../errors.ts";
import type { Repository } from "../git/repository.ts";
import { type Snapshot, snapshot } from "../git/snapshot/snapshot.ts";
import { TurnTaking } from "../git/turn-taking.ts";
import { freeName } from "../git/worktree/marker.ts";
import type { Worktree } from "../git/worktree/worktree.ts";
import type { CommitId } from "../ids.ts";
import type { HomePlace } from "../runtimes/runtime.ts";
import { ownedFiles } from "../session/decide/attempt.ts";
import { type Attempt, findPhase, lastAttempt, type Session, type SessionPhase } from "../session/session.ts";
import type { Listing } from "./attempt/listing.ts";
import { ReusedSnapshot } from "./attempt/reused-snapshot.ts";
import { RollingListing } from "./attempt/rolling-listing.ts";

export interface IsolationOptions {
  projectRoot: string;
  /** The prefix of its worktree names, which only one engine uses at a time. */
  prefix: string;
  /** `parallel`: the only phase of a plan, or one that runs alone, works in the project itself. `unwatched`: files are not examined at all. */
  worktrees: "all" | "parallel" | "none" | "unwatched";
  /** Null outside git. */
  repository: Repository | null;
  ownership: "strict" | "warn";
  /** Several attempts may work in the project at the same time. */
  isShared: boolean;
  /** Paths below the project that are not part of it. */
  exclude: readonly string[];
  /** Patterns of ignored files that a worktree needs. */
  include: readonly string[];
  /** The command that prepares a worktree; empty: none. */
  setup: string;
  /** Wraps a command in a sandbox around a worktree; null: commands run without a sandbox. */
  sandbox: ((command: Command, worktree: Pick<Worktree, "path" | "apart">) => Command) | null;
}

export interface Command {
  program: string;
  args: readonly string[];
  /** What a sandbox shows it of the user's home. Absent: what Gemini CLI needs. */
  home?: readonly HomePlace[] | undefined;
}

/** The state of the project at one moment: a commit, or a file listing outside git. */
export type Moment = { kind: "commit"; snapshot: Snapshot } | { kind: "listing"; listing: Listing };

/** Where an attempt works. */
export interface Ground {
  /** The project root that the agent sees. */
  root: string;
  worktree: Worktree | null;
  /** The state the attempt starts from: a commit, a listing outside git, or null when files are not examined. */
  before: CommitId | Listing | null;
}

export class Isolation {
  readonly options: IsolationOptions;
  /** Held by work that changes the project, or that must not see it change. */
  readonly tree = new TurnTaking();
  /** Held while a change is validated against the current project and no other change may be applied. */
  readonly gate = new TurnTaking();
  readonly #names = new Set<string>();
  /** The listing of the phase that works in the project; only one phase does at a time. */
  readonly #listings = new Map<string, Listing>();
  readonly #rolling: RollingListing;
  /** Set where several attempts work in a repository at the same time. */
  readonly #reused: ReusedSnapshot | null;
  #shared: { moment: Promise<Moment>; asked: number } | undefined;

  constructor(options: IsolationOptions) {
    this.options = options;
    const { projectRoot, repository, exclude, isShared } = options;
    this.#rolling = new RollingListing(projectRoot, { exclude });
    this.#reused = repository !== null && isShared ? new ReusedSnapshot(repository, exclude) : null;
  }

  get repository(): Repository {
    if (this.options.repository !== null) return this.options.repository;
    throw new MaestroError("environment", "The git repository that holds this session's work cannot be used now", {
      hint: '"maestro doctor" shows the reason.',
    });
  }

  get isWatching(): boolean {
    return this.options.worktrees !== "unwatched";
  }

  usesWorktree(session: Session, phase: SessionPhase): boolean {
    const { worktrees } = this.options;
    if (worktrees !== "parallel") return worktrees === "all";
    // A phase that began in a worktree continues in one, because its work so far is not in the project.
    const hasBegun = phase.attempts.some(({ placed }) => placed !== undefined && placed.worktree !== null);
    return hasBegun || (phase.parallel && session.phases.length > 1);
  }

  /**
   * Reserves a worktree name. A few names are reused, because agents keep notes about every directory they have worked in. An attempt on a
   * worker has its name before its worktree exists here, also after the engine that named it is gone.
   */
  reserve(session: Session): string {
    for (const id of session.running) {
      const attempt = lastAttempt(findPhase(session, id) as SessionPhase);
      const name = attempt?.remote === true && attempt.result === null ? attempt.placed?.worktree : undefined;
      if (name != null) this.#names.add(name);
    }
    const name = freeName(this.repository, this.options.prefix, this.#names);
    this.#names.add(name);
    return name;
  }

  /** The worktree is removed; its name is free again after `afterMs`, when all processes that worked there have ended. */
  release(name: string, afterMs: number): void {
    setTimeout(() => this.#names.delete(name), afterMs).unref();
  }

  /** The current state of the project; attempts that start together share one snapshot. */
  now(session: Session): Promise<Moment> {
    const asked = performance.now();
    if (this.#shared !== undefined && asked - this.#shared.asked < TOGETHER_MS) return this.#shared.moment;
    const moment = this.latest(session);
    this.#shared = { moment, asked };
    // Callers await the promise and handle its error; this only prevents an unhandled rejection.
    moment.catch(() => undefined);
    return moment;
  }

  /**
   * The state that a phase in the project is compared with: the files before its first attempt in this run. A retry can thus revert changes
   * outside its scope that an earlier attempt made, and is rejected if it leaves them.
   */
  beforeFirst(session: Session, run: string, phase: SessionPhase, now: Moment): CommitId | Listing {
    const first = this.options.isShared ? undefined : firstConsecutiveAttempt(session, run, phase);
    if (now.kind === "commit") return first?.placed?.base ?? now.snapshot.commit;
    if (first === undefined) return now.listing;
    const key = `${run} ${phase.id} ${first.attempt}`;
    const listing = this.#listings.get(key) ?? now.listing;
    this.#listings.clear();
    this.#listings.set(key, listing);
    return listing;
  }

  /** The state of the project after this call, when it is known without looking at the files; undefined otherwise. */
  async known(session: Session): Promise<Moment | undefined> {
    const snapshot = await this.#reused?.unchanged(() => declaredFiles(session));
    return snapshot === undefined ? undefined : { kind: "commit", snapshot };
  }

  /** The project has changed: attempts that start from now on need a new snapshot. */
  changed(): void {
    this.#shared = undefined;
  }

  /** The state of the project after this call. */
  async latest(session: Session): Promise<Moment> {
    if (this.options.repository === null) return { kind: "listing", listing: await this.#rolling.now() };
    const take = () => this.tree.take(() => this.snapshot(session));
    const snapshot = this.#reused === null ? take() : this.#reused.now(declaredFiles(session), take);
    return { kind: "commit", snapshot: await snapshot };
  }

  /** Ends the watching of the project. */
  close(): void {
    this.#rolling.close();
    this.#reused?.close();
  }

  /** `repository`: the project's, or one with other objects. */
  snapshot(session: Session, repository = this.repository): Promise<Snapshot> {
    const { exclude, include } = this.options;
    return snapshot(repository, { exclude, include, force: declaredFiles(session) });
  }
}

/** The first of the phase's consecutive attempts: no other phase ran and no user decision came between them. */
function firstConsecutiveAttempt(session: Session, run: string, phase: SessionPhase): Attempt | undefined {
  const consecutive = phase.attempts.slice(phase.attempts_at_decision ?? 0).filter((one) => one.run === run);
  const [first] = consecutive;
  if (first === undefined || !consecutive.every(({ placed }) => placed === undefined || placed.worktree === null))
    return undefined;
  const isDisturbed = session.phases.some(
    (other) => other !== phase && other.attempts.some(({ seq }) => seq > first.seq),
  );
  return isDisturbed ? undefined : first;
}

/** Launches within this time belong to one iteration of the engine. */
const TOGETHER_MS = 20;

/** Secrets that a snapshot never includes, even when a plan declares them. */
const secret = /(?:^|\/)\.env(?:\.[^/]*)?$|\.(?:pem|key|credentials)$/i;

/** Files that phases own by name: they are part of the work even when git ignores them. */
export function declaredFiles({ phases }: Session): string[] {
  const names = phases.flatMap((phase) => [...ownedFiles(phase), ...phase.granted]);
  return [...new Set(names)].filter((path) => !/[*?{[]|\/$|^\.$/.test(path) && !secret.test(path));
}
