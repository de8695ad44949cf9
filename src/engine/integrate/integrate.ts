// Integrates the work of a successful attempt: merges it with the current project, validates the merged tree, and applies it as a whole or
// not at all. One change is applied at a time. A validation is valid only for the tree it ran on: if the project changes, it runs again.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { changesBetween } from "../../git/objects/changes.ts";
import { commitTree } from "../../git/objects/commit.ts";
import { type ConflictFile, mergeTrees } from "../../git/objects/merge.ts";
import { filesIn } from "../../git/objects/objects.ts";
import { wasStopped } from "../../git/running.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import { addWorktree } from "../../git/worktree/worktree.ts";
import { type CommitId, type PhaseId, phaseLabel, type TreeId } from "../../ids.ts";
import type { Killed } from "../../runtimes/runtime.ts";
import { conflictOn } from "../../session/conflict.ts";
import type { Warned } from "../../session/decide/attempt.ts";
import { phaseValidated } from "../../session/decide/facts.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { undeliveredText } from "../../session/deliverables.ts";
import type { FailureCode, FileConflict, SessionEvent } from "../../session/events.ts";
import { isApproved } from "../../session/review/review.ts";
import { outsideScope } from "../../session/scope.ts";
import { lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { readIntent } from "../../store/files/integration-file.ts";
import { isTakenOver, judgeWork, type ScopeRules, scopeRules } from "../attempt/judge-work.ts";
import { type Control, inWorktree, runSetup, sandboxed, whenReadable } from "../attempt/place.ts";
import { startValidation, type ValidationResult } from "../attempt/validation.ts";
import type { Command } from "../isolation.ts";
import { Stopping } from "../process/stopping.ts";
import type { RunContext } from "../run-context.ts";
import { bringIn } from "./bring-in.ts";
import { mergedDelivery } from "./deliverables.ts";

/** How many validations run while the project keeps changing, before the last one is accepted with a warning. */
const MAX_PROOFS = 4;

export type Integration =
  | { kind: "stopped" }
  | {
      kind: "done";
      attempt: number;
      from: TreeId;
      to: TreeId;
      /** False when the phase's changes are not integrated (read-only agent). */
      isTakenOver: boolean;
      warnings: Warned[];
    }
  /** The user has to approve the merged tree first. */
  | { kind: "review"; attempt: number; tree: TreeId; proof: Proof | null }
  | { kind: "invalid"; validation: Proof }
  | { kind: "conflict"; conflicts: FileConflict[] }
  /** The change must not be applied to the project at all. */
  | { kind: "refused"; message: string; code?: FailureCode }
  /** Git or the disk failed; the project is unchanged. */
  | { kind: "broken"; message: string };

export type Proof = Exclude<ValidationResult, { kind: "stopped" }>;

export interface IntegrationRun {
  done: Promise<Integration>;
  stop: (why: Killed) => void;
}

/** `write` records events; it resolves when they are durable. */
export function startIntegration(
  context: RunContext,
  id: PhaseId,
  write: (events: SessionEvent[]) => Promise<void>,
): IntegrationRun {
  const stopping = new Stopping();
  const done = integrate(context, id, { write, stopping }).catch((error: unknown): Integration => {
    const hasGivenUp = stopping.isStopped && error instanceof MaestroError && error.code === "conflict";
    return hasGivenUp || wasStopped(error) ? { kind: "stopped" } : brokenOrThrow(context, error);
  });
  return { done, stop: stopping.stop };
}

/** The agent's work is kept in any case. Only a half-applied change ends the run. */
function brokenOrThrow({ store }: RunContext, error: unknown): Integration {
  const isExpected = error instanceof MaestroError || errno(error) !== undefined;
  if (!isExpected || readIntent(store.location) !== undefined) throw error;
  return { kind: "broken", message: `The work could not be applied to the project: ${reasonOf(error)}` };
}

interface Candidate {
  phase: SessionPhase;
  attempt: number;
  base: CommitId;
  /** The attempt's work, or `base` when it is not integrated. */
  theirs: CommitId;
  isTakenOver: boolean;
  rules: ScopeRules;
  /** Changed files that the phase does not own under the current plan. */
  outside: string[];
}

async function integrate(context: RunContext, id: PhaseId, control: Control): Promise<Integration> {
  const { isolation } = context;
  const candidate = candidateOf(context, id);
  // The plan may have been revised since the attempt was judged.
  const { verdict } = judgeWork({ changes: candidate, where: "worktree", trouble: null }, candidate.rules);
  if (verdict !== null) {
    const { message, code } = verdict;
    return { kind: "refused", message, ...(code === undefined ? {} : { code }) };
  }
  // Other changes may be applied during the first validation; from the second on they wait, so that the retries end.
  const first = await round(context, candidate, control, {});
  if (first.kind !== "moved") return first;
  return isolation.gate.take(async () => {
    for (let proof = 2; ; proof += 1) {
      const isLast = proof === MAX_PROOFS;
      const result = await round(context, candidate, control, { isAlone: true, isLast });
      if (result.kind !== "moved") return result;
      if (isLast) return neverMatches(context, candidate, result);
    }
  });
}

/** The project changed since the snapshot, at least in these files. */
interface Moved {
  kind: "moved";
  paths: string[];
  /** The tree of the snapshot. */
  tree: TreeId;
}

/** The files never match the snapshot: an ignored file is in the way, or a filter changes content between git and the disk. */
async function neverMatches(context: RunContext, { phase }: Candidate, { paths, tree }: Moved): Promise<Integration> {
  const { isolation, store } = context;
  const known = await filesIn(isolation.repository, tree, paths);
  const inTheWay = paths.filter((path) => !known.has(path));
  const session = requireSession(store.session);
  if (inTheWay.length > 0) {
    return { kind: "conflict", conflicts: inTheWay.map((path) => conflictOn(session, phase, path)) };
  }
  const which = paths.length === 0 ? "the project" : paths.join(", ");
  const message = `The work could not be applied to the project: ${which} on disk never matches git. A content filter (git-lfs, git-crypt) changes it, or another program keeps writing it`;
  return { kind: "broken", message };
}

/** A snapshot of the current project, for a caller that already holds `isolation.tree`. */
function projectNow(context: RunContext, control: Control): Promise<Snapshot> {
  const { isolation, store } = context;
  const look = () => isolation.snapshot(requireSession(store.session));
  return whenReadable(context, look, control.stopping);
}

function candidateOf(context: RunContext, id: PhaseId): Candidate {
  const phase = requirePhase(requireSession(context.store.session), id);
  const attempt = lastAttempt(phase);
  const { base = null, commit = null, total = 0 } = attempt?.changes ?? {};
  if (attempt === undefined || base === null || commit === null)
    throw new Error(`phase ${id} has no work to take over`);
  const rules = scopeRules(context, phase);
  const mayComeIn = isTakenOver(rules);
  const outside = outsideScope(phase, attempt.changes?.files ?? []);
  return {
    phase,
    attempt: attempt.attempt,
    base,
    theirs: mayComeIn && total > 0 ? commit : base,
    isTakenOver: mayComeIn,
    rules,
    outside,
  };
}

async function round(
  context: RunContext,
  candidate: Candidate,
  control: Control,
  { isAlone = false, isLast = false }: { isAlone?: boolean; isLast?: boolean },
): Promise<Integration | Moved> {
  const { isolation } = context;
  const hasCommands = (candidate.phase.plan?.validation ?? []).length > 0;
  if (!hasCommands) return takeTurn(context, isAlone, () => mergeAndBring(context, candidate, control));
  const ours = await isolation.tree.take(() => projectNow(context, control));
  const merged = await merge(context, candidate, ours.commit);
  if (merged.kind !== "clean") return merged;
  const proving = { ...ours, parent: ours.commit, tree: merged.tree };
  const proof = isProved(candidate.phase, merged.tree) ? null : await prove(context, candidate, proving, control);
  if (proof?.kind === "stopped") return proof;
  if (proof?.kind === "fail") return { kind: "invalid", validation: proof };
  return takeTurn(context, isAlone, async () => {
    const now = await projectNow(context, control);
    if (now.tree === ours.tree) return bring(context, candidate, ours.tree, merged.tree, proof, control);
    if (!isLast) return { kind: "moved", paths: [], tree: now.tree };
    const result = await mergeAndBring(context, candidate, control, proof);
    return result.kind === "done" ? { ...result, warnings: [unproved] } : result;
  });
}

/** The commands passed on exactly this tree before the user was asked about it. */
function isProved({ validation }: SessionPhase, tree: TreeId): boolean {
  return validation?.result === "pass" && validation.evidence?.tree === tree;
}

const unproved: Warned = {
  code: "unjudged",
  message: "The project kept changing during validation: the validated tree differs from the project's current files",
};

/** Runs one change at a time. A caller with `isAlone` already holds the gate. */
function takeTurn<T>({ isolation }: RunContext, isAlone: boolean, work: () => Promise<T>): Promise<T> {
  const inside = () =>
    isolation.tree.take(async () => {
      await waitForUserGit(isolation.repository.gitDir);
      return work();
    });
  return isAlone ? inside() : isolation.gate.take(inside);
}

const GIT_WAIT_MS = 3000;

/** Waits for a git command of the user (stash, checkout, merge) to finish; a lock that stays longer is considered stale. */
async function waitForUserGit(gitDir: string): Promise<void> {
  const until = performance.now() + GIT_WAIT_MS;
  while (existsSync(join(gitDir, "index.lock")) && performance.now() < until) await sleep(50);
}

async function mergeAndBring(
  context: RunContext,
  candidate: Candidate,
  control: Control,
  proof: Proof | null = null,
): Promise<Integration | Moved> {
  const ours = await projectNow(context, control);
  const merged = await merge(context, candidate, ours.commit);
  return merged.kind !== "clean" ? merged : bring(context, candidate, ours.tree, merged.tree, proof, control);
}

async function isStillWanted(
  { store }: RunContext,
  id: PhaseId,
  validation: Proof | null,
  control: Control,
): Promise<boolean> {
  if (validation !== null) {
    const { kind: result, detail, evidence } = validation;
    await control.write([phaseValidated(id, { result, detail, evidence })]);
  }
  store.refresh();
  const session = requireSession(store.session);
  return !control.stopping.isStopped && !session.aborted && requirePhase(session, id).status === "in_progress";
}

async function bring(
  context: RunContext,
  { phase, attempt, isTakenOver: mayComeIn }: Candidate,
  from: TreeId,
  to: TreeId,
  validation: Proof | null,
  control: Control,
): Promise<Integration | Moved> {
  const { isolation, store } = context;
  const { session_id: session } = requireSession(store.session);
  const intent = { session, phase: phase.id, attempt, what: "integrate", from, to } as const;
  if (from !== to && mustAsk(requireSession(store.session), phase.id, attempt, to)) {
    return { kind: "review", attempt, tree: to, proof: validation };
  }
  try {
    // The user may have closed the phase, and the validation must be recorded before any file is changed.
    if (!(await isStillWanted(context, phase.id, validation, control))) return { kind: "stopped" };
    const brought = await bringIn({ repository: isolation.repository, location: store.location }, intent);
    isolation.changed();
    if (brought.kind === "changed") return { kind: "moved", paths: brought.paths, tree: from };
    return { kind: "done", attempt, from, to, isTakenOver: mayComeIn, warnings: [] };
  } catch (error) {
    if (!(error instanceof MaestroError) || error.code !== "path") throw error;
    return { kind: "refused", message: error.message };
  }
}

function mustAsk(session: Session, phase: PhaseId, attempt: number, tree: TreeId): boolean {
  return session.review === "phase" && !isApproved(session, phase, attempt, tree);
}

async function merge(
  context: RunContext,
  { phase, base, theirs }: Candidate,
  ours: CommitId,
): Promise<{ kind: "clean"; tree: TreeId } | (Integration & { kind: "conflict" | "refused" })> {
  const { isolation, store } = context;
  const { repository } = isolation;
  const merged = await mergeTrees(repository, { base, ours, theirs });
  if (merged.kind === "clean") return (await undeliveredIn(context, phase, merged.tree)) ?? merged;
  const changed = new Set(
    (await changesBetween(repository, base, ours)).flatMap(({ path, from }) => [path, from ?? path]),
  );
  const session = requireSession(store.session);
  return { kind: "conflict", conflicts: conflictsOf(session, phase, merged.files, changed) };
}

/** Another change to the project may have removed a file that the attempt delivered. */
async function undeliveredIn(context: RunContext, phase: SessionPhase, tree: TreeId) {
  const verdict = await mergedDelivery(context, phase, tree);
  const message = verdict === null ? null : undeliveredText(verdict);
  return message === null ? null : { kind: "refused" as const, message, code: "not_delivered" as const };
}

function conflictsOf(
  session: Session,
  phase: SessionPhase,
  files: readonly ConflictFile[],
  changed: ReadonlySet<string>,
): FileConflict[] {
  // For a file that blocks a directory, or a renamed directory, git may also name paths that did not change themselves.
  const known = files.filter(({ path }) => changed.has(path));
  return (known.length > 0 ? known : files).map(({ path }) => conflictOn(session, phase, path));
}

interface Proving {
  parent: CommitId;
  tree: TreeId;
  ignored: string[];
  links: string[];
}

/** Runs the validation commands on exactly the merged tree: in a new worktree, without ignored files that the attempt left. */
async function prove(
  context: RunContext,
  { phase, attempt }: Candidate,
  { parent, tree, ignored, links }: Proving,
  { stopping }: Control,
): Promise<ValidationResult> {
  const { isolation, limits, store } = context;
  const { repository } = isolation;
  const session = requireSession(store.session);
  const message = `Phase ${phase.id}, attempt ${attempt}, merged`;
  const commit = await commitTree(repository, { tree, parents: [parent], message });
  const from = { commit, ignored, links };
  const worktree = await addWorktree(repository, session.session_id, isolation.reserve(session), from);
  try {
    const { name } = lastAttempt(phase) ?? { name: phaseLabel(phase.id) };
    const isReady = await runSetup(context, { phase: phase.id, name: `${name}-proof` }, worktree, stopping);
    if (!isReady) return { kind: "stopped" };
    const subject = {
      cwd: worktree.root,
      tree,
      env: inWorktree(context),
      wrap: (command: Command) => sandboxed(context, command, worktree),
    };
    return await startValidation(context, phase.id, subject, stopping).done;
  } finally {
    await removeWorktree(repository, worktree.name);
    isolation.release(worktree.name, 2 * limits.graceMs);
  }
}
