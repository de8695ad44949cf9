// Checks the files in a git directory that every git command opens. git would wait forever for a FIFO or a device among them, so Maestro
// rejects the repository, naming the file, before git starts.

import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { MaestroError } from "../errors.ts";
import { stripControls } from "../text.ts";
import { fromRaw, toRaw } from "./names.ts";
import { readFile } from "./read-file.ts";
import {
  blockingKindAt,
  fileKindOf,
  gitDirectory,
  isUnreachable,
  mayBlock,
  type SpecialKind,
} from "./snapshot/file-kind.ts";

/** Checked directories below a git directory. Of the objects, only the files that git reads to find them. */
const parts = ["", "info", "objects/info", "objects/pack", "refs", "worktrees"];
const objectParts = ["objects/info", "objects/pack"];
/** Directories that are checked with their subdirectories. */
const deep = /^(?:refs|worktrees)(?:\/|$)/;
/** Limits the check of repositories with very many references. */
const MAX_DIRECTORIES = 2000;

/** Throws when one of the git directories (absolute paths) contains a file that git would wait for. */
export function requireOpenable(...gitDirs: readonly string[]): void {
  for (const gitDir of new Set(gitDirs)) {
    const found = firstSpecial(toRaw(gitDir), parts) ?? includedSpecial(toRaw(gitDir));
    if (found !== undefined) throw unopenable(found);
  }
}

/** Like `requireOpenable`, for a command that uses only the objects of a repository. */
export function requireOpenableObjects(commonDir: string): void {
  const found = firstSpecial(toRaw(commonDir), objectParts);
  if (found !== undefined) throw unopenable(found);
}

/**
 * Like `requireOpenable`, before the repository is located: checks every directory from the project upwards, because git looks there for a
 * .git and for the files of a bare repository.
 */
export function requireFindable(project: string): void {
  for (let at = project; ; at = dirname(at)) {
    const gitDir = gitDirectory(toRaw(at));
    if (gitDir !== undefined) {
      requireOpenable(fromRaw(gitDir), ...commonDirectory(gitDir));
      if (
        blockingKindAt(`${gitDir}/HEAD`) === undefined &&
        readFile(Buffer.from(`${gitDir}/HEAD`, "latin1")) !== undefined
      )
        return;
    }
    for (const sign of ["HEAD", "commondir"]) {
      const kind = blockingKindAt(`${toRaw(at)}/${sign}`);
      if (kind !== undefined) throw unopenable({ path: `${toRaw(at)}/${sign}`, kind });
    }
    if (at === dirname(at)) return;
  }
}

/** The git directory of a worktree names the one that it shares with the repository. */
function commonDirectory(gitDir: string): string[] {
  const target = readFile(Buffer.from(`${gitDir}/commondir`, "latin1"))
    ?.bytes.toString("latin1")
    .trimEnd();
  if (target === undefined || target === "") return [];
  return [fromRaw(target.startsWith("/") ? target : `${gitDir}/${target}`)];
}

interface Special {
  /** As a raw name. */
  path: string;
  kind: SpecialKind;
}

function firstSpecial(gitDir: string, where: readonly string[]): Special | undefined {
  const left = [...where];
  for (let count = 0, part = left.pop(); part !== undefined && count < MAX_DIRECTORIES; count++, part = left.pop()) {
    const directory = part === "" ? gitDir : `${gitDir}/${part}`;
    for (const entry of entriesOf(directory)) {
      // No command here opens the user's index: Maestro reads and copies it itself.
      if (entry.isFile() || entry.name === "index") continue;
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory()) {
        if (deep.test(part)) left.push(`${part}/${entry.name}`);
        continue;
      }
      // git's file system monitor keeps a socket here, and opening a socket fails instead of blocking.
      const kind = entry.isSymbolicLink() ? blockingKindAt(path) : fileKindOf(entry);
      if (mayBlock(kind)) return { path, kind };
    }
  }
  return undefined;
}

/** A configuration may include another file, and git opens it too. */
function includedSpecial(gitDir: string): Special | undefined {
  const text = readFile(Buffer.from(`${gitDir}/config`, "latin1"))?.bytes.toString("latin1") ?? "";
  for (const [, value = ""] of text.matchAll(
    /^[^\S\n]*(?:\[[^\n]*\][^\S\n]*)?path[^\S\n]*=[^\S\n]*"?([^"\n]*?)"?[^\S\n]*$/gim,
  )) {
    const path = value.startsWith("~/") ? `${toRaw(homedir())}${value.slice(1)}` : value;
    const full = path.startsWith("/") ? path : `${gitDir}/${path}`;
    const kind = blockingKindAt(full);
    if (kind !== undefined) return { path: full, kind };
  }
  return undefined;
}

function entriesOf(directory: string) {
  try {
    return readdirSync(Buffer.from(directory, "latin1"), { withFileTypes: true, encoding: "latin1" });
  } catch (error) {
    if (isUnreachable(error)) return [];
    throw error;
  }
}

function unopenable({ path, kind }: Special): MaestroError {
  const shown = stripControls(fromRaw(path)).replace(/\s+/g, " ");
  return new MaestroError("path", `${shown} is a ${kind}, not a file: git would wait for it forever`, {
    hint: `Delete it, and find out what created it: rm "${shown}"`,
  });
}
