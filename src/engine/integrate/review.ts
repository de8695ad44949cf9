// Reviews by the user: the tree that is shown, the same tree as it is now, and the answer. An approval is recorded only for the tree that was
// shown; when the tree has moved on, the review is opened again with the new one. Changes no file of the project.

import { createHash } from "node:crypto";
import { MaestroError } from "../../errors.ts";
import { type ConflictFile, mergeTrees } from "../../git/objects/merge.ts";
import { withPassingObjects } from "../../git/objects/own-objects.ts";
import type { Opening } from "../../git/open.ts";
import type { Repository } from "../../git/repository.ts";
import { snapshot } from "../../git/snapshot/snapshot.ts";
import type { TreeId } from "../../ids.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { decideApproval, decideReview, requireReview } from "../../session/decide/review/decide-review.ts";
import type { Review, Session } from "../../session/session.ts";
import type { Environment } from "../../setting-layers.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import type { SessionStore, Update } from "../../store/session-store.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import { declaredFiles } from "../isolation.ts";
import { excluded } from "../open-project.ts";
import type { RunContext } from "../run-context.ts";
import type { BatchReview } from "../schedule.ts";

/** The project as a batch left it. */
export async function projectTree({ isolation, store, projectRoot }: RunContext): Promise<TreeId> {
  const session = requireSession(store.session);
  if (isolation.options.repository === null) return recordedFiles(projectRoot, session);
  return (await isolation.tree.take(() => isolation.snapshot(session))).tree;
}

export function recordBatchReview({ batch, phases }: BatchReview, tree: TreeId, update: Update): void {
  update((current) => ({ events: decideReview(requireSession(current), { batch, phases, tree }), result: undefined }));
}

export interface ReviewPlace {
  store: SessionStore;
  env: Environment;
  /** Opens the git repository of the project. */
  open: () => Promise<Opening>;
}

export type ReviewAnswer =
  | { kind: "approved"; review: Review; isRunning: boolean }
  /** The tree has moved on: `review` has the new one, and waits for an answer. */
  | { kind: "moved"; review: Review }
  /** The work no longer merges with the project. */
  | { kind: "conflict"; review: Review; files: ConflictFile[] };

/** `shown`: how the id of the tree begins that the user saw; absent: the recorded one. */
export async function approveReview(
  place: ReviewPlace,
  { name, shown = "", reason }: { name: string; shown?: string | undefined; reason?: string | undefined },
): Promise<ReviewAnswer> {
  const { store } = place;
  store.read();
  const session = requireSession(store.session);
  const review = requireReview(session, name);
  const now = await treeNow(place, session, review);
  if (now.kind === "conflict") return { kind: "conflict", review, files: now.files };
  if (now.tree !== review.tree) {
    store.update((current) => ({
      events: decideReview(requireSession(current), { ...review, tree: now.tree }),
      result: undefined,
    }));
    return { kind: "moved", review: { ...review, tree: now.tree } };
  }
  if (!review.tree.startsWith(shown)) return { kind: "moved", review };
  const isReading = session.status === "in_progress" && runningEngine(store.location) !== undefined;
  store.update((current) => ({ events: decideApproval(requireSession(current), review, reason), result: undefined }));
  return { kind: "approved", review, isRunning: isReading };
}

/** Why an approval was not recorded, for people. */
export function approvalRefusal(approval: ReviewAnswer): string {
  if (approval.kind !== "conflict") return "the work has changed since it was shown to you. It is shown again";
  const names = someOf(
    approval.files.map(({ path }) => oneLine(path)),
    MAX_NAMED,
  );
  return `its work no longer merges with the project (${names}). Reject it, or undo your changes`;
}

const MAX_NAMED = 10;

type TreeNow = { kind: "clean"; tree: TreeId } | { kind: "conflict"; files: ConflictFile[] };

async function treeNow({ store, env, open }: ReviewPlace, session: Session, review: Review): Promise<TreeNow> {
  const opening = await open();
  if (opening.kind !== "open") {
    if (review.batch === undefined) throw new MaestroError("environment", `Cannot read the work: ${opening.reason}`);
    return { kind: "clean", tree: recordedFiles(store.location.projectRoot, session) };
  }
  const exclude = excluded(opening.repository, store.location, env);
  return withPassingObjects(opening.repository, async (repository) => {
    const { tree, commit: ours } = await snapshot(repository, { exclude, include: [], force: declaredFiles(session) });
    return review.batch === undefined ? withWork(repository, session, review, ours) : { kind: "clean", tree };
  });
}

async function withWork(
  repository: Repository,
  session: Session,
  { phases, attempt }: Review,
  ours: Parameters<typeof mergeTrees>[1]["ours"],
): Promise<TreeNow> {
  const { attempts } = requirePhase(session, phases[0] ?? "");
  const { base, commit } = attempts.find((one) => one.attempt === attempt)?.changes ?? {};
  if (!base || !commit) throw new Error(`the work of phase ${phases[0]} is not recorded`);
  return mergeTrees(repository, { base, ours, theirs: commit });
}

/** Outside git, the recorded files stand for the project. */
function recordedFiles(projectRoot: string, session: Session): TreeId {
  const hashes = hashFiles(projectRoot, [...session.file_hashes.keys()].sort());
  return createHash("sha256").update(JSON.stringify(hashes)).digest("hex") as TreeId;
}
