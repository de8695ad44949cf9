// Selects ignored files that a worktree needs: files named in .maestroinclude are copied, dependency directories are linked.

import { existsSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withParent } from "../../disk/contained.ts";
import { newTemporaryName, readRegular } from "../../disk/durable.ts";
import { isBelow, rawNames, toRaw } from "../names.ts";
import { END_OF_OPTIONS } from "../objects/object-id.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { specialFiles } from "../snapshot/special-files.ts";
import { dependencyNames } from "./dependency-names.ts";

const INCLUDE_FILE = ".maestroinclude";
const MAX_INCLUDE_BYTES = 64 * 1024;

/** The lines of .maestroinclude; empty when the file does not exist. */
export function readIncludes(projectRoot: string): string[] {
  const bytes = withParent(projectRoot, INCLUDE_FILE, { create: false }, (parent, name) =>
    readRegular(parent, name, MAX_INCLUDE_BYTES),
  );
  return bytes === undefined ? [] : bytes.toString("utf8").split(/\r?\n/);
}

/**
 * The dependency directories among the ignored ones. Rust's build directory is included: cargo locks it, and separates what it builds for
 * different directories. Other build directories are not: two attempts would mix their builds.
 */
export function dependencyDirectories(toplevel: string, ignored: readonly string[]): string[] {
  return ignored.filter((name) => {
    if (!name.endsWith("/")) return false;
    const path = name.slice(0, -1);
    const last = path.slice(path.lastIndexOf("/") + 1);
    if (last !== "target") return dependencyNames.has(last);
    return existsSync(Buffer.from(`${toRaw(toplevel)}/${path.slice(0, -last.length)}Cargo.toml`, "latin1"));
  });
}

/**
 * Raw names that `patterns` (gitignore syntax, relative to the project) match and that are not in `index`; a directory ends with "/" when
 * all of it matches.
 */
export async function includedNames(
  repository: Repository,
  index: string,
  patterns: readonly string[],
  apart: { exclude: readonly string[]; dependencies: readonly string[] },
): Promise<string[]> {
  const { toplevel, prefix, place } = repository;
  if (!patterns.some((line) => /^[^#\s]/.test(line))) return [];
  const list = join(place, newTemporaryName());
  writeFileSync(list, anchored(patterns, prefix), { flag: "wx", mode: 0o600 });
  const matching = async (...options: string[]) => {
    const where = prefix === "" ? [] : [END_OF_OPTIONS, "--", prefix];
    const args = ["ls-files", "-z", "--others", "--ignored", ...options, `--exclude-from=${list}`, ...where];
    return rawNames((await ownGit(repository, args, { workTree: toplevel, index })).stdout);
  };
  try {
    // These commands also enter ignored directories, which may contain repositories.
    await specialFiles(repository, { workTree: toplevel, tracked: new Set(), mayRemove: false, everywhere: true });
    const names = await matching("--directory");
    // A directory that contains excluded paths is copied file by file.
    const isMixed = names.some((name) => name.endsWith("/") && apart.exclude.some((path) => path.startsWith(name)));
    return select(isMixed ? await matching() : names, apart);
  } finally {
    unlinkSync(list);
  }
}

function select(
  names: readonly string[],
  apart: { exclude: readonly string[]; dependencies: readonly string[] },
): string[] {
  const whole = names.filter((name) => name.endsWith("/")).map((name) => name.slice(0, -1));
  const linked = apart.dependencies.map((name) => name.slice(0, -1)).filter((path) => !whole.includes(path));
  return names.filter((name) => {
    const path = name.replace(/\/$/, "");
    const others = whole.filter((other) => other !== path);
    return !isBelow(path, apart.exclude) && !isBelow(path, linked) && !isBelow(path, others);
  });
}

/** Rewrites patterns that are relative to the project for use at the top of the repository. */
export function anchored(patterns: readonly string[], prefix: string): string {
  const base = prefix.replace(/[\\*?[\]]/g, "\\$&");
  const lines = patterns.map((line) => {
    if (prefix === "" || !/^[^#\s]/.test(line)) return line;
    const [negation, pattern] = line.startsWith("!") ? ["!", line.slice(1)] : ["", line];
    const isAnchored = /\/(?!\s*$)/.test(pattern);
    return `${negation}/${base}${isAnchored ? pattern.replace(/^\//, "") : `**/${pattern}`}`;
  });
  return `${lines.join("\n")}\n`;
}
