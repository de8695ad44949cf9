// Runs one claimed order from its fetch to its delivery. Every step that must survive a kill is in the spool first. An order that cannot be
// run is delivered as refused, before anything is spent.

import { join } from "node:path";
import { crashPoint } from "../../disk/fault.ts";
import { attemptEnvironment, startAttempt, type Watcher } from "../../engine/attempt/attempt.ts";
import { meteredAt } from "../../engine/budget.ts";
import type { Player } from "../../engine/cast.ts";
import { Stopping } from "../../engine/process/stopping.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import type { CommitId } from "../../ids.ts";
import { given, readEnvFile } from "../../setting-layers.ts";
import { geminiHome } from "../../store/files/gemini-home.ts";
import type { Exchange } from "../exchange/address.ts";
import { find, isUnusable, push } from "../exchange/transport.ts";
import { inRef, outRef } from "../protocol/attempt-key.ts";
import type { LeaseTimes } from "../protocol/lease.ts";
import type { Order } from "../protocol/order.ts";
import type { WorkerSign } from "../protocol/sign.ts";
import type { Claim, WorkerQueue } from "../queue/worker-queue.ts";
import { type AcceptedOrder, acceptOrder } from "./accept-order.ts";
import { withoutItsWork, withoutWork, withWork } from "./deliver.ts";
import type { Equipment } from "./equipment.ts";
import { LeaseWatch, type StopReason } from "./lease-watch.ts";
import type { Spool } from "./spool.ts";
import { openWorkplace, projectIn, setUpPlace, type Workplace } from "./workplace.ts";

export interface Workshop {
  name: string;
  equipment: Equipment;
  exchange: Exchange;
  secret: string;
  queue: WorkerQueue;
  clone: (order: string) => Promise<Repository>;
  spool: Spool;
  times: LeaseTimes & { orphanMs: number };
}

export interface RunningOrder {
  claim: Claim;
  done: Promise<void>;
  stop: (why: StopReason) => void;
}

/** `claimedAt`: when the claim was asked for, in monotonic time. */
export function runOrder(shop: Workshop, claim: Claim, claimedAt: number): RunningOrder {
  const stopping = new Stopping();
  let why: StopReason | null = null;
  const stop = (reason: StopReason) => {
    why ??= reason;
    stopping.stop("stopped");
  };
  const watch = new LeaseWatch(claim, shop.queue, shop.times, { claimedAt, stop });
  const { home, key } = claim.job;
  const tell = (sign: Omit<WorkerSign, "key" | "worker">) => shop.queue.tell(home, { key, worker: shop.name, ...sign });
  const work = async () => {
    tell({ kind: "claimed" });
    crashPoint("order-claimed");
    try {
      const repository = await shop.clone(claim.job.order);
      const accepted = await patiently(shop, stopping, () => orderOf(shop, repository, claim));
      if (accepted === null) return;
      if ("refusal" in accepted) {
        shop.equipment.warn(`${key}: refused, because ${accepted.refusal}`);
        // What is not proven to be an order gets no delivery.
        await claim.refuse(accepted.refusal);
        return;
      }
      crashPoint("order-accepted");
      const commit = await runAccepted(shop, claim, accepted, repository, { stopping, tell });
      if (commit === null) return;
      await hand(shop, claim, repository, { commit, tell, isNeeded: () => watch.isHeld || why !== "lease" });
    } finally {
      watch.close();
    }
  };
  return { claim, done: work(), stop };
}

/** An exchange that can be reached and does not have the order is another one than the engine's. */
async function orderOf({ exchange, secret }: Workshop, repository: Repository, { job }: Claim) {
  try {
    return await acceptOrder(repository, exchange, secret, job);
  } catch (error) {
    if (!isExpected(error)) throw error;
    if (isUnusable(error)) return { refusal: error.message };
    const found = await find(repository, exchange, [inRef(job.key)]);
    if (found.get(inRef(job.key)) === job.order) throw error;
    return { refusal: "the order is not in this worker's exchange" };
  }
}

interface Control {
  stopping: Stopping;
  tell: (sign: Omit<WorkerSign, "key" | "worker">) => void;
}

