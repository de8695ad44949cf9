// Copies ignored files into a worktree and links dependency directories. Opens both sides by descriptor: a link is copied as a link and
// never followed. Existing files are kept.

import { closeSync, constants, fchmodSync, fstatSync, readlinkSync, readSync, symlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { turns } from "../yield-turn.ts";

const CHUNK_BYTES = 1024 * 1024;

/** Paths are relative to both roots; a directory is copied with its content. Returns what could not be copied or linked, and why. */
export async function copyIgnored(
  from: string,
  to: string,
  files: { copied: readonly string[]; linked: readonly string[] },
): Promise<string[]> {
  const failures: string[] = [];
  const attempt = async (path: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (errno(error) === undefined && !(error instanceof MaestroError)) throw error;
      failures.push(`${path}: ${reasonOf(error)}`);
    }
  };
  for (const path of files.copied) await attempt(path, () => copyPath(from, to, path));
  for (const path of files.linked) {
    await attempt(path, () =>
      withParents(to, componentsOf(path), true, async (directory, name) => {
        symlinkSync(join(from, path), directory.at(name));
      }),
    );
  }
  return failures;
}

async function copyPath(from: string, to: string, path: string): Promise<void> {
  const components = componentsOf(path);
  await withParents(from, components, false, (source, name) =>
    withParents(to, components, true, (target) => copyEntry(source, target, name, turns())),
  );
}

async function copyEntry(source: Directory, target: Directory, name: string, pause: Pause): Promise<void> {
  await pause();
  const stat = source.lstat(name);
  if (stat === undefined) return;
  if (stat.isSymbolicLink()) {
    unlessThere(() => symlinkSync(readlinkSync(source.at(name)), target.at(name)));
  } else if (stat.isDirectory()) {
    unlessThere(() => target.mkdir(name, stat.mode & 0o777));
    await withChild(source, name, (from) =>
      withChild(target, name, async (to) => {
        for (const entry of from.list()) await copyEntry(from, to, entry, pause);
      }),
    );
  } else if (stat.isFile()) {
    await copyFile(source, target, name, pause);
  }
}

type Pause = ReturnType<typeof turns>;

async function copyFile(source: Directory, target: Directory, name: string, pause: Pause): Promise<void> {
  const input = source.open(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(input);
    if (!stat.isFile()) return;
    const output = unlessThere(() =>
      target.open(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600),
    );
    if (output === undefined) return;
    try {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, stat.size)));
      for (let count = readSync(input, chunk); count > 0; count = readSync(input, chunk)) {
        for (let written = 0; written < count; ) written += writeSync(output, chunk, written, count - written);
        await pause();
      }
      fchmodSync(output, stat.mode & 0o777);
    } finally {
      closeSync(output);
    }
  } finally {
    closeSync(input);
  }
}

function unlessThere<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (errno(error) === "EEXIST") return undefined;
    throw error;
  }
}

/** Runs `use` with the parent directory of the last component, opened without following a link. */
async function withParents(
  root: string,
  components: readonly string[],
  create: boolean,
  use: (directory: Directory, name: string) => Promise<void>,
): Promise<void> {
  const opened = [Directory.openRoot(root)];
  try {
    for (const name of components.slice(0, -1)) {
      const parent = opened.at(-1) as Directory;
      if (create) unlessThere(() => parent.mkdir(name, 0o777));
      opened.push(parent.child(name));
    }
    await use(opened.at(-1) as Directory, components.at(-1) ?? "");
  } finally {
    for (const directory of opened) directory.close();
  }
}

async function withChild(parent: Directory, name: string, use: (child: Directory) => Promise<void>): Promise<void> {
  const child = parent.child(name);
  try {
    await use(child);
  } finally {
    child.close();
  }
}

function componentsOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}
