// Makes the delivery of an attempt: a commit with its work, what it printed and how it ended, sealed for the engine. Pushing it comes later,
// and may be repeated.

import type { Metered } from "../../engine/attempt/output-follower.ts";
import { byModel } from "../../engine/budget.ts";
import type { Exit } from "../../engine/process/supervisor.ts";
import { changesBetween } from "../../git/objects/changes.ts";
import type { Repository } from "../../git/repository.ts";
import { treeOf } from "../../git/worktree/worktree.ts";
import type { CommitId, TreeId } from "../../ids.ts";
import { MAX_STDERR_BYTES, MAX_STDOUT_BYTES } from "../../store/files/batch.ts";
import { stripControls } from "../../text.ts";
import { packParcel, readDocument, readParcel, sealParcel } from "../exchange/parcel.ts";
import { type DeliveryNote, readable, readDelivery, shortened } from "../protocol/delivery.ts";
import { type Order, withPlaceholder } from "../protocol/order.ts";
import { sealOf } from "../protocol/seal.ts";
import type { Workplace } from "./workplace.ts";

const MAX_LISTED = 100;
const MAX_WARNING = 2000;
const NOTE = "delivery.json";
const MAX_NOTE_BYTES = 16 * 1024 * 1024;

interface Sender {
  repository: Repository;
  secret: string;
  /** The name of this worker. */
  worker: string;
  /** The order's commit. */
  commit: CommitId;
  order: Order;
}

const nothing = {
  code: null,
  killed: null,
  failure: null,
  duration_ms: 0,
  nested: [],
  setup: [],
  metered: null,
  withheld: null,
  warnings: [],
};

/** For an order that ran no agent: the project is unchanged. */
export function withoutWork(
  sender: Sender,
  project: TreeId,
  { kind, message }: { kind: "refused" | "unprepared"; message: string },
  printed = "",
): Promise<CommitId> {
  const { worker, order } = sender;
  const about: DeliveryNote = { v: 1, key: order.key, worker, kind, message: shortened(message), ...nothing };
  return sealed(sender, about, project, { stdout: Buffer.alloc(0), stderr: Buffer.from(printed) });
}

/** `setup`: the commit after the setup command, and what it had changed. */
export async function withWork(
  sender: Sender,
  { worktree, batch, bench }: Workplace,
  exit: Exit,
  setup: { commit: CommitId; paths: readonly string[] },
  metered: Metered | null,
): Promise<CommitId> {
  const { repository, order, worker } = sender;
  const { name } = order;
  // What it printed may be cut between two characters, or hold a secret of this machine.
  for (const kind of ["json", "log"] as const) batch.redact(name, kind, bench.redact);
  const look = { exclude: [], force: order.force, isOver: true };
  const { tree, commit, nested, warnings } = await treeOf(repository, worktree, look);
  const touched = new Set(
    (await changesBetween(repository, setup.commit, commit)).flatMap(({ path, from }) => [path, from ?? path]),
  );
  const about: DeliveryNote = {
    v: 1,
    key: order.key,
    worker,
    kind: "ended",
    message: "",
    code: exit.code,
    killed: exit.killed,
    failure: exit.failure === undefined ? null : shortened(exit.failure),
    duration_ms: exit.durationMs,
    nested: nested.slice(0, MAX_LISTED),
    setup: setup.paths.filter((path) => !touched.has(path)),
    metered: metered === null ? null : readable({ usage: byModel(metered.usage), requests: metered.requests ?? 0 }),
    withheld: null,
    warnings: warnings.slice(0, MAX_LISTED).map((line) => stripControls(line).slice(0, MAX_WARNING)),
  };
  const clean = (text: string) => Buffer.from(withPlaceholder(text, [worktree.root, worktree.path], order.root));
  return sealed(sender, about, tree, {
    stdout: clean(batch.read(name, "json", MAX_STDOUT_BYTES)),
    stderr: clean(batch.read(name, "log", MAX_STDERR_BYTES)),
  });
}

/** The delivery again, without its work: what the agent printed stays, and the project is as it was. For an exchange that rejects the work. */
export async function withoutItsWork(
  repository: Repository,
  secret: string,
  commit: CommitId,
  why: string,
): Promise<CommitId> {
  const parcel = await readParcel(repository, commit);
  const [order] = parcel.parents;
  const read = readDelivery(await readDocument(repository, parcel, NOTE, MAX_NOTE_BYTES));
  if (order === undefined || "fault" in read) throw new Error("a worker's own delivery has an order and a note");
  const { key } = read.delivery;
  const { project } = await readParcel(repository, order);
  const note: DeliveryNote = { ...read.delivery, nested: [], setup: [], withheld: shortened(why) };
  const printed = [...parcel.documents].filter(([name]) => name !== NOTE).map(([name, { id }]) => [name, id]);
  const tree = packParcel(repository, {
    documents: { [NOTE]: Buffer.from(JSON.stringify(note)) },
    project,
    blobs: Object.fromEntries(printed),
  });
  const seal = sealOf(secret, { kind: "delivery", key, tree, order });
  return sealParcel(repository, { tree, parents: [order], kind: "delivery", seal });
}

async function sealed(
  { repository, secret, commit, order }: Sender,
  about: DeliveryNote,
  project: TreeId,
  printed: { stdout: Buffer; stderr: Buffer },
): Promise<CommitId> {
  const documents = { [NOTE]: Buffer.from(JSON.stringify(about)), ...printed };
  const tree = packParcel(repository, { documents, project });
  const seal = sealOf(secret, { kind: "delivery", key: order.key, tree, order: commit });
  return sealParcel(repository, { tree, parents: [commit], kind: "delivery", seal });
}
