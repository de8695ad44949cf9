// Offers an attempt to workers: the order goes to the exchange, and its name to the queue. The attempt is recorded before, and what is
// needed to find it again is on disk before anything leaves this machine.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { crashPoint } from "../../disk/fault.ts";
import { randomHex } from "../../disk/random.ts";
import type { PreparedAttempt } from "../../engine/attempt/attempt.ts";
import { withEvidence } from "../../engine/attempt/attempt-run.ts";
import { type Control, rootOf, warnAboutLeftOut, whenReadable, workSoFar } from "../../engine/attempt/place.ts";
import { declaredFiles } from "../../engine/isolation.ts";
import type { RunContext } from "../../engine/run-context.ts";
import { MaestroError } from "../../errors.ts";
import { treeIdOf } from "../../git/objects/commit.ts";
import { writeLoose } from "../../git/objects/loose.ts";
import type { Repository } from "../../git/repository.ts";
import { type CommitId, objectIdForm } from "../../ids.ts";
import { attemptPlaced } from "../../session/decide/facts.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import * as is from "../../shape.ts";
import { packParcel, sealParcel } from "../exchange/parcel.ts";
import { type AttemptKey, attemptKey, attemptKeyForm } from "../protocol/attempt-key.ts";
import { type Order, parsed, withPlaceholder } from "../protocol/order.ts";
import { queueName } from "../protocol/queue-name.ts";
import { sealOf } from "../protocol/seal.ts";

const commit = is.matching<CommitId>(objectIdForm, "an object id");
const offered = is.object({
  v: is.only(1),
  key: is.matching<AttemptKey>(attemptKeyForm, "the key of an attempt"),
  queue: is.text(2000),
  order: commit,
  /** The commit that the project in the order was made from: the state before the attempt, with the work of an earlier one. */
  start: commit,
  /** Stands for the project's root in what the attempt prints. */
  root: is.text(100),
});

/** An order that may have left this machine. */
export type OfferedOrder = is.TypeOf<typeof offered>;

export interface Sender {
  secret: string;
  /** The kind of credential that the agents of a runtime use. */
  pool: (runtime: string) => string;
  /** Exported variables that agents get besides the allowed ones: names and globs. */
  passEnv: readonly string[];
  /** Whether this engine's user has exported the variable. */
  isExported: (name: string) => boolean;
  isSandboxed: boolean;
}

/** Makes the order, and records where the attempt starts. Throws when it cannot be made; that fails only this attempt. */
export async function makeOrder(
  context: RunContext,
  prepared: PreparedAttempt,
  sender: Sender,
  control: Control,
): Promise<OfferedOrder> {
  const { isolation, store, batch } = context;
  const { repository } = isolation;
  const { phase, attempt, worktree, name } = prepared;
  const session = requireSession(store.session);
  const moment = await whenReadable(context, () => isolation.now(session), control.stopping);
  if (moment.kind !== "commit" || worktree === null) throw new Error("a remote attempt has a worktree");
  warnAboutLeftOut(context, moment.snapshot);
  const base = moment.snapshot.commit;
  const start = (await workSoFar(context, requirePhase(session, phase), base)) ?? base;
  await control.write([attemptPlaced({ phase, attempt, worktree, base })]);
  const told = await withEvidence(context, prepared);
  const placeholder = `/maestro-${randomHex(16)}`;
  const order = orderOf(context, told, sender, placeholder);
  const local = [rootOf(context, worktree), context.projectRoot];
  const documents = {
    "order.json": Buffer.from(JSON.stringify(order)),
    prompt: Buffer.from(withPlaceholder(told.prompt, local, placeholder)),
  };
  const project = await treeIdOf(repository, start);
  const tree = packParcel(repository, { documents, project, blobs: { journal: journalBlob(context) } });
  const seal = sealOf(sender.secret, { kind: "order", key: order.key, tree, order: "" });
  const id = await sealParcel(repository, { tree, parents: [], kind: "order", seal });
  const needs = requirePhase(session, phase).plan?.needs ?? [];
  const queue = queueName({ runtime: order.runtime, pool: sender.pool(order.runtime), needs });
  const made: OfferedOrder = { v: 1, key: order.key, queue, order: id, start, root: placeholder };
  batch.writePrompt(name, told.prompt);
  batch.writeOrder(name, JSON.stringify(made));
  crashPoint("order-made");
  return made;
}

/** The order that an earlier engine made for an attempt; undefined when it did not get that far. */
export function readOffered({ batch }: Pick<RunContext, "batch">, name: string): OfferedOrder | undefined {
  const text = batch.readOrder(name);
  if (text === undefined) return undefined;
  const value = parsed(Buffer.from(text));
  const fault = offered(value);
  if (fault === undefined) return value as OfferedOrder;
  throw new MaestroError("parse_failed", `The order of ${name} cannot be read: ${is.faultText(fault)}`);
}

function orderOf(context: RunContext, prepared: PreparedAttempt, sender: Sender, root: string): Order {
  const { run, limits, isolation, store } = context;
  const { phase, attempt, name, agent, tier, model, timeoutMs, reserved, player } = prepared;
  const { runtime } = player;
  const session = requireSession(store.session);
  const named = sender.passEnv.filter((one) => !/[*?]/.test(one) && sender.isExported(one));
  const credential = sender.pool(runtime.name);
  return {
    v: 1,
    key: attemptKey({ run, phase, attempt }),
    session: session.session_id,
    ...{ phase, attempt, name, agent, tier, model, root },
    runtime: runtime.name,
    prefix: isolation.repository.prefix,
    timeout_ms: timeoutMs,
    setup_timeout_ms: limits.validationTimeoutMs,
    grace_ms: limits.graceMs,
    ...(reserved === undefined ? {} : { reserved }),
    sandbox: sender.isSandboxed,
    setup: isolation.options.setup,
    requires: [...new Set([...named, ...(credential === "login" ? [] : [credential])])],
    passes: [...sender.passEnv],
    force: declaredFiles(session),
  };
}

interface KeptBlob {
  stamp: string;
  id: string;
}

const journals = new WeakMap<Repository, KeptBlob>();

/** The session's journal as it is now. Orders that are made together share it. */
function journalBlob({ store, isolation }: RunContext): string {
  const { repository } = isolation;
  const { root, components } = store.location;
  const path = join(root, ...components, "state", "progress.jsonl");
  const { size, mtimeMs } = statSync(path);
  const stamp = `${size} ${mtimeMs}`;
  const known = journals.get(repository);
  if (known?.stamp === stamp) return known.id;
  const id = writeLoose(repository, "blob", readFileSync(path), false);
  journals.set(repository, { stamp, id });
  return id;
}
