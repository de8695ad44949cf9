// Where an attempt works: a worktree of its own, made from the project as it is now, or the project itself. What it begins with is known
// before its process exists, so that what it did can be told afterwards.

import { devNull } from "node:os";
import { MaestroError } from "../../errors.ts";
import { changesBetween } from "../../git/objects/changes.ts";
import { commitTree } from "../../git/objects/commit.ts";
import { mergeTrees } from "../../git/objects/merge.ts";
import { treeWithout } from "../../git/objects/tree-without.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import { addWorktree, resetWorktree, treeOf, type Worktree, worktreeRoot } from "../../git/worktree/worktree.ts";
import type { CommitId, PhaseId } from "../../ids.ts";
import { sensitivityOfFile } from "../../secrets/sensitive-files.ts";
import { attemptPlaced } from "../../session/decide/facts.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { MAX_LISTED_OUTSIDE, type SessionEvent } from "../../session/events.ts";
import { outsideScope } from "../../session/scope.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { ATTEMPT_STATE_DIR, STATE_DIR } from "../../setting-layers.ts";
import { stripControls } from "../../text.ts";
import { type Command, declaredFiles, type Ground } from "../isolation.ts";
import type { Stopping } from "../process/stopping.ts";
import { RUN_MARKER } from "../process/tree.ts";
import type { RunContext } from "../run-context.ts";
import { isTakenOver, scopeRules } from "./judge-work.ts";

/** How much of a failed setup's output is told. */
const MAX_TAIL_CHARS = 4000;

/** What work on a phase asks of the engine. */
export interface Control {
  /** Records events; resolves when they are durable. */
  write: (events: SessionEvent[]) => Promise<void>;
  stopping: Stopping;
}

/** The name of the phase's next worktree; null when it works in the project. */
export function worktreeName({ isolation }: RunContext, session: Session, phase: SessionPhase): string | null {
  return isolation.usesWorktree(session, phase) ? isolation.reserve() : null;
}

/** What an attempt's worktree is made for, and found again by. */
export function purposeOf({ run, phase, attempt }: { run: string; phase: PhaseId; attempt: number }): string {
  return `${run}/${phase}/${attempt}`;
}

/** Where the attempt's agent will find the project, before it is there. */
export function rootOf({ isolation, projectRoot }: RunContext, worktree: string | null): string {
  return worktree === null ? projectRoot : worktreeRoot(isolation.repository, worktree);
}

interface Placed {
  phase: PhaseId;
  attempt: number;
  name: string;
  worktree: string | null;
}

/** Refused with an error that is the attempt's failure, no more. */
export async function placeAttempt(workshop: RunContext, placed: Placed, control: Control): Promise<Ground> {
  const { isolation, store, projectRoot } = workshop;
  if (!isolation.isWatching) return { root: projectRoot, worktree: null, before: null };
  const session = requireSession(store.session);
  const moment = await whenReadable(workshop, () => isolation.now(session), control.stopping);
  const { phase, attempt, worktree } = placed;
  if (moment.kind === "commit") tellLeftOut(workshop, moment.snapshot);
  const ground: Ground =
    worktree !== null && moment.kind === "commit"
      ? await inNewWorktree(workshop, session, { ...placed, worktree }, moment.snapshot, control)
      : {
          root: projectRoot,
          worktree: null,
          before: isolation.beforeFirst(session, workshop.run, requirePhase(session, phase), moment),
        };
  const base = typeof ground.before === "string" ? ground.before : null;
  await control.write([attemptPlaced({ phase, attempt, worktree, base })]);
  return ground;
}

async function inNewWorktree(
  workshop: RunContext,
  session: Session,
  placed: Placed & { worktree: string },
  from: Snapshot,
  control: Control,
): Promise<Ground> {
  const { repository } = workshop.isolation;
  const worktree = await addWorktree(repository, placed.worktree, from, purposeOf({ run: workshop.run, ...placed }));
  try {
    const base = await setUp(workshop, session, placed, worktree, from, control);
    const carried = await earlierWork(workshop, requirePhase(session, placed.phase), base);
    const ready = carried === null ? worktree : await resetWorktree(repository, worktree, carried);
    return { root: worktree.root, worktree: { ...ready, warnings: worktree.warnings }, before: base };
  } catch (error) {
    await removeWorktree(repository, worktree.name);
    workshop.isolation.release(worktree.name, 0);
    throw error;
  }
}

const PATIENCE_MS = 1000;

/** A merge that somebody has to resolve first makes a project unreadable for a while: nothing is lost by waiting for it. */
export async function whenReadable<T>(workshop: RunContext, look: () => Promise<T>, stopping: Stopping): Promise<T> {
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof MaestroError) || error.code !== "conflict" || stopping.isStopped) throw error;
      tellOnce(workshop, `${error.message}. Waiting`);
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    }
  }
}

/** Once in a run: it is the same for every attempt. */
const told = new WeakMap<RunContext, Set<string>>();

function tellOnce(workshop: RunContext, line: string): void {
  const known = told.get(workshop) ?? new Set();
  told.set(workshop, known);
  if (!known.has(line)) workshop.warn(line);
  known.add(line);
}