/** Returns the delivery's commit; null when it was stopped before anything was begun. */
async function runAccepted(
  shop: Workshop,
  claim: Claim,
  accepted: AcceptedOrder,
  repository: Repository,
  control: Control,
): Promise<CommitId | null> {
  const { order, project } = accepted;
  const sender = { repository, secret: shop.secret, worker: shop.name, commit: accepted.commit, order };
  const player = refusalOf(shop.equipment, order, repository);
  if (typeof player === "string") return withoutWork(sender, project, { kind: "refused", message: player });
  if (control.stopping.isStopped) return null;
  const at = projectIn(repository, order);
  const { key, home } = claim.job;
  const spooled = { key, home, order: accepted.commit };
  shop.spool.write({ ...spooled, worktree: null, start: null, delivery: null });
  const made = { ...sender, repository: at };
  let place: Workplace | undefined;
  try {
    place = await openWorkplace(shop.equipment, at, accepted, shop.spool.location(key, at.projectRoot));
    crashPoint("worktree-ready");
    const setup = await setUpPlace(place, at, order, control.stopping);
    if (setup === null) return withoutWork(made, project, { kind: "unprepared", message: "stopped" });
    shop.spool.write({ ...spooled, worktree: place.worktree.name, start: setup.commit, delivery: null });
    const exit = await runAgent(shop, accepted, place, player, control);
    crashPoint("agent-ended");
    const commit = await withWork(made, place, exit, setup, meteredOn(shop.equipment, place, player, order));
    shop.spool.write({ ...spooled, worktree: place.worktree.name, start: setup.commit, delivery: commit });
    crashPoint("delivery-spooled");
    return commit;
  } catch (error) {
    if (!isExpected(error)) throw error;
    const message = error instanceof MaestroError ? error.message : reasonOf(error);
    return withoutWork(made, project, { kind: "unprepared", message: shop.equipment.redact(message) });
  } finally {
    place?.batch.close();
  }
}

async function runAgent(
  { equipment }: Workshop,
  { order, prompt }: AcceptedOrder,
  { bench, worktree }: Workplace,
  player: Player,
  { stopping, tell }: Control,
) {
  const { name, agent, tier, model, phase, attempt, timeout_ms: timeoutMs, reserved } = order;
  const told = prompt.replaceAll(order.root, worktree.root);
  const prepared = {
    phase,
    attempt,
    name,
    agent,
    tier,
    model,
    player,
    timeoutMs,
    reserved,
    prompt: told,
    worktree: worktree.name,
    remote: false,
  };
  const ground = { root: worktree.root, worktree, before: worktree.commit };
  const env = { ...attemptEnvironment(bench, prepared, ground), MAESTRO_REMOTE: "1" };
  const started = startAttempt(bench, prepared, ground, env, watcherOf(tell, equipment.redact));
  stopping.runs(started.stop);
  return started.exit;
}

const SIGN_MS = 1000;

/** Sends what changes at most once in a second; a rejected request at once. */
function watcherOf(tell: Control["tell"], redact: (text: string) => string): Watcher {
  let last = Number.NEGATIVE_INFINITY;
  let state: Pick<WorkerSign, "activity" | "tokens"> = {};
  const send = () => {
    if (performance.now() - last < SIGN_MS) return;
    last = performance.now();
    tell({ kind: "running", ...state });
  };
  return {
    activity: (_, line) => {
      state = { ...state, activity: redact(line) };
      send();
    },
    tokens: (_, sofar) => {
      state = { ...state, tokens: sofar };
      send();
    },
    quota: (_, retryAfterMs) => tell({ kind: "running", quota: { retry_after_ms: retryAfterMs } }),
  };
}

/** What plays the agent, or why the order is refused: before anything is spent. */
function refusalOf({ env, player }: Equipment, order: Order, { toplevel }: Repository): Player | string {
  const found = player(order.runtime, order.passes, toplevel);
  if (found === undefined) return `this worker has no runtime "${order.runtime}"`;
  if (found.program === undefined) return `${found.runtime.program} was not found on the worker's PATH`;
  const missing = order.requires.filter((name) => given(env, name) === undefined && !isInFile(name, found, env));
  if (missing.length > 0) return `the worker does not have ${missing.join(", ")}`;
  return found;
}

