// The common part of apply and revert: merges one attempt's change into or out of the current project, completely or not at all.
// A conflict changes nothing, and no other engine may be running.

import { bringIn, type GitProject } from "../../engine/integrate/bring-in.ts";
import { declaredFiles } from "../../engine/isolation.ts";
import { type KeptWork, requireKept } from "../../engine/kept-work.ts";
import { excluded } from "../../engine/open-project.ts";
import { finishChange } from "../../engine/recovery/finish-change.ts";
import { discardObjects } from "../../engine/recovery/prune.ts";
import { NEEDS_A_PERSON } from "../../exit-codes.ts";
import { changesBetween, type TreeChange } from "../../git/objects/changes.ts";
import { describeLinks, linksOutside } from "../../git/objects/links.ts";
import { type ConflictFile, type MergeRequest, mergeTrees } from "../../git/objects/merge.ts";
import { treeWithout } from "../../git/objects/tree-without.ts";
import type { Repository } from "../../git/repository.ts";
import { stopGit } from "../../git/running.ts";
import { snapshot } from "../../git/snapshot/snapshot.ts";
import type { ProjectChange } from "../../session/decide/applied-work.ts";
import { filesOf } from "../../session/decide/attempt.ts";
import { requirePhase } from "../../session/decide/operation.ts";
import type { SessionEvent } from "../../session/events.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { claimEngine } from "../../store/engine-lock.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { fileLines } from "../../views/diff.ts";
import { oneLine } from "../../views/text/cell.ts";
import { amountText } from "../../views/work.ts";
import { openStore, settingsOf, tellUser } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { paint } from "../paint.ts";
import { type AttemptWithChanges, requireRepository, unchangedLine, unkeptLine, type WorkFlags } from "./kept-work.ts";
import { sessionFor } from "./results.ts";

export interface ChangeVerb {
  what: "apply" | "revert";
  done: "applied" | "reverted";
  /** The attempt to apply or revert; undefined when none has recorded changes. */
  choose(phase: SessionPhase, number: string | undefined): AttemptWithChanges | undefined;
  merge(kept: KeptWork): Omit<MergeRequest, "ours">;
  /** The message when the merge changes nothing in the project. */
  already: string;
  /** Tells the user how to resolve a conflict. */
  advice(phase: string): string;
  /** A warning about the changed files, if one is needed. */
  warning?(work: ChosenWork, paths: ReadonlySet<string>): string | undefined;
  /** The next step for the user, if one remains. */
  next(work: ChosenWork): string | undefined;
  /** The events to record; empty when the session has already recorded the change. */
  events(work: ChosenWork, change: ProjectChange): SessionEvent[];
}

export interface ChosenWork {
  session: Session;
  phase: SessionPhase;
  attempt: AttemptWithChanges;
}

export async function changeProject(io: Io, id: string, flags: WorkFlags, verb: ChangeVerb): Promise<number> {
  const store = openStore(io, settingsOf(io));
  try {
    requirePhase(sessionFor(store, flags.session), id);
    const project = {
      repository: await requireRepository(io, store.location, { phase: id, session: flags.session }),
      location: store.location,
    };
    const release = claimEngine(store.location);
    try {
      const finished = await finishChange(project, store, io.now());
      if (finished !== undefined) io.err(`WARNING: ${finished}\n`);
      return await change(io, { store, project }, id, flags, verb);
    } finally {
      await discardObjects(project, store.session);
      release();
    }
  } finally {
    store.close();
  }
}

interface Place {
  store: SessionStore;
  project: GitProject;
}

async function change(
  io: Io,
  { store, project }: Place,
  id: string,
  flags: WorkFlags,
  verb: ChangeVerb,
): Promise<number> {
  const session = sessionFor(store, flags.session);
  const phase = requirePhase(session, id);
  const attempt = verb.choose(phase, flags.attempt);
  if (attempt === undefined || attempt.changes.total === 0) return unchanged(io, session, phase, attempt, flags, verb);
  const work = { session, phase, attempt };
  const { repository, location } = project;
  const kept = await ownWork(repository, attempt, await requireKept(repository, session.session_id, id, attempt));
  const options = { exclude: excluded(repository, location, io.env), include: [], force: declaredFiles(session) };
  const { tree: from } = await snapshot(repository, options);
  const merged = await mergeTrees(repository, { ...verb.merge(kept), ours: from });
  if (merged.kind === "conflict") return conflict(io, work, merged.files, flags, verb, verb.advice(id));
  const changes = await changesBetween(repository, from, merged.tree);
  const links = await linksOutside(repository, from, merged.tree);
  // The next step depends on the phase's status before the change is recorded.
  const next = store.session?.session_id === session.session_id ? verb.next(work) : undefined;
  // The change is short, and another command would have to finish a partial one, so only a second signal interrupts it.
  let signals = 0;
  const stopListening = io.onSignal(() => {
    signals += 1;
    if (signals > 1) stopGit();
  });
  try {
    const about = { session: session.session_id, phase: phase.id, attempt: attempt.attempt, what: verb.what };
    const brought = await bringIn(project, { ...about, from, to: merged.tree });
    if (brought.kind === "changed") {
      const files = brought.paths.map((path) => ({ path, reason: "on disk it differs from git's version" }));
      const advice =
        "If another process just changed the file, try again. A content filter (git-lfs, git-crypt) has the same effect.";
      return conflict(io, work, files, flags, verb, advice);
    }
    record(store, work, verb, { from, to: merged.tree, files: filesOf({ files: changes }) }, io.cwd);
  } finally {
    stopListening();
  }
  const missing = unkeptLine(attempt.changes);
  if (links.length > 0) io.err(`WARNING: ${describeLinks(links)}\n`);
  if (missing !== undefined && verb.what === "apply") io.err(`WARNING: ${missing}\n`);
  return tell(io, { ...work, next }, changes, flags, verb);
}

