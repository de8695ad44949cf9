// Runs one attempt from placing it to examining its changes. finish.ts records the result.

import { randomHex } from "../../disk/random.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { commandLineOf } from "../../extension-path.ts";
import { wasStopped } from "../../git/running.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import { adoptWorktree } from "../../git/worktree/worktree.ts";
import type { Handoff } from "../../handoff/handoff.ts";
import type { PhaseId } from "../../ids.ts";
import { programRoot } from "../../program-root.ts";
import type { Killed } from "../../runtimes/runtime.ts";
import { type FileLists, requirePhase, requireSession } from "../../session/decide/operation.ts";
import type { SessionEvent } from "../../session/events.ts";
import type { Attempt } from "../../session/session.ts";
import { lastAttempt } from "../../session/session.ts";
import { REVIEWER, reviewText } from "../delegated/review-work.ts";
import { attemptDelivery } from "../integrate/deliverables.ts";
import type { Ground } from "../isolation.ts";
import { Stopping } from "../process/stopping.ts";
import type { RunContext } from "../run-context.ts";
import { attemptEnvironment, type PreparedAttempt, startAttempt, type Watcher } from "./attempt.ts";
import { type ExaminedWork, examine } from "./examine.ts";
import { adoptResult, type Finished, finishAttempt, neverStarted } from "./finish.ts";
import { isTakenOver, scopeRules } from "./judge-work.ts";
import { type Control, placeAttempt, purposeOf } from "./place.ts";

const RESPITE_MS = 1000;
const stoppedEarly = { kind: "interrupted", message: "The attempt was stopped before it started" } as const;

export interface RunningAttempt {
  stop: (why: Killed) => void;
  done: Promise<Finished>;
  /** Where the attempt works; null until it is placed. */
  ground: () => Ground | null;
}

/** How the engine starts attempts, and takes over those of a dead engine: here, or on workers. */
export interface AttemptRuns {
  run: typeof runAttempt;
  adopt: (context: RunContext, phase: PhaseId, watcher: Watcher, write: Control["write"]) => RunningAttempt;
}

/** `write` records events; it resolves when they are durable. */
export function runAttempt(
  context: RunContext,
  prepared: PreparedAttempt,
  watcher: Watcher,
  write: (events: SessionEvent[]) => Promise<void>,
): RunningAttempt {
  const stopping = new Stopping();
  let ground: Ground | null = null;
  let env: Record<string, string>;
  let told = prepared;
  const work = async (): Promise<Finished> => {
    try {
      ground = prepared.ground ?? (await placeAttempt(context, prepared, { write, stopping }));
      told = await withEvidence(context, prepared);
      env = attemptEnvironment(context, prepared, ground);
    } catch (error) {
      if (!isExpected(error)) throw error;
      if (stopping.isStopped) return neverStarted(prepared, stoppedEarly);
      const problem = ground === null ? "The working directory could not be prepared" : "The agent cannot be started";
      return neverStarted(prepared, { kind: "failure", message: `${problem}: ${reasonOf(error)}` });
    }
    if (stopping.isStopped) return neverStarted(prepared, stoppedEarly);
    const started = startAttempt(context, told, ground, env, watcher);
    stopping.runs(started.stop);
    const exit = await started.exit;
    return withExaminedWork(context, finishAttempt(context, started, exit), ground);
  };
  return {
    stop: stopping.stop,
    done: work(),
    ground: () => ground,
  };
}

/** A reviewer's prompt ends with what the session changed. It is read after the attempt is recorded: git must not run under the lock. */
export async function withEvidence(context: RunContext, prepared: PreparedAttempt): Promise<PreparedAttempt> {
  if (prepared.agent !== REVIEWER) return prepared;
  const { isolation, redact, store } = context;
  const repository = isolation.options.repository ?? "the project is not a git repository";
  const place = { repository: async () => repository, program: commandLineOf(programRoot) };
  const evidence = await reviewText(place, requireSession(store.session), randomHex(8));
  if (evidence === "") return prepared;
  return { ...prepared, prompt: `${prepared.prompt}\n${prepared.player.runtime.payload(redact(`${evidence}\n`))}` };
}

