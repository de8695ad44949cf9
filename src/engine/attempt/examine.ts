// Finds out what an attempt changed, from its files and never from its report: every changed file with line counts, kept as a commit.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { changesBetween, type TreeChange } from "../../git/objects/changes.ts";
import { commitTree, treeIdOf } from "../../git/objects/commit.ts";
import { describeLinks, type LinkOutside, linksOutside } from "../../git/objects/links.ts";
import { keepCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import type { Bound } from "../../git/snapshot/bounded.ts";
import { treeOf, type Worktree, type WorktreeTree } from "../../git/worktree/worktree.ts";
import type { CommitId, ObjectId, PhaseId, TreeId } from "../../ids.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { type FileChange, MAX_LISTED_CHANGES, MAX_LISTED_OUTSIDE, type WarningCode } from "../../session/events.ts";
import { outsideScope, ownershipOf } from "../../session/scope.ts";
import type { Changes, Session, SessionPhase } from "../../session/session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import { declaredFiles, type Ground, type Moment } from "../isolation.ts";
import type { RunContext } from "../run-context.ts";
import { listedLinks } from "./listed-links.ts";
import { type Listing, listingChanges } from "./listing.ts";

export interface ExaminedWork {
  changes: Changes;
  /** All changes, not cut to what an event can list. */
  files: readonly FileChange[];
  /** The paths that this attempt changed itself; the others were changed before it began. Absent: all of `files`. */
  fresh?: ReadonlySet<string>;
  /** `shared`: other attempts worked in the same directory, so a change cannot be attributed to one of them. */
  where: "worktree" | "project" | "shared";
  warnings: { code: WarningCode; message: string }[];
  /** Why the work cannot be integrated, regardless of ownership. */
  trouble: string | null;
}

interface Examined {
  phase: PhaseId;
  attempt: number;
}

const MAX_NAMED = 10;
const MEGABYTE = 1024 * 1024;
/** How much of an attempt's changes outside its scope is kept for review; more would only fill the repository. */
const MAX_REFUSED_BYTES = 10 * MEGABYTE;

/**
 * Null when the state before the attempt was not recorded. `integratesUnowned`: whether changes that the phase does not own are integrated as
 * well; called only when there are such changes.
 */
export async function examine(
  context: RunContext,
  examined: Examined,
  ground: Ground,
  integratesUnowned: () => boolean = () => false,
): Promise<ExaminedWork | null> {
  if (ground.before === null) return null;
  // Files granted to the agent during the attempt were recorded by another process.
  context.store.refresh();
  const { before, worktree } = ground;
  if (worktree !== null) {
    if (typeof before !== "string") throw new Error("a worktree always starts from a commit");
    const { isolation, store } = context;
    const place = { repository: isolation.repository, exclude: isolation.options.exclude, store };
    return examineWorktree(place, examined, worktree, before, integratesUnowned);
  }
  return inProject(context, examined, before);
}

interface Keeping {
  repository: Repository;
  store: Pick<SessionStore, "session">;
}

/** Compares a worktree with the commit it started from. */
export async function examineWorktree(
  { exclude, ...place }: Keeping & { exclude: readonly string[] },
  examined: Examined,
  worktree: Worktree,
  base: CommitId,
  integratesUnowned: () => boolean = () => false,
): Promise<ExaminedWork> {
  const { repository, store } = place;
  const session = requireSession(store.session);
  const phase = requirePhase(session, examined.phase);
  const { tree, nested, warnings, unkept } = await treeOf(repository, worktree, {
    exclude,
    force: declaredFiles(session),
    isOver: true,
    bound: rejectedBound(phase, integratesUnowned),
  });
  const { changes: inTree, commit } = await keepAsCommit(place, examined, phase, base, tree, unkept.length > 0);
  const changes = withUnkept(inTree, unkept);
  const left = [...worktree.warnings, ...warnings, ...(unkept.length === 0 ? [] : [tooLargeMessage(unkept)])];
  const leftOut = left.map((message) => ({ code: "left_out" as const, message }));
  const allWarnings = [...leftOut, ...(await linkWarnings(repository, base, commit))];
  const trouble = nestedTrouble(nested);
  // A worktree may start from its base plus the work of an earlier attempt.
  const began = worktree.commit === base ? changes : await changesBetween(repository, worktree.commit, commit);
  const fresh = new Set([...began, ...unkept.map(({ path }) => ({ path, from: path }))].flatMap(bothNames));
  const recordable = {
    ...changesOf(phase, changes, base, commit),
    ...(unkept.length === 0 ? {} : { unkept: unkept.map(({ path }) => path).slice(0, MAX_LISTED_OUTSIDE) }),
  };
  return { changes: recordable, files: changes, fresh, where: "worktree", warnings: allWarnings, trouble };
}

/** Why work with repositories of its own cannot be integrated; null without any. */
export function nestedTrouble(nested: readonly string[]): string | null {
  if (nested.length === 0) return null;
  return `It created nested git repositories, whose files cannot be integrated: ${nested.join(", ")}. Remove their .git`;
}

function bothNames({ path, from }: { path: string; from?: string | undefined }): string[] {
  return [path, from ?? path];
}

/** Bounds the size of files that are certain to be rejected. */
function rejectedBound(phase: SessionPhase, integratesUnowned: () => boolean): Bound {
  const owns = ownershipOf(phase);
  const isRejected = (path: string) => path.startsWith("../") || !integratesUnowned();
  return { bytes: MAX_REFUSED_BYTES, counts: (path) => !owns(path) && isRejected(path) };
}

type Unkept = WorktreeTree["unkept"];

function withUnkept(changes: readonly FileChange[], unkept: Unkept): FileChange[] {
  if (unkept.length === 0) return [...changes];
  const more = unkept.map(({ path, kind }): FileChange => ({ path, kind, added: null, removed: null }));
  return [...changes, ...more].sort((one, other) => (one.path < other.path ? -1 : 1));
}

function tooLargeMessage(unkept: Unkept): string {
  const bytes = unkept.reduce((sum, file) => sum + file.bytes, 0);
  const names = someOf(
    unkept.map(({ path }) => oneLine(path)),
    MAX_NAMED,
  );
  const limit = `at most ${MAX_REFUSED_BYTES / MEGABYTE} MB of files outside its scope are kept`;
  return `Not kept: ${names} (${(bytes / MEGABYTE).toFixed(1)} MB), because ${limit}`;
}

async function inProject(
  context: RunContext,
  examined: Examined,
  before: NonNullable<Ground["before"]>,
): Promise<ExaminedWork> {
  const { isolation, store } = context;
  const session = requireSession(store.session);
  const phase = requirePhase(session, examined.phase);
  const now = await isolation.latest(session);
  const links =
    typeof before === "string" && now.kind === "commit"
      ? await linkWarnings(isolation.repository, before, now.snapshot.commit)
      : [];
  if (isolation.options.isShared) {
    return { ...inSharedProject(session, phase, await differences(context, before, now)), warnings: links };
  }
  if (typeof before === "string" && now.kind === "commit") {
    const place = { repository: isolation.repository, store };
    const { changes, commit } = await keepAsCommit(place, examined, phase, before, now.snapshot.tree);
    // A file that git ignores since then has not been deleted.
    const files = changes.filter(
      ({ kind, path }) => kind !== "deleted" || !existsSync(join(context.projectRoot, path)),
    );
    return {
      changes: changesOf(phase, files, before, commit),
      files,
      fresh: notYetChangedIn(phase, files),
      where: "project",
      warnings: links,
      trouble: null,
    };
  }
  const files = await differences(context, before, now);
  const warnings = now.kind === "listing" ? listingWarnings(context.projectRoot, files, now.listing) : [];
  const fresh = notYetChangedIn(phase, files);
  return { changes: changesOf(phase, files, null, null), files, fresh, where: "project", warnings, trouble: null };
}

export async function linkWarnings(
  repository: Repository,
  from: ObjectId,
  to: ObjectId,
): Promise<ExaminedWork["warnings"]> {
  if (from === to) return [];
  return linkWarningsOf(await linksOutside(repository, from, to));
}

function linkWarningsOf(links: readonly LinkOutside[]): ExaminedWork["warnings"] {
  return links.length === 0 ? [] : [{ code: "link_outside", message: describeLinks(links) }];
}

export function listingWarnings(
  root: string,
  files: readonly FileChange[],
  listing: Listing,
): ExaminedWork["warnings"] {
  return [...listing.unreadable.map(unreadable), ...linkWarningsOf(listedLinks(root, files, listing))];
}

/** The files that no earlier attempt of the phase changed. */
function notYetChangedIn({ attempts }: SessionPhase, files: readonly FileChange[]): Set<string> {
  const known = new Set(attempts.flatMap(({ changes }) => changes?.files.map(({ path }) => path) ?? []));
  return new Set(files.map(({ path }) => path).filter((path) => !known.has(path)));
}

function unreadable(path: string): ExaminedWork["warnings"][number] {
  return { code: "left_out", message: `${path} cannot be read, so changes in it are unknown` };
}

async function differences(
  { isolation }: RunContext,
  before: NonNullable<Ground["before"]>,
  now: Moment,
): Promise<FileChange[]> {
  if (typeof before !== "string" && now.kind === "listing") return listingChanges(before, now.listing);
  if (typeof before !== "string" || now.kind !== "commit")
    throw new Error("the states before and after are of different kinds");
  if (before === now.snapshot.commit) return [];
  return (await changesBetween(isolation.repository, before, now.snapshot.commit)).map(recorded);
}

/** Changes made while several attempts ran: files that the phase owns are attributed to it, files that no running phase owns are reported. */
export function inSharedProject(
  session: Session,
  phase: SessionPhase,
  files: readonly FileChange[],
  since = phase.attempts.at(-1)?.started ?? "",
): ExaminedWork {
  const outside = new Set(outsideScope(phase, files));
  const own = files.filter(({ path, from }) => !outside.has(path) && !outside.has(from ?? path));
  const others = session.phases.filter(
    (other) => other !== phase && other.started !== null && (other.completed ?? "9") > since,
  );
  const owners = others.map(ownershipOf);
  const stray = [...outside].filter((path) => !owners.some((owns) => owns(path)));
  const changes = { ...changesOf(phase, own, null, null), outside: stray };
  return { changes, files, where: "shared", warnings: [], trouble: null };
}

/** Commits the tree on top of `base`, if it has changes; a git reference keeps the commit. */
export async function keepAsCommit(
  { repository, store }: Keeping,
  { attempt }: Examined,
  phase: SessionPhase,
  base: CommitId,
  tree: TreeId,
  hasMore = false,
): Promise<{ changes: FileChange[]; commit: CommitId }> {
  if (!hasMore && (await treeIdOf(repository, base)) === tree) return { changes: [], commit: base };
  const message = `Phase ${phase.id}, attempt ${attempt}: ${phase.name}`;
  const commit = await commitTree(repository, { tree, parents: [base], message });
  const changes = (await changesBetween(repository, base, commit)).map(recorded);
  const session = requireSession(store.session).session_id;
  if (changes.length > 0 || hasMore) await keepCommit(repository, { session, phase: phase.id, attempt, commit });
  return { changes, commit };
}

export function recorded({ binary, added, removed, ...change }: TreeChange): FileChange {
  return binary ? { ...change, added: null, removed: null } : { ...change, added, removed };
}

export function changesOf(
  phase: SessionPhase,
  changes: readonly FileChange[],
  base: CommitId | null,
  commit: CommitId | null,
): Changes {
  const sum = (lines: (change: FileChange) => number | null) =>
    changes.reduce((total, change) => total + (lines(change) ?? 0), 0);
  return {
    base,
    commit,
    files: changes.slice(0, MAX_LISTED_CHANGES),
    total: changes.length,
    added: sum(({ added }) => added),
    removed: sum(({ removed }) => removed),
    outside: outsideScope(phase, changes).slice(0, MAX_LISTED_OUTSIDE),
  };
}
