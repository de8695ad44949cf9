// The scope of a phase: which changes are outside the files it owns. Pure. Requests for more files are judged in scope-request.ts.
// A sensitive file is outside every phase, whatever the plan says: only the user may apply a change to one.

import type { Tier } from "../agents/tiers.ts";
import { readOwnedPath } from "../plan/owned-path.ts";
import { covers, type Pattern } from "../plan/pattern.ts";
import { sensitivityOfFile } from "../secrets/sensitive-files.ts";
import { ownedFiles } from "./decide/attempt.ts";
import type { FileChange } from "./events.ts";
import type { SessionPhase } from "./session.ts";

/** The start of the error message when an attempt changed files that its phase does not own; one line "- path" per file follows. */
export const OUTSIDE_SCOPE = "Changed outside of its files:";
/** The same for sensitive files, about which the user must decide. */
export const SENSITIVE_CHANGE = `${OUTSIDE_SCOPE} only a person may decide about these.`;

/** The paths in `changes` that the phase does not own or that are sensitive, sorted and unique. Both names of a renamed file count. */
export function outsideScope(
  phase: SessionPhase,
  changes: readonly Pick<FileChange, "path" | "kind" | "from">[],
): string[] {
  const scope = scopeOf(phase);
  const outside = new Set<string>();
  for (const { path, from } of changes) {
    for (const name of from === undefined ? [path] : [path, from]) {
      if (!owns(scope, name) || sensitivityOfFile(name) !== undefined) outside.add(name);
    }
  }
  return [...outside].sort();
}

/** Whether the phase declares any files or was granted any. */
export function declaresFiles(phase: SessionPhase): boolean {
  return phase.granted.length > 0 || ownedFiles(phase).length > 0;
}

/** Whether an agent of the tier can do the phase: one that writes no files cannot take a phase that owns some. An unknown agent may write. */
export function canTake(phase: SessionPhase, tier: Tier | undefined): boolean {
  return (tier !== "read-only" && tier !== "read-shell") || !declaresFiles(phase);
}

/** Whether the phase owns a file, or a whole directory (written with a trailing slash), judged by the path alone. */
export function ownershipOf(phase: SessionPhase): (path: string) => boolean {
  const scope = scopeOf(phase);
  const byName = { ...scope, globs: new Map() };
  return (path) => {
    if (!path.endsWith("/")) return owns(scope, path);
    const directory = path.slice(0, -1);
    return scope.directories.has(directory) || owns(byName, directory);
  };
}

interface Scope {
  /** Owned files, or directories with everything below them. */
  paths: Set<string>;
  /** Directories of which only the contents are owned. */
  directories: Set<string>;
  /** Keyed by the literal directories that the glob starts with. */
  globs: Map<string, Pattern[]>;
}

function scopeOf(phase: SessionPhase): Scope {
  const scope: Scope = { paths: new Set(), directories: new Set(), globs: new Map() };
  for (const declared of ownedFiles(phase)) {
    const owned = readOwnedPath(declared, []);
    if ("problem" in owned) continue;
    for (const pattern of owned.patterns) addPattern(scope, pattern);
    // A path with braces may also be a literal file name.
    if (owned.path.includes("{")) addPath(scope, owned.path);
  }
  // Granted paths are literal, never patterns.
  for (const path of phase.granted) addPath(scope, path);
  return scope;
}

/** Literal paths go into sets for lookup; only patterns with wildcards are matched one by one. */
function addPattern({ paths, directories, globs }: Scope, pattern: Pattern): void {
  const { segments, literal, text } = pattern;
  if (literal === segments.length) paths.add(text);
  else {
    const begin = segments.slice(0, literal).join("/");
    const isDirectory = literal > 0 && segments.length === literal + 1 && segments[literal] === "**";
    const beside = globs.get(begin);
    if (isDirectory) directories.add(begin);
    else if (beside === undefined) globs.set(begin, [pattern]);
    else beside.push(pattern);
  }
}

function addPath({ paths, directories }: Scope, path: string): void {
  if (path.endsWith("/")) directories.add(path.slice(0, -1));
  else paths.add(path);
}

function owns({ paths, directories, globs }: Scope, path: string): boolean {
  // Outside the project, elsewhere in its repository: a plan's patterns never reach there.
  if (path.startsWith("../")) return false;
  if (paths.has(path)) return true;
  const above = directoriesOf(path);
  if (above.some((directory) => paths.has(directory) || directories.has(directory))) return true;
  if (globs.size === 0) return false;
  const file = path.split("/");
  return ["", ...above].some((begin) => globs.get(begin)?.some((pattern) => covers(pattern, file)));
}

/** "a/b" and "a" for "a/b/c". */
function directoriesOf(path: string): string[] {
  const above: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) above.push(path.slice(0, end));
  return above;
}
