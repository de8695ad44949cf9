// The files of a repository's administration that every git command opens. One that is a FIFO, a socket or a device would keep git waiting for
// ever: it is refused with its name before git starts.

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

/** Below a git directory; of the objects only what is read to find them. */
const parts = ["", "info", "objects/info", "objects/pack", "refs", "worktrees"];
const objectParts = ["objects/info", "objects/pack"];
/** Directories with directories of their own. */
const deep = /^(?:refs|worktrees)(?:\/|$)/;
/** As many references are looked at. */
const MAX_DIRECTORIES = 2000;

/** Refuses git directories (absolute paths) with something in them that git cannot open. */
export function requireOpenable(...gitDirs: readonly string[]): void {
  for (const gitDir of new Set(gitDirs)) {
    const found = firstSpecial(toRaw(gitDir), parts) ?? includedSpecial(toRaw(gitDir));
    if (found !== undefined) throw unopenable(found);
  }
}

/** The same for a command that uses nothing of a repository but its objects. */
export function requireOpenableObjects(commonDir: string): void {
  const found = firstSpecial(toRaw(commonDir), objectParts);
  if (found !== undefined) throw unopenable(found);
}

/**
 * The same before it is known where the repository is: for every directory from the project upwards, whose .git git would look at, or which
 * could be a repository itself.
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

/** A worktree's git directory names the one that it shares. */
function commonDirectory(gitDir: string): string[] {
  const target = readFile(Buffer.from(`${gitDir}/commondir`, "latin1"))
    ?.bytes.toString("latin1")
    .trimEnd();
  if (target === undefined || target === "") return [];
  return [fromRaw(target.startsWith("/") ? target : `${gitDir}/${target}`)];
}

interface Special {
  /** Raw. */
  path: string;
  kind: SpecialKind;
}

function firstSpecial(gitDir: string, where: readonly string[]): Special | undefined {
  const left = [...where];
  for (let count = 0, part = left.pop(); part !== undefined && count < MAX_DIRECTORIES; count++, part = left.pop()) {
    const directory = part === "" ? gitDir : `${gitDir}/${part}`;
    for (const entry of entriesOf(directory)) {
      // No command of ours opens the user's index: it is read and copied by us.
      if (entry.isFile() || entry.name === "index") continue;
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory()) {
        if (deep.test(part)) left.push(`${part}/${entry.name}`);
        continue;
      }
      // The daemon of a file system monitor has a socket there, and nothing waits for one.
      const kind = entry.isSymbolicLink() ? blockingKindAt(path) : fileKindOf(entry);
      if (mayBlock(kind)) return { path, kind };
    }
  }
  return undefined;
}

/** A configuration may include another file, which git opens with it. */
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
  return new MaestroError("path", `${shown} is not a file but a ${kind}: git would wait for it for ever`, {
    hint: `Remove it, and look for what put it there: rm "${shown}"`,
  });
}
