// Takes a delivery: fetches it, checks it, and turns it into the files and the worktree that an attempt of this machine would have left. From
// there on it is examined, judged and integrated as any other.

import { crashPoint } from "../../disk/fault.ts";
import { withExaminedWork } from "../../engine/attempt/attempt-run.ts";
import { nestedTrouble } from "../../engine/attempt/examine.ts";
import { type Finished, finishAttempt, neverStarted } from "../../engine/attempt/finish.ts";
import { purposeOf } from "../../engine/attempt/place.ts";
import type { Ground } from "../../engine/isolation.ts";
import type { RunContext } from "../../engine/run-context.ts";
import { changesBetween } from "../../git/objects/changes.ts";
import { commitTree } from "../../git/objects/commit.ts";
import { treeWithout } from "../../git/objects/tree-without.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import { addWorktree, fillWorktree } from "../../git/worktree/worktree.ts";
import type { AttemptId, CommitId, PhaseId, TreeId } from "../../ids.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { outsideScope } from "../../session/scope.ts";
import { MAX_STDERR_BYTES, MAX_STDOUT_BYTES } from "../../store/files/batch.ts";
import type { Exchange } from "../exchange/address.ts";
import { readDocument, readParcel } from "../exchange/parcel.ts";
import { fetch } from "../exchange/transport.ts";
import { type DeliveryNote, readDelivery } from "../protocol/delivery.ts";
import { isSealed } from "../protocol/seal.ts";
import type { OfferedOrder } from "./offer.ts";

const MAX_DELIVERY_BYTES = 16 * 1024 * 1024;

/** An attempt that is waited for. */
export interface Awaited {
  phase: PhaseId;
  attempt: number;
  name: AttemptId | string;
  /** The run that started it. */
  run: string;
  worktree: string;
  base: CommitId;
  offered: OfferedOrder;
}

export interface TakenDelivery {
  delivery: DeliveryNote;
  project: TreeId;
  stdout: Buffer;
  stderr: Buffer;
}

/** Rejects when the exchange cannot be reached; a delivery that is not proven is `forged`, and must not count. */
export async function fetchDelivery(
  { isolation: { repository } }: Pick<RunContext, "isolation">,
  exchange: Exchange,
  secret: string,
  { offered: { key, order } }: Pick<Awaited, "offered">,
  commit: CommitId,
): Promise<TakenDelivery | { forged: string }> {
  const fetched = await fetch(repository, exchange, { commit, tips: [order] });
  const { quarantine } = fetched;
  try {
    const parcel = await readParcel(quarantine, commit);
    const { tree, parents, seal, project } = parcel;
    if (parents.length !== 1 || parents[0] !== order)
      return { forged: "its commit does not follow the order's commit" };
    if (!isSealed(secret, { kind: "delivery", key, tree, order }, seal)) {
      return { forged: "it was not made with this engine's key" };
    }
    const read = readDelivery(await readDocument(quarantine, parcel, "delivery.json", MAX_DELIVERY_BYTES));
    if ("fault" in read) return { forged: read.fault };
    if (read.delivery.key !== key) return { forged: "it is for another attempt" };
    const stdout = await readDocument(quarantine, parcel, "stdout", 2 * MAX_STDOUT_BYTES);
    const stderr = await readDocument(quarantine, parcel, "stderr", 2 * MAX_STDERR_BYTES);
    await fetched.accept("own");
    return { delivery: read.delivery, project, stdout, stderr };
  } finally {
    fetched.discard();
  }
}

/** The end of the attempt, as if its agent had run here. */
export async function finishDelivered(
  context: RunContext,
  awaited: Awaited,
  taken: TakenDelivery,
  place: (ground: Ground) => void,
): Promise<Finished> {
  const { delivery } = taken;
  if (delivery.kind === "refused") {
    return neverStarted(awaited, {
      kind: "failure",
      message: `The worker ${delivery.worker} refused it: ${delivery.message}`,
    });
  }
  if (delivery.kind === "unprepared") return unprepared(awaited, delivery);
  const ground = await worktreeOf(context, awaited, taken);
  place(ground);
  writeFiles(context, awaited, taken, ground.root);
  crashPoint("delivery-taken");
  const { code, killed, duration_ms: durationMs, failure } = delivery;
  const exit = { code, killed, durationMs, ...(failure === null ? {} : { failure }) };
  const { phase, attempt, name } = awaited;
  const started = { phase, attempt, name, exit: Promise.resolve(exit), stop: () => undefined };
  const ended = { ...finishAttempt(context, started, exit), metered: delivery.metered };
  const finished = await withExaminedWork(context, ended, ground);
  const { withheld, nested } = delivery;
  const trouble = withheld === null ? nestedTrouble(nested) : `Its work could not be delivered. ${withheld}`;
  if (trouble === null || finished.work === null) return finished;
  return { ...finished, work: { ...finished.work, trouble } };
}

function unprepared(awaited: Awaited, { message }: DeliveryNote): Finished {
  if (message === "stopped") {
    return neverStarted(awaited, { kind: "interrupted", message: "The attempt was stopped before it started" });
  }
  const why = `The working directory could not be prepared: ${message}`;
  return neverStarted(awaited, { kind: "failure", message: why });
}

/** A worktree with the delivered files, which began with those of the order. */
export async function worktreeOf(context: RunContext, awaited: Awaited, taken: TakenDelivery): Promise<Ground> {
  const { repository } = context.isolation;
  const { worktree: name, base, offered } = awaited;
  const purpose = purposeOf(awaited);
  const session = requireSession(context.store.session);
  const work = await commitTree(repository, {
    tree: await ownWork(context, awaited, taken),
    parents: [offered.start],
    message: "Work of a worker",
    isPassing: true,
  });
  // An engine that was killed here left one that may be incomplete.
  await removeWorktree(repository, name, purpose);
  const from = { commit: offered.start, ignored: [], links: [] };
  const worktree = await addWorktree(repository, session.session_id, name, from, purpose);
  await fillWorktree(repository, worktree, work);
  const warnings = taken.delivery.warnings;
  return { root: worktree.root, worktree: { ...worktree, warnings }, before: base };
}

/** The delivered files without what only the setup command changed; a new file that the phase owns counts as its work. */
async function ownWork(context: RunContext, awaited: Awaited, { project, delivery }: TakenDelivery): Promise<TreeId> {
  if (delivery.setup.length === 0) return project;
  const { repository } = context.isolation;
  const phase = requirePhase(requireSession(context.store.session), awaited.phase);
  const bySetup = new Set(delivery.setup);
  const changes = await changesBetween(repository, awaited.offered.start, project);
  const made = changes.filter(({ path }) => bySetup.has(path));
  const outside = new Set(outsideScope(phase, made));
  const paths = made.filter(({ kind, path }) => kind !== "created" || outside.has(path)).map(({ path }) => path);
  if (paths.length === 0) return project;
  return treeWithout(repository, { tree: project, base: awaited.offered.start, paths });
}

/** The exit code last: without it an engine that takes over takes the delivery again. */
function writeFiles(
  { batch, redact }: RunContext,
  { name, offered }: Awaited,
  taken: TakenDelivery,
  root: string,
): void {
  const shown = (bytes: Buffer) => redact(bytes.toString("utf8").replaceAll(offered.root, root));
  batch.writeResult(name, "json", shown(taken.stdout));
  batch.writeResult(name, "log", shown(taken.stderr));
  const { code, killed } = taken.delivery;
  if (code !== null && killed === null) batch.writeExitCode(name, code);
}
