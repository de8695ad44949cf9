// Finds out which of the files that a phase declares exist in the project directory. It follows no link out of the project, and a search
// for a glob visits neither repositories nor dependencies and stops after a number of entries.

import { type Dirent, opendirSync } from "node:fs";
import { type Directory, pathFault, resolveInside, withDirectory } from "../../disk/contained.ts";
import { errno, MaestroError } from "../../errors.ts";
import { covers, type Pattern, patternOf } from "../../plan/pattern.ts";
import {
  type DeclaredFiles,
  type DeclaredPath,
  type Delivery,
  declaredPath,
  isNamed,
} from "../../session/deliverables.ts";

const MAX_ENTRIES = 50_000;
const MAX_DEPTH = 64;
/** Directory entries that are read at once. */
const CHUNK = 256;
const skipped: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj", "node_modules"]);

type Found = Pick<Delivery, "present" | "isSearched">;

/** `likely`: paths that may answer for a glob without a search, such as those that the report names. */
export function findDeclared(root: string, declared: DeclaredFiles, likely: Iterable<string>): Found {
  const search = searchDeclared(root, declared, likely);
  for (;;) {
    const step = search.next();
    if (step.done) return step.value;
  }
}

/** As findDeclared, in steps: the caller may do something else after each. */
export function* searchDeclared(
  root: string,
  declared: DeclaredFiles,
  likely: Iterable<string>,
  limit = MAX_ENTRIES,
): Generator<undefined, Found> {
  const search: Search = { root, left: limit };
  const present = new Set<string>();
  const add = (path: string | undefined) => path !== undefined && present.add(path);
  const hints = [...likely].map((path) => ({ path, names: path.split("/") }));
  for (const one of declared.created.map(declaredPath)) {
    const hint = hints.find(({ path, names }) => isNamed(one, names) && kindOf(root, path) !== undefined);
    if (hint === undefined) add(yield* firstNamed(search, one, () => true));
    else add(hint.path);
  }
  const stays = [...declared.created, ...declared.modified].map(declaredPath);
  for (const one of declared.deleted.map(declaredPath)) {
    add(yield* firstNamed(search, one, (names) => !stays.some((other) => isNamed(other, names))));
  }
  return { present: [...present], isSearched: search.left > 0 };
}

interface Search {
  root: string;
  /** How many more directory entries may be read. */
  left: number;
}

type Accepts = (names: readonly string[]) => boolean;

function* firstNamed(
  search: Search,
  { patterns }: DeclaredPath,
  accepts: Accepts,
): Generator<undefined, string | undefined> {
  for (const pattern of patterns) {
    const { segments, literal, text } = pattern;
    const isLiteral = literal === segments.length;
    const kind = isLiteral ? kindOf(search.root, text) : undefined;
    if (kind === "file" && accepts(segments)) return text;
    if (isLiteral && kind !== "directory") continue;
    const inside = isLiteral ? patternOf(segments, true) : pattern;
    const found = yield* searchPattern(search, inside, accepts);
    if (found !== undefined) return found;
    if (kind === "directory") return `${text}/`;
  }
  return undefined;
}

function* searchPattern(search: Search, pattern: Pattern, accepts: Accepts): Generator<undefined, string | undefined> {
  const start = pattern.segments.slice(0, pattern.literal);
  const real = ifThere(() => resolveInside(search.root, start.join("/")));
  return real === undefined ? undefined : yield* walk(search, real, start, pattern, accepts, 1);
}

/** `real`: the directory's resolved components; `names`: the same directory as the pattern spells it. */
function* walk(
  search: Search,
  real: readonly string[],
  names: readonly string[],
  pattern: Pattern,
  accepts: Accepts,
  depth: number,
): Generator<undefined, string | undefined> {
  const below: string[] = [];
  for (const chunk of entriesOf(search, real)) {
    for (const entry of chunk) {
      const path = [...names, entry.name];
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name) && mayContain(pattern, path)) below.push(entry.name);
      } else if (covers(pattern, path) && accepts(path)) return path.join("/");
    }
    yield undefined;
    if (search.left <= 0) return undefined;
  }
  if (depth === MAX_DEPTH) return undefined;
  for (const name of below) {
    const found = yield* walk(search, [...real, name], [...names, name], pattern, accepts, depth + 1);
    if (found !== undefined || search.left <= 0) return found;
  }
  return undefined;
}

/** Whether a file below the directory can match: the pattern's segments before its first "**" have to match the directory's names. */
function mayContain({ segments }: Pattern, directory: readonly string[]): boolean {
  const star = segments.indexOf("**");
  if (star === -1 && directory.length >= segments.length) return false;
  const compared = Math.min(directory.length, star === -1 ? segments.length : star);
  return covers(patternOf(segments.slice(0, compared), false), directory.slice(0, compared));
}

/** The entries of a directory in chunks, read at once because no directory stays open between two steps. */
function entriesOf(search: Search, real: readonly string[]): Dirent[][] {
  const chunks = ifThere(() => withDirectory(search.root, real, { create: false }, (one) => readChunks(search, one)));
  return chunks ?? [];
}

function readChunks(search: Search, directory: Directory): Dirent[][] {
  const chunks: Dirent[][] = [];
  const entries = opendirSync(directory.at("."), { bufferSize: CHUNK });
  try {
    let chunk: Dirent[] = [];
    for (let entry = entries.readSync(); entry !== null && search.left > 0; entry = entries.readSync()) {
      search.left -= 1;
      if (chunk.push(entry) < CHUNK) continue;
      chunks.push(chunk);
      chunk = [];
    }
    return [...chunks, chunk];
  } finally {
    entries.closeSync();
  }
}

/** Whether a path exists in the project, for which a link counts wherever it points. */
export function isThere(root: string, path: string): boolean {
  return kindOf(root, path) !== undefined;
}

/** A link exists, wherever it points; it is not followed. */
function kindOf(root: string, path: string): "file" | "directory" | undefined {
  if (pathFault(path) !== undefined) return undefined;
  return ifThere(() => {
    const names = path.split("/").filter((name) => name !== "" && name !== ".");
    const name = names.pop();
    if (name === undefined) return "directory";
    return withDirectory(root, resolveInside(root, names.join("/")), { create: false }, (parent) => {
      const stat = parent.lstat(name);
      if (stat === undefined) return undefined;
      return stat.isDirectory() ? "directory" : "file";
    });
  });
}

/** Undefined when the path does not exist, cannot be read, or leaves the project. */
function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    const isAbsent = ["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG"].includes(errno(error) ?? "");
    if (!isAbsent && !(error instanceof MaestroError)) throw error;
    return undefined;
  }
}
