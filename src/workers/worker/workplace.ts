// The place of one attempt on a worker: its worktree, its copy of the session, and the files that its agent prints to.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AttemptBench } from "../../engine/attempt/attempt.ts";
import { inShell } from "../../engine/attempt/command-run.ts";
import { runSetup, type WorktreeBench } from "../../engine/attempt/place.ts";
import type { IsolationOptions } from "../../engine/isolation.ts";
import type { Stopping } from "../../engine/process/stopping.ts";
import { changesBetween } from "../../git/objects/changes.ts";
import { commitTree } from "../../git/objects/commit.ts";
import type { Repository } from "../../git/repository.ts";
import { freeName } from "../../git/worktree/marker.ts";
import { addWorktree, treeOf, type Worktree } from "../../git/worktree/worktree.ts";
import type { CommitId } from "../../ids.ts";
import { type Batch, openBatch } from "../../store/files/batch.ts";
import type { StateLocation } from "../../store/location.ts";
import { ensureWorkspace } from "../../store/workspace.ts";
import type { Order } from "../protocol/order.ts";
import type { AcceptedOrder } from "./accept-order.ts";
import type { Equipment } from "./equipment.ts";

export interface Workplace {
  worktree: Worktree;
  location: StateLocation;
  batch: Batch;
  bench: AttemptBench & WorktreeBench;
}

/** The repository with the project where the order says that it is. */
export function projectIn(repository: Repository, { prefix }: Order): Repository {
  return { ...repository, prefix, projectRoot: join(repository.toplevel, prefix) };
}

/** Creates the worktree, and writes the copy of the session. */
export async function openWorkplace(
  equipment: Equipment,
  repository: Repository,
  { order, project, journal }: AcceptedOrder,
  location: StateLocation,
): Promise<Workplace> {
  const commit = await commitTree(repository, {
    tree: project,
    parents: [],
    message: "The project as Maestro found it",
  });
  const name = freeName(repository, `w${process.pid}-`, reserved);
  reserved.add(name);
  try {
    const from = { commit, ignored: [], links: [] };
    const worktree = await addWorktree(repository, order.session, name, from, order.key);
    ensureWorkspace(location);
    writeFileSync(join(location.root, "state", "progress.jsonl"), journal, { mode: 0o600 });
    return { worktree, location, ...(await benchFor(equipment, repository, order, location)) };
  } finally {
    reserved.delete(name);
  }
}

/** Names that are taken before their directory exists. */
const reserved = new Set<string>();

/** What the engine's own functions need to run a setup command and an agent here. */
export async function benchFor(
  equipment: Equipment,
  repository: Repository,
  order: Order,
  location: StateLocation,
): Promise<Pick<Workplace, "batch" | "bench">> {
  const { run, supervisor, prices, redact } = equipment;
  const batch = openBatch(location, order.session);
  const options: IsolationOptions = {
    projectRoot: repository.projectRoot,
    prefix: "",
    worktrees: "all",
    repository,
    ownership: "strict",
    isShared: false,
    exclude: [],
    include: [],
    setup: order.setup,
    sandbox: order.sandbox ? await equipment.sandbox(repository, location) : null,
  };
  const bench = {
    ...{ run, supervisor, prices, redact, batch },
    ...equipment.environment(order.passes),
    store: { location, session: { session_id: order.session } },
    isolation: { options },
    limits: { validationTimeoutMs: order.setup_timeout_ms },
    validator: inShell,
  };
  return { batch, bench };
}

/**
 * Runs the setup command. Returns the paths that it changed: they are not the agent's work unless the agent changes them too. Null when it
 * was stopped.
 */
export async function setUpPlace(
  { bench, worktree }: Workplace,
  repository: Repository,
  order: Order,
  stopping: Stopping,
): Promise<{ commit: CommitId; paths: string[] } | null> {
  if (order.setup === "") return { commit: worktree.commit, paths: [] };
  const placed = { phase: order.phase, name: order.name };
  if (!(await runSetup(bench, placed, worktree, stopping))) return null;
  const { commit } = await treeOf(repository, worktree, { exclude: [], force: order.force, isOver: true });
  const made = await changesBetween(repository, worktree.commit, commit);
  return { commit, paths: made.map(({ path }) => path) };
}
