// Maestro's own git directory beside each repository. It reads the repository's objects and nothing else: no configuration and no
// attribute of the repository affects a command that runs in it, so no filter, driver, hook or monitor can start. Only the repository's
// ignore rules apply. New objects go to a directory of its own. Only src/git writes to it.

import { mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Directory } from "../disk/contained.ts";
import { readRegular, replaceDurably } from "../disk/durable.ts";
import { requireOpenable, requireOpenableObjects } from "./admin-files.ts";
import { readFile } from "./read-file.ts";
import type { Repository } from "./repository.ts";
import { type GitAnswer, type GitCall, runGit } from "./run.ts";

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Store and restore bytes unchanged: no line endings, encodings, keywords or filters. Merge attributes ("union", "binary") stay in effect:
 * a driver with a command would need a configuration, and there is none.
 */
const attributes = "* -text -filter -ident -working-tree-encoding !eol !crlf !diff\n";
/** Maestro's temporary files that a killed process left in the project. */
const ignored = "\n.maestro-*.tmp\n";

export interface OwnCall extends Pick<GitCall, "input" | "codes" | "timeoutMs" | "check"> {
  /** The directory with the files; without one the command works on objects alone. */
  workTree?: string;
  index?: string;
  env?: Readonly<Record<string, string>>;
}

/** Runs git on the repository's objects, without the repository's configuration. */
export async function ownGit(repository: Repository, args: readonly string[], call: OwnCall = {}): Promise<GitAnswer> {
  const { workTree, index, env, ...rest } = call;
  const gitDir = ownDirectory(repository.place);
  requireOpenable(gitDir);
  requireOpenableObjects(repository.commonDir);
  return runGit({
    ...rest,
    args,
    cwd: workTree ?? gitDir,
    env: {
      GIT_DIR: gitDir,
      GIT_OBJECT_DIRECTORY: repository.objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: [...repository.borrowed, userObjects(repository)].map(quoted).join(delimiter),
      ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
      ...env,
    },
  });
}

/** Runs git in the repository itself. Only for its references, its worktrees and queries about them. */
export async function theirGit(
  repository: Repository,
  args: readonly string[],
  call: Pick<GitCall, "input" | "codes" | "config"> & { index?: string } = {},
): Promise<GitAnswer> {
  const { index, ...rest } = call;
  requireOpenable(repository.gitDir, repository.commonDir);
  return runGit({
    ...rest,
    args: [`--git-dir=${repository.gitDir}`, ...args],
    cwd: repository.toplevel,
    ...(index === undefined ? {} : { env: { GIT_INDEX_FILE: index } }),
  });
}

/** The user's object database. */
export function userObjects({ commonDir }: Pick<Repository, "commonDir">): string {
  return join(commonDir, "objects");
}

/** Maestro's objects for one project of the repository. `project`: one component of a path. */
export function objectsOf(place: string, project: string): string {
  return join(ownDirectory(place), "projects", project, "objects");
}

export function ownDirectory(place: string): string {
  return join(place, "git");
}

/** All directories of Maestro's own git directory that contain files. */
export function ownDirectories(place: string): string[] {
  return [ownDirectory(place), join(ownDirectory(place), "info")];
}

/** Creates or updates the directory. The user's ignore rules are copied each time a repository is opened. */
export function prepareOwnGit(repository: Repository, excludesFile: string | undefined): void {
  const patterns = [excludesFile, join(repository.commonDir, "info", "exclude")].map(patternsIn);
  const path = ownDirectory(repository.place);
  mkdirSync(repository.objects, { recursive: true, mode: 0o700 });
  for (const part of ["refs", "info"]) mkdirSync(join(path, part), { recursive: true, mode: 0o700 });
  write(path, "HEAD", "ref: refs/heads/none\n");
  write(path, "config", configuration(repository));
  write(path, "origin", repository.gitDir);
  write(join(path, "info"), "attributes", attributes);
  write(join(path, "info"), "exclude", Buffer.concat([...patterns, Buffer.from(ignored)]));
}

/** Copied, because git would wait for a FIFO at this path. Of two matching patterns the later one wins, as with two files. */
function patternsIn(path: string | undefined): Buffer {
  const bytes = path === undefined ? undefined : readFile(path)?.bytes;
  if (bytes === undefined) return Buffer.alloc(0);
  const hasMark = bytes.subarray(0, 3).equals(Buffer.from("\ufeff"));
  return Buffer.concat([hasMark ? bytes.subarray(3) : bytes, Buffer.from("\n")]);
}

function configuration(repository: Repository): string {
  const isSha1 = repository.objectFormat === "sha1";
  const core: [name: string, value: string | boolean][] = [
    ["repositoryFormatVersion", isSha1 ? "0" : "1"],
    ["bare", false],
    ["fileMode", repository.fileMode],
    ["symlinks", repository.symlinks],
    ["ignoreCase", repository.ignoreCase],
    ["precomposeUnicode", repository.precomposeUnicode],
    // The objects that an integration relies on must survive a power cut.
    ["fsync", "objects"],
    ["fsyncMethod", "batch"],
  ];
  const lines = core.map(([name, value]) => `\t${name} = ${quoted(String(value))}\n`);
  const format = isSha1 ? "" : `[extensions]\n\tobjectFormat = ${repository.objectFormat}\n`;
  return `[core]\n${lines.join("")}[checkout]\n\tworkers = 0\n${format}`;
}

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n")}"`;
}

function write(path: string, name: string, content: string | Buffer): void {
  const bytes = Buffer.from(content);
  const directory = Directory.openRoot(path);
  try {
    if (!readRegular(directory, name, MAX_FILE_BYTES)?.equals(bytes)) replaceDurably(directory, name, bytes);
  } finally {
    directory.close();
  }
}
