// Waits for the end of an attempt that workers were offered: receives its messages, reads its state in the queue, and takes its delivery from
// the exchange. Whatever the queue says, an attempt is lost only when the exchange has nothing of it.

import { crashPoint } from "../../disk/fault.ts";
import type { Watcher } from "../../engine/attempt/attempt.ts";
import { type Finished, neverStarted } from "../../engine/attempt/finish.ts";
import { shownActivity } from "../../engine/attempt/output-follower.ts";
import type { Control } from "../../engine/attempt/place.ts";
import { OTHER_WORKER_KEY } from "../../engine/attempt/verdict.ts";
import type { Ground } from "../../engine/isolation.ts";
import type { RunContext } from "../../engine/run-context.ts";
import { reasonOf } from "../../errors.ts";
import type { CommitId } from "../../ids.ts";
import { noProgress, type Outcome } from "../../runtimes/runtime.ts";
import { attemptClaimed } from "../../session/decide/facts.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { isUnusable } from "../exchange/transport.ts";
import type { WorkerSign } from "../protocol/sign.ts";
import type { JobState } from "../queue/job-state.ts";
import { otherKeyMessage, shownName } from "./other-key.ts";
import { isPassing, type Station } from "./station.ts";
import { type Step, stepOf } from "./step.ts";
import { type Awaited, fetchDelivery, finishDelivered, type TakenDelivery } from "./take.ts";

const MAX_POLL_MS = 5000;
/** What a worker needs to deliver, beside the grace period of its agent. */
const DELIVER_MS = 10_000;
const LOOK_MS = 500;

export interface Following extends Control {
  watcher: Watcher;
  /** Called when the attempt has a worktree here. */
  place: (ground: Ground) => void;
  wasClaimed: boolean;
}

export async function follow(
  context: RunContext,
  station: Station,
  awaited: Awaited,
  following: Following,
): Promise<Finished> {
  const one = new Followed(context, station, awaited, following);
  try {
    return await one.end();
  } finally {
    one.close();
  }
}

class Followed {
  readonly #context: RunContext;
  readonly #station: Station;
  readonly #awaited: Awaited;
  readonly #following: Following;
  readonly #unlisten: () => void;
  #wasClaimed: boolean;
  #claimedAt = performance.now();
  /** The delivery that a sign announced. */
  #announced: CommitId | undefined;
  #missingSince: number | null = null;
  #hasWarned = false;
  #isForged = false;
  #wake: () => void = () => undefined;

