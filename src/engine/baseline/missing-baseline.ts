// The baseline that a run takes itself: of commands that may stay red and have none yet.

import type { CommitId, PhaseId } from "../../ids.ts";
import { baselineTaken } from "../../session/decide/facts.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { isClosed, type Session, type SessionPhase } from "../../session/session.ts";
import type { WorktreeBench } from "../attempt/place.ts";
import type { IsolationOptions } from "../isolation.ts";
import type { Stopping } from "../process/stopping.ts";
import { orReport, type Problem } from "../recovery/problem.ts";
import type { RunContext } from "../run-context.ts";
import { takeBaseline } from "./take-baseline.ts";

/** Records nothing when it is stopped or impossible: the commands must then pass. */
export async function takeMissingBaseline(context: RunContext, stopping: Stopping): Promise<void> {
  const session = requireSession(context.store.session);
  if (!context.isolation.isWatching) return;
  await takeFor(context, missingIn(session.phases, session), stopping);
}

export interface Verification extends Omit<WorktreeBench, "isolation"> {
  store: RunContext["store"];
  warn: RunContext["warn"];
  /** Where a snapshot can be taken; called only when a baseline is missing. */
  open: () => Promise<IsolationOptions>;
}

/** As takeMissingBaseline, for one phase whose work is in the project: of the commit that the first attempt of the session started from. */
export async function takeMissingOf(id: PhaseId, context: Verification, stopping: Stopping): Promise<void> {
  const session = requireSession(context.store.session);
  const commands = missingIn([requirePhase(session, id)], session);
  const options = commands.length === 0 ? undefined : await orReport(untaken(context), context.open);
  // The phase has failed when the user reads this.
  const advice = `. If the command already failed before the work: "maestro retry ${id}", then "maestro session transition ${id} completed --user-decision --reason 'failed before the work'"`;
  if (options !== undefined) await takeFor({ ...context, isolation: { options } }, commands, stopping, advice);
}

function untaken({ warn }: Pick<RunContext, "warn">): (problem: Problem) => void {
  return ({ message }) => warn(`The baseline could not be taken: ${message}`);
}

type Taking = Omit<Verification, "open"> & WorktreeBench;

async function takeFor(context: Taking, commands: readonly string[], stopping: Stopping, advice = ""): Promise<void> {
  const { store, limits, warn } = context;
  const session = requireSession(store.session);
  if (commands.length === 0) return;
  const commit = firstBase(session);
  if (commit === undefined && hasBegun(session)) {
    warn(
      `Too late to take a baseline: agents have worked in the project. These commands must pass: ${commands.join(", ")}${advice}`,
    );
    return;
  }
  const timeoutMs = limits.validationTimeoutMs;
  const baseline = await orReport(untaken(context), () =>
    takeBaseline(context, { commands, timeoutMs, session: session.session_id, commit }, stopping),
  );
  if (baseline == null) return;
  store.update(() => ({ events: [baselineTaken(baseline)], result: undefined }));
}

/** Commands of these phases that may stay red and have no baseline. */
function missingIn(phases: readonly SessionPhase[], { baseline }: Session): string[] {
  const open = phases.filter((phase) => !isClosed(phase)).flatMap(({ plan }) => plan?.not_worse ?? []);
  return [...new Set(open)].filter((command) => !baseline.some((one) => one.command === command));
}

function hasBegun({ phases }: Session): boolean {
  return phases.some(({ attempts }) => attempts.length > 0);
}

/** The commit that the first attempt of the session started from; undefined before it, and outside git. */
function firstBase({ phases }: Session): CommitId | undefined {
  const attempts = phases.flatMap((phase) => phase.attempts).sort((one, other) => one.seq - other.seq);
  return attempts.find(({ placed }) => placed !== undefined)?.placed?.base ?? undefined;
}
