// A copy of a project outside git, for commands that must not change the project itself. Dependencies are linked, as in a worktree.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { claimLock, isAbandoned } from "../../disk/lock.ts";
import { isOwnScratch } from "../../disk/own-scratch.ts";
import { errno, MaestroError } from "../../errors.ts";
import { copyIgnored } from "../../git/worktree/copy-ignored.ts";
import { dependencyNames } from "../../git/worktree/dependency-names.ts";
import { type Listing, listProject } from "../attempt/listing.ts";

const PREFIX = "maestro-baseline-";
/** Beside the copy: says which process made it. */
const OWNER = "owner";

const MAX_FILES = 20_000;
const MAX_BYTES = 256 * 1024 * 1024;

export interface CopiedProject {
  root: string;
  /** Files that could not be copied. */
  warnings: string[];
  remove: () => void;
}

/** Throws when the project is too large to copy. */
export async function copyProject(projectRoot: string, exclude: readonly string[]): Promise<CopiedProject> {
  const { files, complete } = await listProject(projectRoot, { exclude, limit: 2 * MAX_FILES });
  const bytes = [...files.values()].reduce((sum, { size }) => sum + Number(size), 0);
  if (!complete || files.size > MAX_FILES || bytes > MAX_BYTES) {
    const limits = `${MAX_FILES} files and ${MAX_BYTES / 1024 / 1024} MB`;
    throw new MaestroError("environment", `The project is not a git repository and has more than ${limits} to copy`, {
      hint: 'Validation commands run on a snapshot, never in the project itself. Make it a git repository with "git init".',
    });
  }
  const stage = realpathSync(mkdtempSync(join(tmpdir(), PREFIX)));
  const remove = () => rmSync(stage, { recursive: true, force: true, maxRetries: 3 });
  try {
    inDirectory(stage, (directory) => claimLock(directory, OWNER));
    const root = join(stage, "project");
    mkdirSync(root, { mode: 0o700 });
    // Outside git Maestro cannot find out whether these are the user's own sources, so a command must not reach them through a link.
    const isDependency = (name: string) =>
      !["vendor", "deps", "Pods"].includes(name) && existsSync(join(projectRoot, name));
    const linked = [...dependencyNames].filter(isDependency);
    const isLinked = (path: string) => linked.includes(path.split("/", 1)[0] ?? "");
    const copied = [...files.keys()].filter((path) => !isLinked(path));
    return { root, warnings: await copyIgnored(projectRoot, root, { copied, linked }), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Deletes this user's copies whose processes are dead; returns how many. */
export function removeDeadCopies(): number {
  if (!existsSync(tmpdir())) return 0;
  const parent = realpathSync(tmpdir());
  const dead = readdirSync(parent)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(parent, name))
    .filter((stage) => isOwnScratch(stage, stage) && isDead(stage));
  for (const stage of dead) rmSync(stage, { recursive: true, force: true, maxRetries: 3 });
  return dead.length;
}

/** Another process may delete the copy meanwhile. */
function isDead(stage: string): boolean {
  try {
    return inDirectory(stage, (directory) => isAbandoned(directory, OWNER));
  } catch (error) {
    if (errno(error) === "ENOENT") return false;
    throw error;
  }
}

function inDirectory<T>(path: string, use: (directory: Directory) => T): T {
  const directory = Directory.openRoot(path);
  try {
    return use(directory);
  } finally {
    directory.close();
  }
}

/** Changes when a file of the project does. */
export async function listingDigest(projectRoot: string, exclude: readonly string[]): Promise<string> {
  return digestOf(await listProject(projectRoot, { exclude }));
}

function digestOf({ files }: Listing): string {
  const hash = createHash("sha256");
  for (const path of [...files.keys()].sort()) {
    const { size, mtime, mode } = files.get(path) ?? {};
    hash.update(`${path}\0${size}\0${mtime}\0${mode}\n`);
  }
  return hash.digest("hex");
}
