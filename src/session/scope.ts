// What a phase owns: which changes lie outside of it. Pure; whether its agent may have more is in scope-request.ts.
// A sensitive file is outside of every phase, whatever the plan says: only a person brings a change of one in.

import { readOwnedPath } from "../plan/owned-path.ts";
import { covers, type Pattern } from "../plan/pattern.ts";
import { sensitivityOfFile } from "../secrets/sensitive-files.ts";
import { ownedFiles } from "./decide/attempt.ts";
import type { FileChange } from "./events.ts";
import type { SessionPhase } from "./session.ts";

/** How the error of an attempt begins that changed what its phase does not own; a line "- path" for each file follows. */
export const OUTSIDE_SCOPE = "Changed outside of its files:";
/** The same, when a person has to look at the files first. */
export const SENSITIVE_CHANGE = `${OUTSIDE_SCOPE} only a person may decide about these.`;

/** Paths among `changes` that the phase does not own, or that are sensitive, sorted, each once. Both names of a renamed file count. */
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

/** Whether the phase declares anything at all, or was granted something. */
export function declaresFiles(phase: SessionPhase): boolean {
  return phase.granted.length > 0 || ownedFiles(phase).length > 0;
}

/** Whether the phase owns a file, or all of a directory (written with its trailing slash), known from their names alone. */
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
  /** Files; or directories, should something lie below them. */
  paths: Set<string>;
  /** What lies below them, but not they themselves. */
  directories: Set<string>;
  /** By the plain names that they begin with. */
  globs: Map<string, Pattern[]>;
}

function scopeOf(phase: SessionPhase): Scope {
  const scope: Scope = { paths: new Set(), directories: new Set(), globs: new Map() };
  for (const declared of ownedFiles(phase)) {
    const owned = readOwnedPath(declared, []);
    if ("problem" in owned) continue;
    for (const pattern of owned.patterns) addPattern(scope, pattern);
    // A brace set may be a name.
    if (owned.path.includes("{")) addPath(scope, owned.path);
  }
  // Granted is what was asked for, to the letter.
  for (const path of phase.granted) addPath(scope, path);
  return scope;
}

/** Names are looked up, and only what has wildcards is compared. */
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
  // The rest of the repository that the project is a part of: no pattern of a plan reaches it.
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