/** An attempt that ran in the project itself shared it with others: files that its phase does not own may be theirs and are left out. */
async function ownWork(
  repository: Repository,
  { placed, changes }: AttemptWithChanges,
  { base, commit }: KeptWork,
): Promise<KeptWork> {
  if (placed?.worktree !== null || changes.outside.length === 0) return { base, commit };
  return { base, commit: await treeWithout(repository, { tree: commit, base, paths: changes.outside }) };
}

function record(
  store: SessionStore,
  work: ChosenWork,
  verb: ChangeVerb,
  change: Omit<ProjectChange, "hashes">,
  projectRoot: string,
): void {
  const { session_id } = work.session;
  // An archived session is never changed.
  if (store.session?.session_id !== session_id) return;
  const { created, modified, deleted } = change.files;
  store.update((session) => {
    if (session?.session_id !== session_id) return { events: [], result: undefined };
    const hashes = hashFiles(projectRoot, [...created, ...modified, ...deleted]);
    return { events: verb.events(work, { ...change, hashes }), result: undefined };
  });
}

function unchanged(
  io: Io,
  { session_id: session }: Session,
  phase: SessionPhase,
  attempt: AttemptWithChanges | undefined,
  flags: WorkFlags,
  verb: ChangeVerb,
): number {
  const number = attempt?.attempt ?? (flags.attempt === undefined ? null : Number(flags.attempt));
  if (flags.json) printJson(io, { session, phase: phase.id, attempt: number, [verb.done]: false, files: [] });
  // No engine is running, so no agent is at work.
  else tellUser(io, `${unchangedLine(phase, attempt, flags, false)}\n`);
  return 0;
}

function tell(
  io: Io,
  work: ChosenWork & { next: string | undefined },
  changes: readonly TreeChange[],
  flags: WorkFlags,
  verb: ChangeVerb,
): number {
  const { session, phase, attempt } = work;
  const { outside } = attempt.changes;
  const files = changes.map(({ binary, added, removed, ...file }) =>
    binary ? { ...file, added: null, removed: null } : { ...file, added, removed },
  );
  const warning = verb.warning?.(work, new Set(changes.flatMap(({ path, from }) => [path, from ?? path])));
  if (warning !== undefined) io.err(`WARNING: ${warning}\n`);
  if (flags.json) {
    const about = { session: session.session_id, phase: phase.id, attempt: attempt.attempt };
    printJson(io, { ...about, [verb.done]: true, changed: files.length > 0, files });
    return 0;
  }
  const what = `Attempt ${attempt.attempt} of phase ${phase.id}`;
  if (files.length === 0) io.out(`${what} ${verb.already}\n`);
  else {
    const sum = (count: (change: TreeChange) => number) => changes.reduce((all, one) => all + count(one), 0);
    const amount = { files: files.length, added: sum(({ added }) => added), removed: sum(({ removed }) => removed) };
    io.out(`${what} is ${verb.done}: ${amountText(amount)}\n`);
    io.out(`${fileLines({ files, total: files.length, outside }, paint(io.color)).join("\n")}\n`);
  }
  if (work.next !== undefined) tellUser(io, `${work.next}\n`);
  return 0;
}

/** Prints the File Conflict block, with the reason for each file. */
function conflict(
  io: Io,
  { session, phase, attempt }: ChosenWork,
  files: readonly ConflictFile[],
  flags: WorkFlags,
  verb: ChangeVerb,
  advice: string,
): number {
  if (flags.json) {
    const about = { session: session.session_id, phase: phase.id, attempt: attempt.attempt };
    printJson(io, { ...about, [verb.done]: false, conflicts: files });
    return NEEDS_A_PERSON;
  }
  const lines = [
    "File Conflict Detected",
    "",
    `Phase: ${oneLine(phase.name)}`,
    `Agent: ${attempt.agent}`,
    "",
    "Conflicting Files:",
    ...files.map(({ path, reason }) => `- ${oneLine(path)} (${reason})`),
    "",
    "Nothing was changed.",
    advice,
  ];
  tellUser(io, `${lines.join("\n")}\n`);
  return NEEDS_A_PERSON;
}