/** Takes over an attempt of a dead engine: a result in its files counts as if that engine had recorded it. */
export function adoptAttempt(context: RunContext, phase: PhaseId): RunningAttempt {
  return { stop: () => undefined, done: adopted(context, phase), ground: () => null };
}

async function adopted(context: RunContext, phase: PhaseId): Promise<Finished> {
  const attempt = lastAttempt(requirePhase(requireSession(context.store.session), phase));
  if (attempt === undefined) throw new Error(`phase ${phase} has no attempt to adopt`);
  const result = adoptResult(context, phase, attempt);
  const ground = groundOf(context, phase, attempt);
  const isMissing = (attempt.placed?.worktree ?? null) !== null && ground.worktree === null;
  return isMissing ? { ...result, blind: "its worktree no longer exists" } : withExaminedWork(context, result, ground);
}

/** Where an attempt of a dead engine worked. A listing was only in that engine's memory and is lost. */
function groundOf({ isolation, projectRoot }: RunContext, phase: PhaseId, { placed, run, attempt }: Attempt): Ground {
  const nowhere: Ground = { root: projectRoot, worktree: null, before: null };
  if (placed === undefined || isolation.options.repository === null) return nowhere;
  if (placed.worktree === null) return { ...nowhere, before: placed.base };
  const worktree = adoptWorktree(isolation.repository, placed.worktree, purposeOf({ run, phase, attempt })) ?? null;
  return { root: worktree?.root ?? projectRoot, worktree, before: worktree === null ? null : placed.base };
}

export async function withExaminedWork(context: RunContext, finished: Finished, ground: Ground): Promise<Finished> {
  const placed = { ...finished, root: ground.root };
  try {
    const work = await examine(context, finished, ground, () => integratesUnowned(context, finished.phase));
    return { ...placed, work, delivery: await deliveryOf(context, placed, work) };
  } catch (error) {
    if (!isExpected(error) || wasStopped(error)) throw error;
    return { ...placed, blind: reasonOf(error) };
  }
}

/** Null when the attempt did not succeed, or its phase declares no files. */
async function deliveryOf(context: RunContext, { phase, judged, root }: Finished, work: ExaminedWork | null) {
  if (judged.outcome.kind !== "success") return null;
  const reported = judged.handoff === null ? undefined : claimsOf(judged.handoff);
  const commit = work?.where === "worktree" ? work.changes.commit : null;
  return attemptDelivery(context, phase, { files: work?.files ?? null, commit, reported, root });
}

function claimsOf({ check }: Handoff): FileLists {
  return { created: check.files_created, modified: check.files_modified, deleted: check.files_deleted };
}

/** Whether changes that the phase does not own are integrated with a warning. */
function integratesUnowned(context: RunContext, id: PhaseId): boolean {
  const rules = scopeRules(context, requirePhase(requireSession(context.store.session), id));
  return rules.ownership === "warn" && isTakenOver(rules);
}

/** Errors of the file system and of git fail the attempt, not the engine. */
function isExpected(error: unknown): boolean {
  return error instanceof MaestroError || errno(error) !== undefined;
}

/** Removes the worktree of the phase's last attempt; its changes are kept in a commit. */
export async function removeLastWorktree(context: RunContext, phase: PhaseId): Promise<void> {
  const { isolation, store, warn, limits } = context;
  const last = lastAttempt(requirePhase(requireSession(store.session), phase));
  const name = last?.placed?.worktree ?? null;
  if (last === undefined || name === null || isolation.options.repository === null) return;
  const purpose = purposeOf({ phase, ...last });
  try {
    await removeWorktree(isolation.repository, name, purpose);
    isolation.release(name, 2 * limits.graceMs + RESPITE_MS);
  } catch (error) {
    if (!isExpected(error)) throw error;
    // The next engine removes it.
    if (wasStopped(error)) return;
    warn(`A worktree could not be removed: ${reasonOf(error)}`);
  }
}
