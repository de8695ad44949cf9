// Fetches an order, and accepts it only when its seal is right: nothing of an order without a valid seal is read or kept.

import type { Repository } from "../../git/repository.ts";
import type { CommitId, TreeId } from "../../ids.ts";
import type { Exchange } from "../exchange/address.ts";
import { readDocument, readParcel } from "../exchange/parcel.ts";
import { fetch } from "../exchange/transport.ts";
import type { Job } from "../protocol/job.ts";
import { type Order, readOrder } from "../protocol/order.ts";
import { OTHER_KEY } from "../protocol/refusal.ts";
import { isSealed } from "../protocol/seal.ts";
import { keepOrder, knownOrders } from "./clone.ts";

const MEGABYTE = 1024 * 1024;
const MAX_ORDER_BYTES = 16 * MEGABYTE;
const MAX_PROMPT_BYTES = 64 * MEGABYTE;
const MAX_JOURNAL_BYTES = 512 * MEGABYTE;

export interface AcceptedOrder {
  order: Order;
  commit: CommitId;
  /** The project as the agent shall find it. */
  project: TreeId;
  prompt: string;
  /** The session's journal when the order was made. */
  journal: Buffer;
}

/** The order, or why it is refused. Rejects when the exchange cannot be reached. */
export async function acceptOrder(
  repository: Repository,
  exchange: Exchange,
  secret: string,
  job: Job,
): Promise<AcceptedOrder | { refusal: string }> {
  const commit = job.order;
  const fetched = await fetch(repository, exchange, { commit, tips: await knownOrders(repository) });
  const { quarantine } = fetched;
  try {
    const parcel = await readParcel(quarantine, commit);
    const { tree, parents, seal, project } = parcel;
    if (parents.length > 0 || !isSealed(secret, { kind: "order", key: job.key, tree, order: "" }, seal)) {
      return { refusal: OTHER_KEY };
    }
    const read = readOrder(await readDocument(quarantine, parcel, "order.json", MAX_ORDER_BYTES));
    if ("fault" in read) return { refusal: read.fault };
    if (read.order.key !== job.key) return { refusal: "the order is for another attempt" };
    const prompt = (await readDocument(quarantine, parcel, "prompt", MAX_PROMPT_BYTES)).toString("utf8");
    const journal = await readDocument(quarantine, parcel, "journal", MAX_JOURNAL_BYTES);
    await fetched.accept("cache");
    await keepOrder(repository, job.key, commit);
    return { order: read.order, commit, project, prompt, journal };
  } finally {
    fetched.discard();
  }
}
