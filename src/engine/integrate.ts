// From an attempt's success to the project: merged with the project as it is now, proved on the merged tree, brought in whole or not at all.
// One change enters at a time. A proof is good for the tree it was made on: if the project has changed meanwhile, it is made again.

import { errno, MaestroError, reasonOf } from "../errors.ts";
import { changesBetween } from "../git/changes.ts";
import { commitTree } from "../git/commit.ts";
import { type ConflictFile, mergeTrees } from "../git/merge.ts";
import type { Snapshot } from "../git/snapshot.ts";
import { addWorktree, adoptWorktree, resetWorktree, type Worktree } from "../git/worktree.ts";
import type { Killed } from "../runtimes/runtime.ts";
import { conflictLine } from "../session/conflict.ts";
import { requirePhase, requireSession } from "../session/decide.ts";
import type { Warned } from "../session/decide-attempt.ts";
import { lastAttempt, type Session, type SessionPhase } from "../session/session.ts";
import { readIntent } from "../store/integration-file.ts";
import { bringIn } from "./bring-in.ts";
import { isTakenOver, scopeRules } from "./judge-work.ts";
import { inWorktree, sandboxed, whenReadable } from "./place.ts";
import { startValidation, type ValidationResult } from "./validation.ts";
import type { Workshop } from "./workshop.ts";

/** How often a proof is made again because the project changed under it, before it has to do. */
const MAX_PROOFS = 4;

export type Integration =
  | { kind: "stopped" }
  | {
      kind: "done";
      attempt: number;
      from: string;
      to: string;
      /** False: there was nothing that may come in. */
      isTakenOver: boolean;
      validation: Proof | null;
      warnings: Warned[];
    }
  | { kind: "invalid"; validation: Proof }
  /** One line a file; the words of the File Conflict block. */
  | { kind: "conflict"; message: string }
  /** What must not reach the project at all. */
  | { kind: "refused"; message: string }
  /** Git or the disk failed; the project is as it was. */
  | { kind: "broken"; message: string };

export type Proof = Exclude<ValidationResult, { kind: "stopped" }>;

export interface IntegrationRun {
  done: Promise<Integration>;
  stop: (why: Killed) => void;
}

export function startIntegration(workshop: Workshop, id: string): IntegrationRun {
  let stopped = false;
  let stopProof: (why: Killed) => void = () => undefined;
  const stop = (why: Killed) => {
    stopped = true;
    stopProof(why);
  };
  const isStopped = (run: (why: Killed) => void) => {
    stopProof = run;
    return stopped;
  };
  const done = integrate(workshop, id, isStopped).catch((error: unknown): Integration => {
    const hasGivenUp = stopped && error instanceof MaestroError && error.code === "conflict";
    return hasGivenUp ? { kind: "stopped" } : brokenBy(workshop, error);
  });
  return { done, stop };
}

/** An agent's work is kept whatever happens. Only with a change half in the project nobody can go on. */
function brokenBy({ store }: Workshop, error: unknown): Integration {
  const isExpected = error instanceof MaestroError || errno(error) !== undefined;
  if (!isExpected || readIntent(store.location) !== undefined) throw error;
  return { kind: "broken", message: `The work could not be brought into the project: ${reasonOf(error)}` };
}

/** Told how to end what runs at this moment; answers whether it should. */
type Starting = (stop: (why: Killed) => void) => boolean;

interface Candidate {
  phase: SessionPhase;
  attempt: number;
  base: string;
  /** Its work, as far as it is taken over. */
  theirs: string;
  isTakenOver: boolean;
}

async function integrate(workshop: Workshop, id: string, starting: Starting): Promise<Integration> {
  const { isolation } = workshop;
  const candidate = candidateOf(workshop, id);
  // The first proof does not keep others from coming in; from the second on they wait, so that there is an end to it.
  const first = await round(workshop, candidate, starting, {});
  if (first.kind !== "moved") return first;
  return isolation.gate.take(async () => {
    for (let proof = 2; ; proof += 1) {
      const isLast = proof === MAX_PROOFS;
      const result = await round(workshop, candidate, starting, { isAlone: true, isLast });
      if (result.kind !== "moved") return result;
      // A file that never holds what the snapshot says: something stands between git and the disk.
      if (isLast) return conflict(workshop, candidate, result.paths);
    }
  });
}

/** Somebody changed the project a moment ago, these files among others. */
interface Moved {
  kind: "moved";
  paths: string[];
}

function conflict({ store }: Workshop, { phase }: Candidate, paths: readonly string[]): Integration {
  const session = requireSession(store.session);
  return { kind: "conflict", message: paths.map((path) => conflictLine(session, phase, path)).join("\n") };
}

/** The project as it is now; for somebody whose turn it is. */
function projectNow(workshop: Workshop, starting: Starting): Promise<Snapshot> {
  const { isolation, store } = workshop;
  const look = () => isolation.snapshot(requireSession(store.session));
  return whenReadable(workshop, look, () => starting(() => undefined));
}

function candidateOf(workshop: Workshop, id: string): Candidate {
  const phase = requirePhase(requireSession(workshop.store.session), id);
  const attempt = lastAttempt(phase);
  const { base = null, commit = null } = attempt?.changes ?? {};
  if (attempt === undefined || base === null || commit === null)
    throw new Error(`phase ${id} has no work to take over`);
  const mayComeIn = isTakenOver(scopeRules(workshop, phase));
  return { phase, attempt: attempt.attempt, base, theirs: mayComeIn ? commit : base, isTakenOver: mayComeIn };
}

