// The baseline that a run takes itself: of commands that may stay red and have none yet.

import type { CommitId } from "../../ids.ts";
import { baselineTaken } from "../../session/decide/facts.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { isClosed, type Session } from "../../session/session.ts";
import type { Stopping } from "../process/stopping.ts";
import { orReport } from "../recovery/problem.ts";
import type { RunContext } from "../run-context.ts";
import { takeBaseline } from "./take-baseline.ts";

/** Records nothing when it is stopped or impossible: the commands must then pass. */
export async function takeMissingBaseline(context: RunContext, stopping: Stopping): Promise<void> {
  const { store, isolation, limits, warn } = context;
  const session = requireSession(store.session);
  const commands = missingIn(session);
  if (commands.length === 0 || !isolation.isWatching) return;
  const commit = firstBase(session);
  if (commit === undefined && hasBegun(session)) {
    warn(
      `No baseline can be taken any more, because agents have worked in the project; must pass: ${commands.join(", ")}`,
    );
    return;
  }
  const timeoutMs = limits.validationTimeoutMs;
  const baseline = await orReport(
    ({ message }) => warn(`The baseline could not be taken: ${message}`),
    () => takeBaseline(context, { commands, timeoutMs, session: session.session_id, commit }, stopping),
  );
  if (baseline == null) return;
  store.update(() => ({ events: [baselineTaken(baseline)], result: undefined }));
}

function missingIn({ phases, baseline }: Session): string[] {
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