  constructor(context: RunContext, station: Station, awaited: Awaited, following: Following) {
    this.#context = context;
    this.#station = station;
    this.#awaited = awaited;
    this.#following = following;
    this.#wasClaimed = following.wasClaimed;
    this.#unlisten = station.listen(awaited.offered.key, (sign) => this.#hear(sign));
    following.stopping.runs(() => this.#wake());
  }

  close(): void {
    this.#unlisten();
    this.#station.leave(this.#awaited.offered.key);
  }

  async end(): Promise<Finished> {
    for (;;) {
      if (this.#following.stopping.isStopped) return this.#stopped();
      const finished = (await this.#takeAnnounced()) ?? (await this.#turn());
      if (finished !== null) return finished;
      await this.#wait(Math.min(this.#station.options.times.sweepMs, MAX_POLL_MS));
    }
  }

  async #turn(): Promise<Finished | null> {
    const state = await this.#state();
    // Without the queue the exchange is still looked at: the result may be there.
    const step = state === null ? { kind: "look" as const } : this.#step(state, null);
    if (step.kind !== "look") return this.#act(step);
    const commit = await this.#orLater(() => this.#look());
    if (commit === undefined) return null;
    if (commit !== null) return this.#take(commit);
    return state === null ? null : this.#act(this.#step(state, false));
  }

  #step(state: JobState, isDelivered: boolean | null): Step {
    const now = performance.now();
    this.#missingSince = state.kind === "missing" ? (this.#missingSince ?? now) : null;
    const missingMs = this.#missingSince === null ? 0 : now - this.#missingSince;
    const { leaseMs } = this.#station.options.times;
    return stepOf({ state, isDelivered, wasClaimed: this.#wasClaimed, missingMs, leaseMs });
  }

  async #act(step: Step): Promise<Finished | null> {
    const { offered } = this.#awaited;
    if (step.kind === "claimed") await this.#claimed(step.worker);
    if (step.kind === "add") await this.#orLater(() => this.#station.addJob(offered, this.#station.enter(offered.key)));
    if (step.kind === "other_key") return this.#otherKey(step.worker);
    if (step.kind === "refused") return neverStarted(this.#awaited, { kind: "failure", message: step.message });
    if (step.kind !== "lost") return null;
    await this.#within(this.#station.options.queue.remove(offered.queue, offered.key), false);
    this.#station.spent(offered.key, false);
    return this.#lost(step.message);
  }

  /** The order goes back to the queue, from which the next turn finds it missing and adds it; without another worker the user is asked. */
  async #otherKey(worker: string): Promise<Finished | null> {
    const { queue, key } = this.#awaited.offered;
    const asked = await this.#orLater(() => this.#station.refusedKey(queue, worker));
    if (asked === undefined) return null;
    await this.#within(this.#station.options.queue.remove(queue, key), false);
    this.#wasClaimed = false;
    if (asked === null) return null;
    this.#station.spent(key, false);
    const message = otherKeyMessage(asked, this.#awaited.phase);
    return this.#withoutDelivery({ kind: "failure", reason: OTHER_WORKER_KEY, message });
  }

  #hear(sign: WorkerSign): void {
    const { phase } = this.#awaited;
    const { watcher } = this.#following;
    // Signs are not proven: they only say when to look.
    if (sign.kind === "finished") this.#announced = sign.commit;
    if (sign.kind !== "running") this.#wake();
    if (sign.activity !== undefined) {
      watcher.activity(phase, shownActivity({ ...noProgress, activity: sign.activity }, this.#context.redact));
    }
    if (sign.tokens !== undefined) watcher.tokens(phase, sign.tokens);
    if (sign.quota === undefined) return;
    watcher.quota(phase, sign.quota.retry_after_ms);
    void this.#orLater(() => this.#station.limit(this.#awaited.offered.queue, sign.quota?.retry_after_ms ?? null));
  }

  async #claimed(worker: string): Promise<void> {
    this.#wasClaimed = true;
    this.#claimedAt = performance.now();
    const { phase, attempt } = this.#awaited;
    const claim = { phase, attempt, worker: shownName(worker) };
    const event = attemptClaimed(requireSession(this.#context.store.session), claim);
    if (event !== null) await this.#following.write([event]);
    crashPoint("claim-recorded");
  }

  async #state(): Promise<JobState | null> {
    const { queue, key } = this.#awaited.offered;
    return this.#within(this.#station.options.queue.state(queue, key), null);
  }

  /** Null when the exchange has no delivery. */
  async #look(): Promise<CommitId | null> {
    if (this.#isForged) return null;
    return (await this.#station.delivered(this.#context.isolation.repository, this.#awaited.offered.key)) ?? null;
  }

  async #takeAnnounced(): Promise<Finished | null> {
    const commit = this.#announced;
    this.#announced = undefined;
    if (commit === undefined || this.#isForged) return null;
    const taken = await this.#fetch(commit);
    // Anyone who reaches the queue can announce anything: only the reference in the exchange counts against an attempt.
    return taken === undefined || "fault" in taken ? null : this.#finish(taken);
  }

  /** Null when it cannot be taken now, or does not count. */
  async #take(commit: CommitId): Promise<Finished | null> {
    const taken = await this.#fetch(commit);
    if (taken === undefined) return null;
    if (!("fault" in taken)) return this.#finish(taken);
    if (taken.isForged) {
      this.#isForged = true;
      this.#context.warn(`A delivery for phase ${this.#awaited.phase} is ignored: ${taken.fault}`);
      return null;
    }
    this.#station.spent(this.#awaited.offered.key, true);
    return this.#withoutDelivery({ kind: "failure", reason: "unusable_delivery", message: taken.fault });
  }

  async #takeDelivered(): Promise<Finished | null> {
    const commit = await this.#orLater(() => this.#look());
    return commit === undefined || commit === null ? null : this.#take(commit);
  }

  /** Undefined when it cannot be fetched now. */
  async #fetch(commit: CommitId): Promise<TakenDelivery | { fault: string; isForged: boolean } | undefined> {
    const { exchange, sender } = this.#station.options;
    return this.#orLater(async () => {
      try {
        const taken = await fetchDelivery(this.#context, exchange, sender.secret, this.#awaited, commit);
        return "forged" in taken ? { fault: taken.forged, isForged: true } : taken;
      } catch (error) {
        if (!isUnusable(error)) throw error;
        return { fault: error.message, isForged: false };
      }
    });
  }

  async #finish(taken: TakenDelivery): Promise<Finished> {
    const { offered } = this.#awaited;
    crashPoint("delivery-fetched");
    if (!this.#wasClaimed) await this.#claimed(taken.delivery.worker);
    const finished = await finishDelivered(this.#context, this.#awaited, taken, this.#following.place);
    this.#station.spent(offered.key, true);
    void this.#orLater(() => this.#station.options.queue.remove(offered.queue, offered.key));
    if (taken.delivery.code === 0) void this.#orLater(() => this.#station.lift(offered.queue));
    return finished;
  }

  /** Takes the attempt back from the queue, or waits until its worker has stopped it. */
  async #stopped(): Promise<Finished> {
    const { queue, key } = this.#awaited.offered;
    const { options } = this.#station;
    if (await this.#within(options.queue.remove(queue, key), false)) {
      this.#station.spent(key, false);
      const message = "The attempt was stopped before it started";
      return neverStarted(this.#awaited, { kind: "interrupted", message });
    }
    await this.#within(options.queue.cancel(key), undefined);
    const until = performance.now() + this.#context.limits.graceMs + DELIVER_MS;
    while (performance.now() < until) {
      const finished = (await this.#takeAnnounced()) ?? (await this.#takeDelivered());
      if (finished !== null) return finished;
      await this.#wait(LOOK_MS);
    }
    return this.#lost("The worker did not confirm that it stopped the attempt");
  }

  #lost(message: string): Finished {
    return this.#withoutDelivery({ kind: "interrupted", reason: "worker_lost", message });
  }

  #withoutDelivery(how: Pick<Outcome, "kind" | "reason" | "message">): Finished {
    const { phase, attempt } = this.#awaited;
    const outcome = { ...how, errorType: "runtime", text: "", usage: null } as const;
    const durationMs = this.#wasClaimed ? Math.round(performance.now() - this.#claimedAt) : 0;
    return { phase, attempt, code: null, durationMs, judged: { outcome, handoff: null }, root: "", work: null };
  }

  /** Undefined when the exchange or the queue cannot do it now; the next turn tries again. */
  async #orLater<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const done = await work();
      this.#hasWarned = false;
      return done;
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (!this.#hasWarned) this.#context.warn(`${reasonOf(error)}. Trying again`);
      this.#hasWarned = true;
      return undefined;
    }
  }

  /** A queue that cannot be reached does not answer at all. */
  async #within<T>(answer: Promise<T>, otherwise: T): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<T>((resolve) => {
      timer = setTimeout(() => resolve(otherwise), Math.min(this.#station.options.times.sweepMs, MAX_POLL_MS));
    });
    try {
      return await Promise.race([answer, late]);
    } catch {
      return otherwise;
    } finally {
      clearTimeout(timer);
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#announced !== undefined) this.#wake();
    });
  }
}
