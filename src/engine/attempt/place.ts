// Prepares the directory an attempt works in: a new worktree made from the current project, or the project itself. The starting state is
// recorded before the process starts, so that the attempt's changes can be determined afterwards.

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
import { type Command, declaredFiles, type Ground, type Moment } from "../isolation.ts";
import type { Stopping } from "../process/stopping.ts";
import { RUN_MARKER } from "../process/tree.ts";
import type { RunContext } from "../run-context.ts";
import { isTakenOver, scopeRules } from "./judge-work.ts";
import { whatLacks } from "./validation.ts";

/** How much of a failed setup's output the error shows. */
const MAX_TAIL_CHARS = 4000;

/** What work on a phase needs from the engine. */
export interface Control {
  /** Records events; resolves when they are durable. */
  write: (events: SessionEvent[]) => Promise<void>;
  stopping: Stopping;
}

/** Reserves the name of the phase's next worktree; null when the phase works in the project. */
export function worktreeName({ isolation }: RunContext, session: Session, phase: SessionPhase): string | null {
  return isolation.usesWorktree(session, phase) ? isolation.reserve(session) : null;
}

/** Identifies the attempt that a worktree belongs to, so that another engine can find it again. */
export function purposeOf({ run, phase, attempt }: { run: string; phase: PhaseId; attempt: number }): string {
  return `${run}/${phase}/${attempt}`;
}

/** The project root that the attempt's agent will see, known before the worktree exists. */
export function rootOf({ isolation, projectRoot }: RunContext, worktree: string | null): string {
  return worktree === null ? projectRoot : worktreeRoot(isolation.repository, worktree);
}

interface Placed {
  phase: PhaseId;
  attempt: number;
  name: string;
  worktree: string | null;
}

/** Throws when the attempt cannot be placed; that fails only this attempt. */
export async function placeAttempt(context: RunContext, placed: Placed, control: Control): Promise<Ground> {
  const { isolation, store, projectRoot } = context;
  if (!isolation.isWatching) return { root: projectRoot, worktree: null, before: null };
  const session = requireSession(store.session);
  const moment = await whenReadable(context, () => isolation.now(session), control.stopping);
  const { phase, attempt, worktree } = placed;
  if (moment.kind === "commit") warnAboutLeftOut(context, moment.snapshot);
  const ground: Ground =
    worktree !== null && moment.kind === "commit"
      ? await inNewWorktree(context, session, { ...placed, worktree }, moment.snapshot, control)
      : {
          root: projectRoot,
          worktree: null,
          before: isolation.beforeFirst(session, context.run, requirePhase(session, phase), moment),
        };
  const base = typeof ground.before === "string" ? ground.before : null;
  if (isPlacedLater(context)) await control.write([attemptPlaced({ phase, attempt, worktree, base })]);
  return ground;
}

/** Where the attempt works, when the state of the project is known before the attempt is recorded; undefined otherwise. */
export function knownGround(
  { isolation, projectRoot, run }: RunContext,
  session: Session,
  phase: SessionPhase,
  { worktree, moment }: { worktree: string | null; moment: Moment | undefined },
): Ground | undefined {
  if (moment === undefined || worktree !== null) return undefined;
  return { root: projectRoot, worktree, before: isolation.beforeFirst(session, run, phase, moment) };
}

/** Whether the attempt's place is recorded after its start: it has a commit to start from, or no place is recorded at all. */
export function isPlacedLater({ isolation }: RunContext): boolean {
  return isolation.options.repository !== null || !isolation.isWatching;
}

async function inNewWorktree(
  context: RunContext,
  session: Session,
  placed: Placed & { worktree: string },
  from: Snapshot,
  control: Control,
): Promise<Ground> {
  const { repository } = context.isolation;
  const purpose = purposeOf({ run: context.run, ...placed });
  const worktree = await addWorktree(repository, session.session_id, placed.worktree, from, purpose);
  try {
    const base = await setUp(context, session, placed, worktree, from, control);
    const carried = await workSoFar(context, requirePhase(session, placed.phase), base);
    const ready = carried === null ? worktree : await resetWorktree(repository, worktree, carried);
    return { root: worktree.root, worktree: { ...ready, warnings: worktree.warnings }, before: base };
  } catch (error) {
    await removeWorktree(repository, worktree.name);
    context.isolation.release(worktree.name, 0);
    throw error;
  }
}

const PATIENCE_MS = 1000;

/** Waits while the user has an unresolved merge, because the project cannot be read until then. */
export async function whenReadable<T>(context: RunContext, look: () => Promise<T>, stopping: Stopping): Promise<T> {
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof MaestroError) || error.code !== "conflict" || stopping.isStopped) throw error;
      warnOnce(context, `${error.message}. Waiting`);
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    }
  }
}

/** Warnings already shown in this run: they would be the same for every attempt. */
const shownWarnings = new WeakMap<RunContext, Set<string>>();

function warnOnce(context: RunContext, line: string): void {
  const known = shownWarnings.get(context) ?? new Set();
  shownWarnings.set(context, known);
  if (!known.has(line)) context.warn(line);
  known.add(line);
}