function tellLeftOut(workshop: RunContext, { nested, warnings }: Snapshot): void {
  for (const path of nested) tellOnce(workshop, `${path} is a repository of its own: worktrees are without it`);
  for (const line of warnings) tellOnce(workshop, line);
}

/** Runs the setup command; what it left that is not ignored is part of what the attempt begins with, and none of its work. */
async function setUp(
  workshop: RunContext,
  session: Session,
  placed: Placed,
  worktree: Worktree,
  from: Snapshot,
  control: Control,
): Promise<CommitId> {
  const { isolation } = workshop;
  const { repository } = isolation;
  const { setup, exclude } = isolation.options;
  if (setup === "" || !(await runSetup(workshop, placed, worktree, control.stopping))) return from.commit;
  const { tree, commit } = await treeOf(repository, worktree, {
    exclude,
    force: declaredFiles(session),
    isOver: true,
  });
  if (tree === from.tree) return from.commit;
  const made = await changesBetween(repository, from.commit, commit);
  const outside = new Set(outsideScope(requirePhase(session, placed.phase), made));
  const owned = made.filter(({ kind, path }) => kind === "created" && !outside.has(path)).map(({ path }) => path);
  if (owned.length === 0) return commit;
  // A new file that the phase owns is its work, whoever made it.
  const rest = await treeWithout(repository, { tree: commit, base: from.commit, paths: owned });
  return commitTree(repository, { tree: rest, parents: [from.commit], message: "What the setup left" });
}

/** False when it was stopped on the way. `name`: of the log it writes to. */
export async function runSetup(
  workshop: RunContext,
  placed: { phase: PhaseId; name: string },
  worktree: Worktree,
  stopping: Stopping,
): Promise<boolean> {
  const { batch, supervisor, isolation, limits, redact } = workshop;
  const { setup } = isolation.options;
  if (setup === "") return true;
  const log = batch.resultPath(placed.name, "log");
  const marker = `${workshop.run}.${placed.name}.s`;
  const { exit, stop } = supervisor.launch({
    ...sandboxed(workshop, workshop.validator(setup), worktree),
    cwd: worktree.root,
    env: workshop.environment({ ...inWorktree(workshop), MAESTRO_PHASE: placed.phase, [RUN_MARKER]: marker }),
    marker,
    stdin: devNull,
    stdout: log,
    stderr: log,
    exitFile: devNull,
    timeoutMs: limits.validationTimeoutMs,
    check: () => null,
  });
  stopping.runs(stop);
  const { code, killed, failure } = await exit;
  if (code === 0 && killed === null) return true;
  if (killed === "stopped") return false;
  const printed = redact(stripControls(batch.read(placed.name, "log", 8 * MAX_TAIL_CHARS)));
  const how = killed === "timeout" ? "ran out of time" : (failure ?? `exit code ${code}`);
  const detail = printed.slice(-MAX_TAIL_CHARS).trim();
  throw new MaestroError(
    "environment",
    `The setup of the worktree failed (${how}): ${redact(setup)}\n${detail}`.trim(),
  );
}

/** What the last attempt at the phase did, without what it had no right to, on top of `base`; null when there is nothing, or it does not fit. */
async function earlierWork(workshop: RunContext, phase: SessionPhase, base: CommitId): Promise<CommitId | null> {
  const { repository } = workshop.isolation;
  const earlier = phase.attempts.findLast(({ changes }) => changes !== undefined)?.changes;
  if (earlier === undefined || earlier.commit === null || earlier.base === null || earlier.total === 0) return null;
  // There may be more than are listed.
  if (earlier.outside.length >= MAX_LISTED_OUTSIDE) return null;
  const rules = scopeRules(workshop, phase);
  if (!isTakenOver(rules)) return null;
  // What it asked for since is its own by now.
  const unowned = outsideScope(
    phase,
    earlier.outside.map((path) => ({ path, kind: "modified" })),
  );
  const isBarred = (path: string) => path.startsWith("../") || sensitivityOfFile(path) !== undefined;
  const outside = rules.ownership === "strict" ? unowned : unowned.filter(isBarred);
  const theirs =
    outside.length === 0
      ? earlier.commit
      : await treeWithout(repository, { tree: earlier.commit, base: earlier.base, paths: outside });
  const merged = await mergeTrees(repository, { base: earlier.base, ours: base, theirs });
  if (merged.kind === "conflict") return null;
  return commitTree(repository, { tree: merged.tree, parents: [base], message: "What was done before" });
}

/** The command as it runs in a worktree. */
export function sandboxed({ isolation }: RunContext, command: Command, worktree: Worktree): Command {
  return isolation.options.sandbox?.(command, worktree) ?? command;
}

/** Where an agent's hooks and tools find the project's state, so that no env file of the project can name another place. */
export function stateFor(workshop: RunContext, worktree: Worktree | null): Record<string, string> {
  if (worktree !== null) return inWorktree(workshop);
  return { [ATTEMPT_STATE_DIR]: workshop.store.location.shown };
}

/** What hooks, tools and commands need to find the project's state from inside a worktree. */
export function inWorktree({ store }: RunContext): Record<string, string> {
  const { root, components } = store.location;
  const directory = [root, ...components].join("/");
  return { [STATE_DIR]: directory, [ATTEMPT_STATE_DIR]: directory };
}