async function round(
  workshop: Workshop,
  candidate: Candidate,
  starting: Starting,
  { isAlone = false, isLast = false }: { isAlone?: boolean; isLast?: boolean },
): Promise<Integration | Moved> {
  const { isolation } = workshop;
  const hasCommands = (candidate.phase.plan?.validation ?? []).length > 0;
  if (!hasCommands) return enter(workshop, isAlone, () => mergeAndBring(workshop, candidate, starting));
  const ours = await isolation.tree.take(() => projectNow(workshop, starting));
  const merged = await merge(workshop, candidate, ours.commit);
  if (merged.kind === "conflict") return merged;
  const proof = await prove(workshop, candidate, { ...ours, parent: ours.commit, tree: merged.tree }, starting);
  if (proof.kind === "stopped") return proof;
  if (proof.kind === "fail") return { kind: "invalid", validation: proof };
  return enter(workshop, isAlone, async () => {
    const now = await projectNow(workshop, starting);
    if (now.tree === ours.tree) return bring(workshop, candidate, ours.tree, merged.tree, proof);
    if (!isLast) return { kind: "moved", paths: [] };
    const result = await mergeAndBring(workshop, candidate, starting, proof);
    return result.kind === "done" ? { ...result, warnings: [unproved] } : result;
  });
}

const unproved: Warned = {
  code: "unjudged",
  message: "The project kept changing while the work was validated: what was proved is not quite what is there now",
};

/** One at a time; who proves alone has the gate already. */
function enter<T>({ isolation }: Workshop, isAlone: boolean, work: () => Promise<T>): Promise<T> {
  const inside = () => isolation.tree.take(work);
  return isAlone ? inside() : isolation.gate.take(inside);
}

async function mergeAndBring(
  workshop: Workshop,
  candidate: Candidate,
  starting: Starting,
  proof: Proof | null = null,
): Promise<Integration | Moved> {
  const ours = await projectNow(workshop, starting);
  const merged = await merge(workshop, candidate, ours.commit);
  return merged.kind === "conflict" ? merged : bring(workshop, candidate, ours.tree, merged.tree, proof);
}

async function bring(
  { isolation, store }: Workshop,
  { phase, attempt, isTakenOver: mayComeIn }: Candidate,
  from: string,
  to: string,
  validation: Proof | null,
): Promise<Integration | Moved> {
  const { session_id: session } = requireSession(store.session);
  const intent = { session, phase: phase.id, attempt, what: "integrate", from, to } as const;
  try {
    const brought = await bringIn({ repository: isolation.repository, location: store.location }, intent);
    isolation.changed();
    if (brought.kind === "changed") return { kind: "moved", paths: brought.paths };
    return { kind: "done", attempt, from, to, isTakenOver: mayComeIn, validation, warnings: [] };
  } catch (error) {
    if (!(error instanceof MaestroError) || error.code !== "path") throw error;
    return { kind: "refused", message: error.message };
  }
}

async function merge(
  { isolation, store }: Workshop,
  { phase, base, theirs }: Candidate,
  ours: string,
): Promise<{ kind: "clean"; tree: string } | { kind: "conflict"; message: string }> {
  const { repository } = isolation;
  const merged = await mergeTrees(repository, { base, ours, theirs });
  if (merged.kind === "clean") return merged;
  const changed = new Set(
    (await changesBetween(repository, base, ours)).flatMap(({ path, from }) => [path, from ?? path]),
  );
  const session = requireSession(store.session);
  return { kind: "conflict", message: conflictMessage(session, phase, merged.files, changed) };
}

function conflictMessage(
  session: Session,
  phase: SessionPhase,
  files: readonly ConflictFile[],
  changed: ReadonlySet<string>,
): string {
  // A file in the way of a directory, or a directory that was renamed, may be named by something that nobody changed itself.
  const known = files.filter(({ path }) => changed.has(path));
  return (known.length > 0 ? known : files).map(({ path }) => conflictLine(session, phase, path)).join("\n");
}

interface Proving {
  parent: string;
  tree: string;
  ignored: string[];
  links: string[];
}

/** The validation commands on the merged tree, in the attempt's own worktree or a new one. */
async function prove(
  workshop: Workshop,
  { phase, attempt }: Candidate,
  { parent, tree, ignored, links }: Proving,
  starting: Starting,
): Promise<ValidationResult> {
  const { repository } = workshop.isolation;
  const message = `Phase ${phase.id}, attempt ${attempt}, merged`;
  const commit = await commitTree(repository, { tree, parents: [parent], message });
  const name = lastAttempt(phase)?.placed?.worktree ?? workshop.isolation.reserve();
  const there = adoptWorktree(repository, name);
  const worktree: Worktree =
    there === undefined
      ? await addWorktree(repository, name, { commit, ignored, links })
      : await resetWorktree(repository, there, commit);
  const run = startValidation(workshop, phase.id, {
    cwd: worktree.root,
    tree,
    env: inWorktree(workshop),
    wrap: (command) => sandboxed(workshop, command, worktree),
  });
  if (starting(run.stop)) run.stop("stopped");
  return run.done;
}
