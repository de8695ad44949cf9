// Compares what the project has on disk at a path with what a step of an integration expects there. Reads by descriptor, follows no link.

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, readlinkSync, readSync, type Stats } from "node:fs";
import type { Directory } from "../../disk/contained.ts";
import type { Repository } from "../repository.ts";
import { turns } from "../yield-turn.ts";
import type { ApplyStep, FileState } from "./apply-plan.ts";
import { type ProjectWalk, walking } from "./project-walk.ts";

export interface Seen {
  step: ApplyStep;
  /** Which side of the step the disk matches; "other": neither, because the user changed it. */
  side: "old" | "new" | "other";
  /** Of the file or link at the path. */
  stat: Stats | undefined;
}

const CHUNK_BYTES = 1024 * 1024;

/** Compares the paths of all steps with the disk. */
export function lookAt(repository: Repository, steps: readonly ApplyStep[]): Promise<Seen[]> {
  const named = (is: (step: ApplyStep) => boolean) => new Set(steps.filter(is).map(({ path }) => path));
  const plan = { goes: named((step) => step.new === null), comes: named((step) => step.new !== null) };
  const pause = turns();
  return walking(repository, async (walk) => {
    const seen: Seen[] = [];
    for (const step of steps) {
      await pause();
      seen.push(await look({ repository, walk, plan, pause }, step));
    }
    return seen;
  });
}

interface Looking {
  repository: Repository;
  walk: ProjectWalk;
  /** Paths of all steps: deleted ones (`goes`) and written ones (`comes`). */
  plan: { goes: ReadonlySet<string>; comes: ReadonlySet<string> };
  pause: ReturnType<typeof turns>;
}

async function look({ repository, walk, plan, pause }: Looking, step: ApplyStep): Promise<Seen> {
  const { directory: components, name } = splitPath(step.path);
  const { directory: parent, depth } = walk.to(components);
  const missing = components[depth];
  if (missing !== undefined) {
    // The directory does not exist, so the path does not exist, unless a file that is not part of the plan is in the directory's place.
    const above = components.slice(0, depth + 1).join("/");
    const isOurs = step.new === null ? plan.comes.has(above) : plan.goes.has(above);
    const isFree = isOurs || parent.lstat(missing) === undefined;
    return { step, side: isFree ? sideOfNothing(step) : "other", stat: undefined };
  }
  const stat = parent.lstat(name);
  if (stat === undefined) return { step, side: sideOfNothing(step), stat };
  if (stat.isDirectory()) return { step, side: sideOfDirectory(parent, name, step, plan.goes), stat: undefined };
  const state = await stateAt(repository, parent, name, stat, pause);
  return { step, side: same(state, step.new) ? "new" : same(state, step.old) ? "old" : "other", stat };
}

function sideOfNothing(step: ApplyStep): Seen["side"] {
  if (step.new === null) return "new";
  return step.old === null ? "old" : "other";
}

/** A directory does not matter where a file is deleted; where one is created, everything in the directory must be about to be deleted. */
function sideOfDirectory(parent: Directory, name: string, step: ApplyStep, goes: ReadonlySet<string>): Seen["side"] {
  if (step.new === null) return "new";
  if (step.old !== null) return "other";
  return holdsOnly(parent, name, step.path, goes) ? "old" : "other";
}

function holdsOnly(parent: Directory, name: string, path: string, deleted: ReadonlySet<string>): boolean {
  const directory = parent.child(name);
  try {
    return directory.list().every((entry) => {
      const below = `${path}/${entry}`;
      return directory.lstat(entry)?.isDirectory() ? holdsOnly(directory, entry, below, deleted) : deleted.has(below);
    });
  } finally {
    directory.close();
  }
}

/** Whether the path is unchanged since `lookAt`. A cheap check, for the moment just before the path is changed. */
export function isUntouched(walk: ProjectWalk, { step, stat }: Seen): boolean {
  const { directory: components, name } = splitPath(step.path);
  const { directory, depth } = walk.to(components);
  const now = depth === components.length ? directory.lstat(name) : undefined;
  if (stat === undefined) return now === undefined || now.isDirectory();
  return now !== undefined && identity.every((field) => now[field] === stat[field]);
}

const identity = ["dev", "ino", "mode", "size", "mtimeMs", "ctimeMs"] as const;

export function splitPath(path: string): { directory: string[]; name: string } {
  const directory = path.split("/");
  return { name: directory.pop() ?? "", directory };
}

/** The entry as git would store it; undefined for what git cannot store. */
async function stateAt(
  repository: Repository,
  parent: Directory,
  name: string,
  stat: Stats,
  pause: ReturnType<typeof turns>,
): Promise<StateOnDisk | undefined> {
  const { objectFormat, fileMode } = repository;
  if (stat.isSymbolicLink()) {
    const target = readlinkSync(parent.at(name), { encoding: "buffer" });
    return { kinds: ["link"], id: idOf(objectFormat, target.length).update(target).digest("hex") };
  }
  if (!stat.isFile()) return undefined;
  const fd = parent.open(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size, mode } = fstatSync(fd);
    const hash = idOf(objectFormat, size);
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, size)));
    for (let count = readSync(fd, chunk); count > 0; count = readSync(fd, chunk)) {
      hash.update(chunk.subarray(0, count));
      await pause();
    }
    return { kinds: fileKinds(mode, fileMode, repository.symlinks), id: hash.digest("hex") };
  } finally {
    closeSync(fd);
  }
}

interface StateOnDisk {
  /** What the file can represent: several kinds on a disk without executable bits or links. */
  kinds: FileState["kind"][];
  id: string;
}

function fileKinds(mode: number, hasModes: boolean, hasLinks: boolean): FileState["kind"][] {
  const links: FileState["kind"][] = hasLinks ? [] : ["link"];
  if (!hasModes) return ["file", "executable", ...links];
  return [(mode & 0o100) === 0 ? "file" : "executable", ...links];
}

function idOf(objectFormat: string, size: number) {
  return createHash(objectFormat).update(`blob ${size}\0`);
}

function same(found: StateOnDisk | undefined, expected: FileState | null): boolean {
  return found !== undefined && expected !== null && found.id === expected.id && found.kinds.includes(expected.kind);
}
