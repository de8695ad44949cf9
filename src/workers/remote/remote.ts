// Runs the attempts of an engine on workers: the counterpart of src/engine/attempt/attempt-run.ts. With slots of this machine beside
// workers it runs some attempts here.

import { setTimeout as sleep } from "node:timers/promises";
import { crashPoint } from "../../disk/fault.ts";
import type { PreparedAttempt, Watcher } from "../../engine/attempt/attempt.ts";
import { type AttemptRuns, adoptAttempt, type RunningAttempt, runAttempt } from "../../engine/attempt/attempt-run.ts";
import { type Finished, neverStarted } from "../../engine/attempt/finish.ts";
import type { Control } from "../../engine/attempt/place.ts";
import type { Ground } from "../../engine/isolation.ts";
import { Stopping } from "../../engine/process/stopping.ts";
import type { Remote, RunContext } from "../../engine/run-context.ts";
import { reasonOf } from "../../errors.ts";
import type { PhaseId } from "../../ids.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { lastAttempt } from "../../session/session.ts";
import { isUnusable } from "../exchange/transport.ts";
import { follow } from "./follow.ts";
import { keepLateWork } from "./late.ts";
import { makeOrder, type OfferedOrder, readOffered } from "./offer.ts";
import { isPassing, type Station } from "./station.ts";

const RETRY_MS = 2000;

/** `localSlots`: how many attempts run on this machine at the same time. */
export function remoteOf(station: Station, localSlots: number): Remote & AttemptRuns {
  let free = localSlots;
  return {
    takes: (phase) => {
      if (free <= 0 || (phase.plan?.needs ?? []).length > 0) return true;
      free -= 1;
      return false;
    },
    run: (context, prepared, watcher, write) => {
      if (prepared.remote) return offerAttempt(station, context, prepared, watcher, write);
      const running = runAttempt(context, prepared, watcher, write);
      const done = running.done.finally(() => {
        free += 1;
      });
      return { ...running, done };
    },
    adopt: (context, phase, watcher, write) => adoptOffered(station, context, phase, { watcher, write }),
  };
}

function offerAttempt(
  station: Station,
  context: RunContext,
  prepared: PreparedAttempt,
  watcher: Watcher,
  write: Control["write"],
): RunningAttempt {
  const stopping = new Stopping();
  let ground: Ground | null = null;
  const place = (made: Ground) => {
    ground = made;
  };
  const work = async (): Promise<Finished> => {
    let offered: OfferedOrder | null;
    try {
      offered = await offer(station, context, prepared, { stopping, write });
    } catch (error) {
      if (!isPassing(error)) throw error;
      return neverStarted(prepared, { kind: "failure", message: `The attempt cannot be offered: ${reasonOf(error)}` });
    }
    if (offered === null) {
      return neverStarted(prepared, { kind: "interrupted", message: "The attempt was stopped before it started" });
    }
    const awaited = awaitedOf(context, prepared.phase, offered);
    return follow(context, station, awaited, { stopping, write, watcher, place, wasClaimed: false });
  };
  return { stop: stopping.stop, done: work(), ground: () => ground };
}

/** Null when it was stopped before a worker could get it. */
async function offer(
  station: Station,
  context: RunContext,
  prepared: PreparedAttempt,
  control: Control,
): Promise<OfferedOrder | null> {
  try {
    await keepLateWork(context, station, prepared.phase, control.write);
  } catch (error) {
    if (!isPassing(error)) throw error;
    context.warn(`The work of an earlier attempt of phase ${prepared.phase} cannot be read: ${reasonOf(error)}`);
  }
  const offered = await makeOrder(context, prepared, station.options.sender, control);
  // Attempts that are offered together have different places.
  const ordinal = station.enter(offered.key);
  for (let tries = 0; !control.stopping.isStopped; tries += 1) {
    try {
      await station.sendOrder(context.isolation.repository, offered);
      crashPoint("order-pushed");
      await station.addJob(offered, ordinal);
      crashPoint("job-added");
      return offered;
    } catch (error) {
      if (!isPassing(error) || isUnusable(error)) throw error;
      if (tries === 0) context.warn(`${reasonOf(error)}. Trying again`);
      await sleep(RETRY_MS);
    }
  }
  station.leave(offered.key);
  return null;
}

/** What is waited for, from the record of the phase's last attempt. */
function awaitedOf({ store }: RunContext, phase: PhaseId, offered: OfferedOrder) {
  const last = lastAttempt(requirePhase(requireSession(store.session), phase));
  const { worktree = null, base = null } = last?.placed ?? {};
  if (last === undefined || worktree === null || base === null) throw new Error(`phase ${phase} has no place`);
  const { attempt, name, run } = last;
  return { phase, attempt, name, run, worktree, base, offered };
}

/** An attempt of a dead engine: its delivery is taken, its worker is waited for, or it goes to the queue again. */
function adoptOffered(
  station: Station,
  context: RunContext,
  phase: PhaseId,
  { watcher, write }: { watcher: Watcher; write: Control["write"] },
): RunningAttempt {
  const last = lastAttempt(requirePhase(requireSession(context.store.session), phase));
  const offered = last?.remote === true && last.placed !== undefined ? readOffered(context, last.name) : undefined;
  if (offered === undefined) return adoptAttempt(context, phase);
  const stopping = new Stopping();
  let ground: Ground | null = null;
  const place = (made: Ground) => {
    ground = made;
  };
  const wasClaimed = last?.worker !== undefined;
  const awaited = awaitedOf(context, phase, offered);
  const done = (async () => {
    // The dead engine may have been killed before the order left.
    if (!wasClaimed) await resend(station, context, offered, stopping);
    return follow(context, station, awaited, { stopping, write, watcher, place, wasClaimed });
  })();
  return { stop: stopping.stop, done, ground: () => ground };
}

/** An order that arrived already is not changed; the queue adds only what it does not have. */
async function resend(station: Station, context: RunContext, offered: OfferedOrder, stopping: Stopping): Promise<void> {
  while (!stopping.isStopped) {
    try {
      await station.sendOrder(context.isolation.repository, offered);
      return;
    } catch (error) {
      if (!isPassing(error)) throw error;
      // Its worker then refuses it.
      if (isUnusable(error)) return;
      context.warn(`${reasonOf(error)}. Trying again`);
      await sleep(RETRY_MS);
    }
  }
}
