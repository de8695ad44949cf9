// Delivers what an earlier worker of this user began and could not deliver: its finished work, or what its agent had done so far.

import { reasonOf } from "../../errors.ts";
import { changesBetween } from "../../git/objects/changes.ts";
import type { Repository } from "../../git/repository.ts";
import { adoptWorktree } from "../../git/worktree/worktree.ts";
import type { CommitId } from "../../ids.ts";
import { readDocument, readParcel } from "../exchange/parcel.ts";
import { readOrder } from "../protocol/order.ts";
import { deliver, forget, meteredOn, type Workshop } from "./attempt.ts";
import { withWork } from "./deliver.ts";
import type { Spooled } from "./spool.ts";
import { benchFor, projectIn } from "./workplace.ts";

const MAX_ORDER_BYTES = 16 * 1024 * 1024;

export async function deliverLeftovers(shop: Workshop, isNeeded: () => boolean): Promise<void> {
  for (const left of shop.spool.left()) {
    try {
      await deliverLeft(shop, left, isNeeded);
    } catch (error) {
      shop.equipment.warn(`${left.key} of an earlier worker cannot be delivered: ${reasonOf(error)}`);
    }
  }
}

async function deliverLeft(shop: Workshop, left: Spooled, isNeeded: () => boolean): Promise<void> {
  const repository = await shop.clone(left.order);
  const commit = left.delivery === null ? await workOf(shop, repository, left) : left.delivery;
  if (commit !== null) {
    // Recorded as this worker's own, so that a second worker that starts now leaves it alone.
    shop.spool.write({ ...left, delivery: commit });
    const sent = await deliver(shop, repository, left.key, commit, isNeeded);
    if (sent.how === "given up") return;
    if (sent.how === "done") {
      shop.queue.tell(left.home, { key: left.key, worker: shop.name, kind: "finished", commit: sent.commit });
    }
  }
  await forget(shop, repository, left.key);
}

/** Null when its agent had not been started, so that there is nothing to deliver. */
async function workOf(shop: Workshop, clone: Repository, left: Spooled): Promise<CommitId | null> {
  const { worktree: name, start } = left;
  if (name === null || start === null) return null;
  const parcel = await readParcel(clone, left.order);
  const read = readOrder(await readDocument(clone, parcel, "order.json", MAX_ORDER_BYTES));
  if ("fault" in read) return null;
  const { order } = read;
  const repository = projectIn(clone, order);
  const worktree = adoptWorktree(repository, name, left.key);
  if (worktree === undefined) return null;
  const location = shop.spool.location(left.key, repository.projectRoot);
  const { batch, bench } = await benchFor(shop.equipment, repository, { ...order, sandbox: false }, location);
  try {
    const made = await changesBetween(repository, worktree.commit, start);
    const setup = { commit: start, paths: made.map(({ path }) => path) };
    const code = batch.exitCode(order.name);
    // Without an exit code the agent was killed with its worker.
    const exit = { code, killed: code === null ? ("stopped" as const) : null, durationMs: 0 };
    const sender = { repository, secret: shop.secret, worker: shop.name, commit: left.order, order };
    const player = shop.equipment.player(order.runtime, order.passes, repository.toplevel);
    const metered = player === undefined ? null : meteredOn(shop.equipment, { batch }, player, order);
    return await withWork(sender, { worktree, location, batch, bench }, exit, setup, metered);
  } finally {
    batch.close();
  }
}
