// Compares the files that an agent's report claims with the files that changed. Pure; a difference is only a warning.

import { readOwnedPath } from "../../plan/owned-path.ts";
import { covers } from "../../plan/pattern.ts";
import { stripControls } from "../../text.ts";
import type { FileChange } from "../events.ts";
import type { FileLists } from "./operation.ts";

export interface ClaimDifferences {
  /** Claimed, but not changed. */
  missing: string[];
  /** Changed, but not claimed. */
  unclaimed: string[];
  /** Claimed as deleted but still there, or deleted but claimed as created or modified. */
  otherwise: string[];
}

type Claims = ReadonlyMap<string, ReadonlySet<keyof FileLists>>;

/** One path of a change. */
interface Touched {
  isGone: boolean;
  /** The other path of a renamed file. */
  other?: string;
}

/**
 * `changes` must be complete. Absolute claims below one of `roots` are read as paths of the project. Created and modified are not
 * distinguished, because a second attempt finds the files that the first one created.
 */
export function claimDifferences(
  claims: FileLists,
  changes: readonly Pick<FileChange, "path" | "kind" | "from">[],
  roots: readonly string[] = [],
): ClaimDifferences {
  const claimed = readClaims(claims, roots);
  const touched = new Map(changes.flatMap(namesOf));
  const wide = wideClaims(claimed, touched);
  const differences: ClaimDifferences = { missing: [], unclaimed: [], otherwise: [] };
  for (const [path, kinds] of claimed) {
    const name = touched.get(path);
    if (name === undefined) {
      const cameAndWent = kinds.has("created") && kinds.has("deleted");
      if (!cameAndWent && !wide.meant.has(path)) differences.missing.push(path);
    } else if (!isRight(kinds, name)) differences.otherwise.push(path);
  }
  for (const [path, { other }] of touched) {
    const isRenameTold = other !== undefined && claimed.get(other)?.has("modified");
    if (!claimed.has(path) && !wide.told.has(path) && !isRenameTold) differences.unclaimed.push(path);
  }
  for (const paths of Object.values(differences)) paths.sort();
  return differences;
}

function namesOf({ path, kind, from }: Pick<FileChange, "path" | "kind" | "from">): [string, Touched][] {
  if (from === undefined) return [[path, { isGone: kind === "deleted" }]];
  return [
    [from, { isGone: true, other: path }],
    [path, { isGone: false, other: from }],
  ];
}

/** A renamed file may be claimed as deleted and created, or as modified. */
function isRight(kinds: ReadonlySet<keyof FileLists>, { isGone, other }: Touched): boolean {
  if (!isGone) return kinds.has("created") || kinds.has("modified");
  return kinds.has("deleted") || (other !== undefined && kinds.has("modified"));
}

/** `meant`: claimed directories and globs that contain a change. `told`: the changed paths that they cover. */
function wideClaims(claimed: Claims, touched: ReadonlyMap<string, Touched>): { meant: Set<string>; told: Set<string> } {
  const [meant, told] = [new Set<string>(), new Set<string>()];
  const globs = [...claimed.keys()].filter((path) => /[*?{]/.test(path)).flatMap(globOf);
  for (const path of touched.keys()) {
    if (claimed.has(path)) continue;
    const names = path.split("/");
    const above = names.slice(1).map((_, at) => names.slice(0, at + 1).join("/"));
    const wide = [...above.filter((directory) => claimed.has(directory))];
    for (const { claim, patterns } of globs) if (patterns.some((pattern) => covers(pattern, names))) wide.push(claim);
    for (const claim of wide) meant.add(claim);
    if (wide.length > 0) told.add(path);
  }
  return { meant, told };
}

function globOf(claim: string) {
  const owned = readOwnedPath(claim, []);
  return "problem" in owned ? [] : [{ claim, patterns: owned.patterns }];
}

/** The paths that a report lists as created or modified, as project paths. */
export function writtenClaims({ created, modified }: FileLists, roots: readonly string[]): Set<string> {
  return new Set(readClaims({ created, modified, deleted: [] }, roots).keys());
}

function readClaims(claims: FileLists, roots: readonly string[]): Claims {
  const claimed = new Map<string, Set<keyof FileLists>>();
  for (const kind of ["created", "modified", "deleted"] as const) {
    for (const path of claims[kind]) {
      const name = projectPath(path, roots);
      if (name !== "") claimed.set(name, (claimed.get(name) ?? new Set()).add(kind));
    }
  }
  return claimed;
}

/** The claim as a normalized project path; a path outside the project starts with "/", "C:/" or "../". */
function projectPath(claim: string, roots: readonly string[]): string {
  const written = slashed(claim.trim());
  const root = roots.map((one) => slashed(one).replace(/\/+$/, "")).find((one) => `${written}/`.startsWith(`${one}/`));
  const inside = root === undefined ? written : written.slice(root.length + 1);
  const names: string[] = [];
  for (const name of inside.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.length === 0 || names.at(-1) === "..") names.push("..");
    else names.pop();
  }
  return (root === undefined && written.startsWith("/") ? "/" : "") + names.join("/");
}

function slashed(path: string): string {
  return path.replaceAll("\\", "/");
}

/** The differences as one line of text; null if there are none. */
export function claimWarning({ missing, unclaimed, otherwise }: ClaimDifferences): string | null {
  const inside = missing.filter((path) => !isElsewhere(path));
  const clauses = [
    ...clause(inside, (paths) => `The report names ${paths}, which did not change`),
    ...clause(missing.filter(isElsewhere), (paths) => `The report names ${paths} outside the project`),
    ...clause(
      otherwise,
      (paths, isOne) => `The report is wrong about whether ${paths} ${isOne ? "was" : "were"} deleted`,
    ),
    ...clause(unclaimed, (paths, isOne) => `${paths} changed and ${isOne ? "is" : "are"} not in the report`),
  ];
  return clauses.length === 0 ? null : clauses.map((text, at) => (at === 0 ? text : continued(text))).join("; ");
}

function isElsewhere(path: string): boolean {
  return /^(?:\/|~|\.\.\/|[A-Za-z]:)/.test(path);
}

function continued(text: string): string {
  return text.replace(/^The report/, "it").replace(/the report$/, "it");
}

const MAX_NAMED = 5;
const MAX_NAME_CHARS = 200;

function clause(paths: readonly string[], say: (named: string, isOne: boolean) => string): string[] {
  if (paths.length === 0) return [];
  const names = paths.slice(0, MAX_NAMED).map(shown);
  const more = paths.length - names.length;
  return [say(names.join(", ") + (more > 0 ? ` and ${more} more` : ""), paths.length === 1)];
}

function shown(path: string): string {
  const line = stripControls(path).replace(/\s+/g, " ");
  return line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS)}...` : line;
}