export function warnAboutLeftOut(context: RunContext, { nested, warnings }: Snapshot): void {
  for (const path of nested) warnOnce(context, `${path} is a separate git repository and is not included in worktrees`);
  for (const line of warnings) warnOnce(context, line);
}

/** Runs the setup command. Files it leaves that are not ignored belong to the attempt's starting state, not to its work. */
async function setUp(
  context: RunContext,
  session: Session,
  placed: Placed,
  worktree: Worktree,
  from: Snapshot,
  control: Control,
): Promise<CommitId> {
  const { isolation } = context;
  const { repository } = isolation;
  const { setup, exclude } = isolation.options;
  if (setup === "" || !(await runSetup(context, placed, worktree, control.stopping))) return from.commit;
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
  // A new file that the phase owns counts as its work, even when the setup created it.
  const rest = await treeWithout(repository, { tree: commit, base: from.commit, paths: owned });
  return commitTree(repository, { tree: rest, parents: [from.commit], message: "State after setup" });
}

/** The part of the run context that work in a worktree needs. */
export type WorktreeBench = Pick<
  RunContext,
  "run" | "batch" | "supervisor" | "environment" | "withheld" | "validator" | "redact"
> & {
  store: Pick<RunContext["store"], "location">;
  isolation: Pick<RunContext["isolation"], "options">;
  limits: Pick<RunContext["limits"], "validationTimeoutMs">;
};

/** False when it was stopped. `name`: of the log file it writes to; `phase` is absent when it is for no phase. */
export async function runSetup(
  context: WorktreeBench,
  placed: { phase?: PhaseId; name: string },
  worktree: Worktree,
  stopping: Stopping,
): Promise<boolean> {
  const { batch, supervisor, isolation, limits, redact } = context;
  const { setup } = isolation.options;
  if (setup === "") return true;
  const log = batch.resultPath(placed.name, "log");
  const marker = `${context.run}.${placed.name}.s`;
  const { exit, stop } = supervisor.launch({
    ...sandboxed(context, context.validator(setup), worktree),
    cwd: worktree.root,
    env: context.environment({ ...inWorktree(context), MAESTRO_PHASE: placed.phase ?? "", [RUN_MARKER]: marker }),
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
  const how = killed === "timeout" ? "timed out" : (failure ?? `exit code ${code}`);
  const lacking = whatLacks(context.withheld(`${setup}\n${printed}`));
  const detail = printed.slice(-MAX_TAIL_CHARS).trim();
  throw new MaestroError(
    "environment",
    `The setup command of the worktree failed (${how}): ${redact(setup)}${lacking}\n${detail}`.trim(),
  );
}

/** The work of the phase's last attempt on top of `base`, without changes outside its scope; null when there is none or it conflicts. */
export async function workSoFar(context: RunContext, phase: SessionPhase, base: CommitId): Promise<CommitId | null> {
  const { repository } = context.isolation;
  const last = phase.attempts.findLast(({ changes }) => changes !== undefined);
  // The project has it, as far as the user or another phase has not changed it since.
  const earlier = last?.integrated === undefined ? last?.changes : undefined;
  if (earlier === undefined || earlier.commit === null || earlier.base === null || earlier.total === 0) return null;
  // The list may be cut, so changes outside the scope could be missed.
  if (earlier.outside.length >= MAX_LISTED_OUTSIDE) return null;
  const rules = scopeRules(context, phase);
  if (!isTakenOver(rules)) return null;
  // The phase may have been granted some of these files since then.
  const unowned = outsideScope(
    phase,
    earlier.outside.map((path) => ({ path, kind: "modified" })),
  );
  const isAlwaysRejected = (path: string) => path.startsWith("../") || sensitivityOfFile(path) !== undefined;
  const outside = rules.ownership === "strict" ? unowned : unowned.filter(isAlwaysRejected);
  const theirs =
    outside.length === 0
      ? earlier.commit
      : await treeWithout(repository, { tree: earlier.commit, base: earlier.base, paths: outside });
  const merged = await mergeTrees(repository, { base: earlier.base, ours: base, theirs });
  if (merged.kind === "conflict") return null;
  return commitTree(repository, { tree: merged.tree, parents: [base], message: "Work of the previous attempt" });
}

/** Wraps the command in the sandbox of the worktree, if sandboxing is on. */
export function sandboxed(
  { isolation }: Pick<WorktreeBench, "isolation">,
  command: Command,
  worktree: Worktree,
): Command {
  return isolation.options.sandbox?.(command, worktree) ?? command;
}

/** Tells an agent's hooks and tools where the project's state is, so that an env file of the project cannot redirect them. */
export function stateFor(context: Pick<WorktreeBench, "store">, worktree: Worktree | null): Record<string, string> {
  if (worktree !== null) return inWorktree(context);
  return { [ATTEMPT_STATE_DIR]: context.store.location.shown };
}

/** The variables by which hooks, tools and commands find the project's state from inside a worktree. */
export function inWorktree({ store }: Pick<WorktreeBench, "store">): Record<string, string> {
  const { root, components } = store.location;
  const directory = [root, ...components].join("/");
  return { [STATE_DIR]: directory, [ATTEMPT_STATE_DIR]: directory };
}
