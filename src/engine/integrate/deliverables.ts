// Looks up the files that a phase declares: in the tree that is applied, or in the project when the phase worked there. A tree is read
// only when the attempt's changes do not answer already. `session/deliverables.ts` decides.

import { filesBelow } from "../../git/objects/objects.ts";
import { turns } from "../../git/yield-turn.ts";
import type { ObjectId, PhaseId } from "../../ids.ts";
import { writtenClaims } from "../../session/decide/claims.ts";
import { type FileLists, requirePhase, requireSession } from "../../session/decide/operation.ts";
import {
  type DeclaredFiles,
  type DeliveryVerdict,
  declaredLists,
  declaredPath,
  isNamed,
  judgeDelivery,
  knownChanges,
  owesFiles,
} from "../../session/deliverables.ts";
import type { FileChange } from "../../session/events.ts";
import type { SessionPhase } from "../../session/session.ts";
import { type DeliveryQuestion, projectQuestion } from "../../store/delivery.ts";
import { type findDeclared, searchDeclared } from "../../store/files/declared-files.ts";
import type { RunContext } from "../run-context.ts";

/** Above this number of paths, git lists the whole tree. */
const MAX_PATHS = 200;

/** What an attempt left: its changes, and the files that its report names. */
interface Left {
  /** Null when they were not examined. */
  files: readonly Pick<FileChange, "path" | "from" | "kind">[] | null;
  /** The attempt's own tree; null when it worked in the project. */
  commit: ObjectId | null;
  reported: FileLists | undefined;
  /** The project root that its agent saw. */
  root: string;
}

/** Null when the phase declares no files, or no real agent worked on it. */
export async function attemptDelivery(context: RunContext, id: PhaseId, left: Left): Promise<DeliveryVerdict | null> {
  const phase = requirePhase(requireSession(context.store.session), id);
  const tier = tierOf(context, phase);
  if (!context.callsModel || !owesFiles(phase, tier)) return null;
  const { files, commit, reported, root } = left;
  if (commit === null) return searchProject(context, phase, { reported, changes: files ?? undefined, tier });
  const changes = { ...knownChanges(phase, files ?? []), unchanged: new Set<string>() };
  const claims = writtenClaims(reported ?? { created: [], modified: [], deleted: [] }, [root]);
  const present = await presentIn(context, commit, declaredLists(phase), files ?? []);
  const verdict = judgeDelivery({
    declared: declaredLists(phase),
    ...{ tier, present, isSearched: true, changes, reported: claims },
  });
  return { ...verdict, ignored: await foundIn(root, verdict.missing.filter(isSeveral)) };
}

/** Only a file that is declared by its own name is part of the work although git ignores it. */
function isSeveral(path: string): boolean {
  return path.endsWith("/") || declaredPath(path).isGlob;
}

/** Which of the paths name files of the agent's directory. */
async function foundIn(root: string, created: readonly string[]): Promise<string[]> {
  if (created.length === 0) return [];
  const { present } = await searched(root, { created, modified: [], deleted: [] }, []);
  const names = present.filter((path) => !path.endsWith("/")).map((path) => path.split("/"));
  return created.filter((path) => names.some((one) => isNamed(declaredPath(path), one)));
}

/** What is missing in the merged tree, or still there. Whether a file changed was judged when the attempt ended. */
export async function mergedDelivery(
  context: RunContext,
  phase: SessionPhase,
  tree: ObjectId,
): Promise<DeliveryVerdict | null> {
  const tier = tierOf(context, phase);
  if (!context.callsModel || !owesFiles(phase, tier)) return null;
  const declared = { ...declaredLists(phase), modified: [] };
  const present = await presentIn(context, tree, declared, phase.attempts.at(-1)?.changes?.files ?? []);
  const unknown = { paths: new Set<string>(), isComplete: false, unchanged: new Set<string>() };
  return judgeDelivery({ declared, tier, present, isSearched: true, changes: unknown, reported: new Set() });
}

/** For a phase that worked in the project and whose validation commands have passed. */
export async function deliveryInProject(context: RunContext, id: PhaseId): Promise<DeliveryVerdict | null> {
  const phase = requirePhase(requireSession(context.store.session), id);
  if (!context.callsModel) return null;
  return searchProject(context, phase, { tier: tierOf(context, phase) });
}

function tierOf({ agents }: RunContext, phase: SessionPhase) {
  return agents.get(phase.agents[0] ?? "")?.tier;
}

async function searchProject(
  { projectRoot }: RunContext,
  phase: SessionPhase,
  evidence: Parameters<typeof projectQuestion>[2],
): Promise<DeliveryVerdict | null> {
  const question: DeliveryQuestion | null = projectQuestion(projectRoot, phase, evidence);
  if (question === null) return null;
  const { declared, likely, known } = question;
  return judgeDelivery({ ...known, ...(await searched(projectRoot, declared, likely)) });
}

async function searched(...question: Parameters<typeof searchDeclared>): Promise<ReturnType<typeof findDeclared>> {
  const search = searchDeclared(...question);
  const pause = turns();
  for (;;) {
    const step = search.next();
    if (step.done) return step.value;
    await pause();
  }
}

/** The paths of the tree that declared paths name, as far as they matter. */
async function presentIn(
  { isolation }: RunContext,
  tree: ObjectId,
  { created, deleted }: DeclaredFiles,
  files: readonly Pick<FileChange, "path" | "from" | "kind">[],
): Promise<string[]> {
  const written = files.filter(({ kind }) => kind !== "deleted").map(({ path }) => ({ path, names: path.split("/") }));
  const gone = new Set(files.map(({ kind, path, from }) => (kind === "deleted" ? path : from)));
  const missing = created.map(declaredPath).filter((one) => !written.some(({ names }) => isNamed(one, names)));
  const undecided = deleted.map(declaredPath).filter(({ path, isGlob }) => isGlob || !gone.has(path));
  const starts = [...missing, ...undecided].flatMap(({ patterns }) =>
    patterns.map(({ segments, literal }) => segments.slice(0, literal).join("/")),
  );
  const paths = written.map(({ path }) => path);
  if (starts.length === 0) return paths;
  return [...paths, ...(await filesBelow(isolation.repository, tree, starts.length > MAX_PATHS ? [""] : starts))];
}
