// Decides whether a phase has delivered the files that its plan declares (decision C42). Pure: each entry point passes in the paths that
// exist in the tree that it completes, and what is known about the phase's changes.

import { agentTiers, mayWrite, type Tier } from "../agents/tiers.ts";
import { readOwnedPath } from "../plan/owned-path.ts";
import { covers, type Pattern, patternOf } from "../plan/pattern.ts";
import { stripControls } from "../text.ts";
import type { Shortfall } from "./decide/judge-handoff.ts";
import type { FileChange, WarningCode } from "./events.ts";
import type { SessionPhase } from "./session.ts";

/** What a plan declares; every list may have globs. */
export interface DeclaredFiles {
  created: readonly string[];
  modified: readonly string[];
  deleted: readonly string[];
}

export interface Delivery {
  declared: DeclaredFiles;
  tier: Tier | undefined;
  /** Existing paths, at least those that a declared path or glob names. A directory without files ends with a slash. */
  present: readonly string[];
  /** False when the search for globs reached its limit, so that a path may exist although it was not found. */
  isSearched: boolean;
  changes: KnownChanges;
  /** Every path that the report lists as created or modified. */
  reported: ReadonlySet<string>;
}

/** What the phase changed, together with earlier attempts whose work it started from. */
export interface KnownChanges {
  paths: ReadonlySet<string>;
  /** Whether every other path is unchanged. */
  isComplete: boolean;
  /** Paths that are known to be unchanged although `isComplete` is false. */
  unchanged: ReadonlySet<string>;
}

export interface DeliveryVerdict {
  /** Declared as created, but not there. */
  missing: string[];
  /** Globs and directories of `missing` that name files of the agent's directory which git ignores. */
  ignored?: string[];
  /** Declared as created, but there before, unchanged, and not in the report. */
  unchanged: string[];
  /** Declared as deleted, but still there. */
  remaining: string[];
  /** Declared as modified, but untouched: only a warning. */
  untouched: string[];
}

const delivered: DeliveryVerdict = { missing: [], unchanged: [], remaining: [], untouched: [] };

export function judgeDelivery(delivery: Delivery): DeliveryVerdict {
  const { declared, tier, changes, reported, isSearched } = delivery;
  if (!mayWrite(tier)) return delivered;
  const present = delivery.present.map(named);
  const touched = [...changes.paths].map(named);
  const isStale = (path: string) => isUnchanged(path, changes) && !reported.has(path);
  const stays = [...declared.created, ...declared.modified].map(declaredPath);
  const verdict: DeliveryVerdict = { missing: [], unchanged: [], remaining: [], untouched: [] };
  for (const one of declared.created.map(declaredPath)) {
    // A directory without files delivers only a declared directory, never a file of that name.
    const found = present.filter(({ path, names }) => isNamed(one, names) && (isDirectory(one) || !path.endsWith("/")));
    if (found.length === 0) {
      if (isSearched || !one.isGlob) verdict.missing.push(one.path);
    } else if (found.every(({ path }) => isStale(path))) verdict.unchanged.push(one.path);
  }
  for (const one of declared.deleted.map(declaredPath)) {
    const found = present.find(
      ({ path, names }) => isNamed(one, names) && !path.endsWith("/") && !stays.some((other) => isNamed(other, names)),
    );
    if (found !== undefined) verdict.remaining.push(found.path);
  }
  for (const one of declared.modified.map(declaredPath)) {
    // A directory only says where the phase may write.
    if (isDirectory(one) || touched.some(({ names }) => isNamed(one, names))) continue;
    if (changes.isComplete || changes.unchanged.has(one.path)) verdict.untouched.push(one.path);
  }
  return verdict;
}

/** Whether an empty directory is new is unknown: git and listings have files only. */
function isUnchanged(path: string, { paths, isComplete, unchanged }: KnownChanges): boolean {
  return !paths.has(path) && !path.endsWith("/") && (isComplete || unchanged.has(path));
}

function named(path: string): { path: string; names: string[] } {
  return { path, names: path.split("/") };
}

export interface DeclaredPath {
  path: string;
  patterns: Pattern[];
  /** Whether only a search finds the paths that it means. */
  isGlob: boolean;
}

export function declaredPath(declared: string): DeclaredPath {
  const owned = readOwnedPath(declared, []);
  // A recorded plan was checked, but the journal may have been written by another program.
  if ("problem" in owned) return { path: declared, patterns: [], isGlob: false };
  const { path, patterns } = owned;
  // A path with braces may also be a literal file name.
  const all = path.includes("{") ? [...patterns, patternOf(path.split("/"), false)] : patterns;
  return { path, patterns: all, isGlob: all.some(({ segments, literal }) => literal < segments.length) };
}

function isDirectory({ path }: DeclaredPath): boolean {
  return path.endsWith("/");
}

export function isNamed({ patterns }: DeclaredPath, names: readonly string[]): boolean {
  return patterns.some((pattern) => covers(pattern, names));
}

export function declaredLists({ plan }: SessionPhase): DeclaredFiles {
  const { files_created: created = [], files_modified: modified = [], files_deleted: deleted = [] } = plan ?? {};
  return { created, modified, deleted };
}

/** Whether the phase declares files and has an agent that may write them; without a roster, the agent's tier is known by its name. */
export function owesFiles(
  phase: SessionPhase,
  tier: Tier | undefined = agentTiers.get(phase.agents[0] ?? ""),
): boolean {
  const { created, modified, deleted } = declaredLists(phase);
  return mayWrite(tier) && created.length + modified.length + deleted.length > 0;
}

/** `own`: all changes of the last attempt, when they were examined. Earlier attempts count, because their work is kept. */
export function knownChanges({ attempts }: SessionPhase, own: readonly Pick<FileChange, "path" | "from">[] | null) {
  const earlier = own === null ? attempts : attempts.slice(0, -1);
  const recorded = earlier.map(({ changes }) => changes);
  const files = [...recorded.flatMap((changes) => changes?.files ?? []), ...(own ?? [])];
  return {
    paths: new Set(files.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))),
    isComplete:
      (own !== null || attempts.length > 0) &&
      recorded.every((changes) => changes !== undefined && changes.total === changes.files.length),
  };
}

const MAX_NAMED = 20;

/** The error message, one line for each kind of shortfall; null when everything is delivered. */
export function undeliveredText({ missing, ignored = [], unchanged, remaining }: DeliveryVerdict): string | null {
  const absent = missing.filter((path) => !ignored.includes(path));
  const lines = [
    ...line("declared but missing", absent),
    ...line("declared but ignored by git, so not part of the work (declare each of these files by its name)", ignored),
    ...line("declared but unchanged since before the phase, and not in its report", unchanged),
    ...line("declared as deleted but still there", remaining),
  ];
  return lines.length === 0 ? null : lines.join("\n");
}

/** The same for work whose report was judged before: only whether the files are there. */
export function lostText(verdict: DeliveryVerdict): string | null {
  return undeliveredText({ ...verdict, unchanged: [] });
}

export function undeliveredShortfall(message: string): Shortfall {
  const code = "not_delivered";
  return { kind: "failure", reason: code, errorType: "validation", message, code };
}

export function untouchedWarnings({ untouched }: DeliveryVerdict): { code: WarningCode; message: string }[] {
  return line("Declared as modified but untouched", untouched).map((message) => ({ code: "not_modified", message }));
}

function line(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const names = paths.slice(0, MAX_NAMED).map((path) => stripControls(path).replace(/\s+/g, " "));
  const more = paths.length - names.length;
  return [`${what}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`];
}
