// Keeps the work of an attempt that counted as lost and was delivered later: it no longer counts as a result, but the next attempt of the
// phase starts from it.

import { examineWorktree } from "../../engine/attempt/examine.ts";
import type { Control } from "../../engine/attempt/place.ts";
import type { RunContext } from "../../engine/run-context.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import type { PhaseId } from "../../ids.ts";
import { attemptChanged } from "../../session/decide/facts.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { readOffered } from "./offer.ts";
import type { Station } from "./station.ts";
import { fetchDelivery, worktreeOf } from "./take.ts";

/** For the attempt before the one that is about to be offered. */
export async function keepLateWork(
  context: RunContext,
  station: Station,
  phase: PhaseId,
  write: Control["write"],
): Promise<void> {
  const { isolation, store } = context;
  const before = requirePhase(requireSession(store.session), phase).attempts.at(-2);
  const isLost = before?.remote === true && before.result?.outcome === "interrupted" && before.changes === undefined;
  const { base = null } = before?.placed ?? {};
  if (!isLost || before === undefined || base === null) return;
  const offered = readOffered(context, before.name);
  const commit = offered === undefined ? undefined : await station.delivered(isolation.repository, offered.key);
  if (offered === undefined || commit === undefined) return;
  const { exchange, sender } = station.options;
  const taken = await fetchDelivery(context, exchange, sender.secret, { offered }, commit);
  if ("forged" in taken || taken.delivery.kind !== "ended") return;
  const worktree = isolation.reserve(requireSession(store.session));
  const { attempt, name, run } = before;
  try {
    const awaited = { phase, attempt, name, run, worktree, base, offered };
    const ground = await worktreeOf(context, awaited, taken);
    if (ground.worktree === null) return;
    const place = { repository: isolation.repository, exclude: isolation.options.exclude, store };
    const { changes } = await examineWorktree(place, { phase, attempt }, ground.worktree, base);
    if (changes.total > 0) await write([attemptChanged({ phase, attempt }, changes)]);
    station.spent(offered.key, true);
  } finally {
    await removeWorktree(isolation.repository, worktree);
    isolation.release(worktree, 0);
  }
}