/** Whether the program reads that credential from a file of its own in the user's home. */
function isInFile(name: string, { runtime }: Player, env: Equipment["env"]): boolean {
  if (runtime.credentials?.includes(name) !== true) return false;
  return runtime.envFiles.some((file) => given(readEnvFile(join(geminiHome(env), file)), name) !== undefined);
}

/** What the attempt used, by the transcript that its program wrote in the home of this machine's user. */
export function meteredOn(
  { env }: Equipment,
  { batch }: Pick<Workplace, "batch">,
  { runtime }: Player,
  { name }: Order,
) {
  return meteredAt(batch, runtime, { HOME: env.HOME ?? "", GEMINI_CLI_HOME: env.GEMINI_CLI_HOME ?? "" }, name);
}

interface Handing {
  commit: CommitId;
  tell: Control["tell"];
  isNeeded: () => boolean;
}

/** Delivers to the exchange, and only then updates the queue. A reference that exists already means that another worker was first. */
async function hand(
  shop: Workshop,
  claim: Claim,
  repository: Repository,
  { commit, tell, isNeeded }: Handing,
): Promise<void> {
  const { key } = claim.job;
  const pushed = await deliver(shop, repository, key, commit, isNeeded);
  crashPoint("delivery-pushed");
  if (pushed.how === "done") {
    await orLost(claim.complete());
    tell({ kind: "finished", commit: pushed.commit });
  }
  await forget(shop, repository, key);
}

const RETRY_MS = [100, 500, 1000, 2000, 5000];

export interface Delivered {
  /** `given up`: the attempt is not this worker's any more; the spool still has it. */
  how: "done" | "taken" | "given up";
  commit: CommitId;
}

/** Tries until the exchange can be reached. Work that it never accepts is left out: the attempt fails then, and says why. */
export async function deliver(
  { exchange, equipment, secret }: Pick<Workshop, "exchange" | "equipment" | "secret">,
  repository: Repository,
  key: string,
  commit: CommitId,
  isNeeded: () => boolean,
): Promise<Delivered> {
  let sent = commit;
  for (let tries = 0; ; tries += 1) {
    try {
      return { how: await push(repository, exchange, { [outRef(key)]: sent }), commit: sent };
    } catch (error) {
      if (!isExpected(error)) throw error;
      if (isUnusable(error)) {
        if (sent !== commit) throw error;
        equipment.warn(`${key}: ${error.message}`);
        sent = await withoutItsWork(repository, secret, commit, error.message);
        continue;
      }
      if (tries === 0) equipment.warn(`${reasonOf(error)}. Trying again`);
      if (!isNeeded()) return { how: "given up", commit: sent };
      await pause(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 0);
    }
  }
}

/** Deletes what the worker kept of an attempt. */
export async function forget(shop: Pick<Workshop, "spool">, repository: Repository, key: string): Promise<void> {
  const { worktree = null } = shop.spool.read(key) ?? {};
  if (worktree !== null) await removeWorktree(repository, worktree, key);
  shop.spool.remove(key);
}

/** Repeats what needs the exchange, for a lease at most: then the order is given up, and its engine offers it again. Null when it is stopped. */
async function patiently<T>(shop: Workshop, stopping: Stopping, work: () => Promise<T>): Promise<T | null> {
  const until = performance.now() + shop.times.leaseMs;
  for (let tries = 0; !stopping.isStopped; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isExpected(error) || performance.now() > until) throw error;
      if (tries === 0) shop.equipment.warn(`${reasonOf(error)}. Trying again`);
      await pause(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 0);
    }
  }
  return null;
}

const ANSWER_MS = 5000;

/** The queue is only notified: it may not answer, or may have given the attempt up. */
async function orLost(told: Promise<boolean>): Promise<void> {
  await Promise.race([told.catch(() => false), pause(ANSWER_MS)]);
}

function isExpected(error: unknown): boolean {
  return error instanceof MaestroError || errno(error) !== undefined;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
