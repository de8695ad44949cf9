// Reads one path or glob that a phase declares: checks that it is inside the project and not reserved, normalises it, and turns it into
// patterns to compare.
import {
  expandPatternBraces,
  MAX_ALTERNATIVES,
  type Pattern,
  patternOf,
  segmentsMeet,
  segmentsOf,
  symbolsOf,
} from "./pattern.ts";
import { MAX_PATH_CHARS } from "./plan.ts";

export interface OwnedPath {
  /** Normalised; a directory keeps its trailing slash. */
  path: string;
  patterns: Pattern[];
}

export interface PathProblem {
  code: "missing_field" | "too_large" | "path_escape" | "path_reserved";
  problem: string;
}

/** A backslash is a separator on every system, because these globs have no escapes. */
export function readOwnedPath(declared: string, reserved: readonly (readonly string[])[]): OwnedPath | PathProblem {
  if (usualPath.test(declared) && declared.length <= MAX_PATH_CHARS) {
    const segments = declared.split("/");
    const patterns = [{ text: declared, segments, symbols: segments, literal: segments.length, isPath: true }];
    return reserved.every(isHidden) ? { path: declared, patterns } : unlessReserved(declared, patterns, reserved);
  }
  if (declared.trim() === "") return { code: "missing_field", problem: "is blank; name a file or remove it" };
  if (declared.length > MAX_PATH_CHARS) {
    return { code: "too_large", problem: `is longer than ${MAX_PATH_CHARS} characters; shorten it` };
  }
  if (/[\u0000-\u001f\u007f-\u009f]/.test(declared)) return escapes("contains a control character");
  const written = declared.trim().replaceAll("\\", "/");
  const alternatives = expandPatternBraces(written);
  if (alternatives === undefined) {
    const problem = `stands for more than ${MAX_ALTERNATIVES} paths; use a wider glob such as "*"`;
    return { code: "too_large", problem };
  }
  const patterns: Pattern[] = [];
  let path = written;
  for (const alternative of alternatives) {
    if (/^(?:\/|~|[A-Za-z]:)/.test(alternative)) return escapes("is not relative");
    const segments = segmentsOf(alternative);
    if (segments === undefined) return escapes("leaves the project");
    const isDirectory = /(?:^|\/)\.{0,2}$/.test(alternative);
    patterns.push(patternOf(segments, isDirectory));
    // A path with braces stays as written.
    if (alternative === written && !written.includes("{")) path = normalForm(segments, isDirectory);
  }
  return unlessReserved(path, patterns, reserved);
}

/**
 * Matches names joined by slashes, none of them hidden: nearly every path, in normal form and its own pattern. It cannot reach .git, nor a
 * state directory that is hidden.
 */
const usualPath = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;

/** One such name: no wildcard, not hidden. */
const usualName = /^[\w-][\w.-]*$/;

function unlessReserved(
  path: string,
  patterns: Pattern[],
  reserved: readonly (readonly string[])[],
): OwnedPath | PathProblem {
  if (!patterns.some((pattern) => isReserved(pattern, reserved))) return { path, patterns };
  return { code: "path_reserved", problem: "belongs to git or to Maestro itself; no phase may own it" };
}

/** The directories that only Maestro writes to, as segments; empty when the state directory is outside the project. */
export function reservedDirectories(stateDir: string): string[][] {
  const written = stateDir.replaceAll("\\", "/");
  const segments = /^(?:\/|~|[A-Za-z]:)/.test(written) ? undefined : segmentsOf(written.toLowerCase());
  return segments === undefined ? [] : ["state", "parallel", "plans"].map((name) => [...segments, name]);
}

function isHidden([first = ""]: readonly string[]): boolean {
  return first.startsWith(".");
}

/** Ignores case, because on some systems ".GIT" is ".git". */
function isReserved(pattern: Pattern, reserved: readonly (readonly string[])[]): boolean {
  if (pattern.segments.some((segment) => reaches(segment, ".git"))) return true;
  return reserved.some((directory) => touches(pattern, directory));
}

function touches({ segments, isPath }: Pattern, directory: readonly string[]): boolean {
  for (const [at, name] of directory.entries()) {
    const segment = segments[at];
    if (segment === undefined) return isPath;
    if (segment === "**") return !name.startsWith(".");
    if (!reaches(segment, name)) return false;
  }
  return true;
}

/** Whether a segment can match the name. Wildcards do not match a leading dot; an extended glob does when it spells the name out. */
function reaches(segment: string, name: string): boolean {
  if (name.startsWith(".") && usualName.test(segment)) return false;
  if (/[@!+?*]\(/.test(segment))
    return segment
      .toLowerCase()
      .replace(/[@!+?*()|]/g, "")
      .includes(name);
  if (name.startsWith(".") && /^[*?]/.test(segment)) return false;
  return meets(segment, name);
}

function meets(segment: string, name: string): boolean {
  return segmentsMeet(symbolsOf(segment.toLowerCase()), name);
}

function normalForm(segments: readonly string[], isDirectory: boolean): string {
  if (segments.length === 0) return ".";
  return segments.join("/") + (isDirectory ? "/" : "");
}

function escapes(why: string): PathProblem {
  return { code: "path_escape", problem: `${why}; write it relative to the project root` };
}
