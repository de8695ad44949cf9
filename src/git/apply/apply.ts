// Changes the project's files from one tree to another. Nothing is touched before all new contents are on disk beside their targets; from
// then on files are only renamed and deleted. `finish` completes a killed run, always forward. Never follows a link, never leaves the
// project, never overwrites unexpected content, never touches the user's index.

import { linkSync, readlinkSync, rmdirSync, symlinkSync } from "node:fs";
import { type Directory, ioError } from "../../disk/contained.ts";
import { sweepTemporaries } from "../../disk/durable.ts";
import { crashPoint } from "../../disk/fault.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { ObjectId } from "../../ids.ts";
import type { Repository } from "../repository.ts";
import { turns } from "../yield-turn.ts";
import { type ApplyPlan, type ApplyStep, planApply } from "./apply-plan.ts";
import { isUntouched, lookAt, type Seen, splitPath } from "./disk-state.ts";
import { discard, type Prepared, prepare } from "./prepare.ts";
import { type ProjectWalk, walking } from "./project-walk.ts";

export type ApplyOutcome =
  /** These files changed since the tree `from` was taken; nothing was touched. */
  | { kind: "changed"; paths: string[] }
  /** `left`: paths that changed while the plan was being applied, and were left alone. */
  | { kind: "done"; left: string[] };

/** A path appeared, or a directory was replaced, in the meantime: another process was faster. */
const inTheWay = new Set(["EEXIST", "ENOTEMPTY", "ENOTDIR", "EISDIR", "ELOOP", "ENOENT"]);

/**
 * Applies a plan, or touches nothing. The caller has recorded what is about to happen: if this throws, or the process dies, `finish` has to
 * complete it.
 */
export async function executePlan(repository: Repository, plan: ApplyPlan): Promise<ApplyOutcome> {
  requireAllowed(plan);
  const seen = await lookAt(repository, plan.steps);
  const changed = seen.filter(({ side }) => side === "other");
  if (changed.length > 0) return { kind: "changed", paths: pathsOf(changed) };
  const prepared = await prepare(repository, pendingOf(seen));
  return walking(repository, async (walk) => {
    try {
      // Files may have changed during the preparation.
      const late = prepared.filter((one) => !isUntouched(walk, one.seen)).map((one) => one.seen);
      if (late.length > 0) return { kind: "changed", paths: pathsOf(late) };
      crashPoint("integrate-begin");
      const left = await place(walk, prepared);
      crashPoint("integrate-end");
      return { kind: "done", left };
    } finally {
      discard(walk, prepared);
    }
  });
}

/**
 * Completes an `executePlan` that was killed, even before it began: files with the old content get the new one, files with the new content are
 * done, and the temporary files of the dead process are deleted. Files with any other content were changed by the user and stay.
 */
export async function finish(repository: Repository, from: ObjectId, to: ObjectId): Promise<{ left: string[] }> {
  const plan = await planApply(repository, from, to);
  requireAllowed(plan);
  await walking(repository, (walk) => sweep(walk, plan.steps));
  const seen = await lookAt(repository, plan.steps);
  const prepared = await prepare(repository, pendingOf(seen));
  return walking(repository, async (walk) => {
    try {
      const left = await place(walk, prepared);
      const gone = seen.filter(({ step, side }) => step.new === null && side === "new");
      for (const { step } of gone) removeEmptyParents(walk, step.path);
      return { left: [...pathsOf(seen.filter(({ side }) => side === "other")), ...left] };
    } finally {
      discard(walk, prepared);
    }
  });
}

function requireAllowed({ refused }: ApplyPlan): void {
  const [first] = refused;
  if (first === undefined) return;
  const more = refused.length > 1 ? ` (and ${refused.length - 1} more)` : "";
  throw new MaestroError("path", `Cannot change ${first.path} in the project: ${first.reason}${more}`);
}

function pendingOf(seen: readonly Seen[]): Seen[] {
  return seen.filter(({ side }) => side === "old");
}

function pathsOf(seen: readonly Seen[]): string[] {
  return seen.map(({ step }) => step.path);
}

/** Renames the new files into place and deletes the old ones; returns the paths that were left alone. */
async function place(walk: ProjectWalk, prepared: readonly Prepared[]): Promise<string[]> {
  const pause = turns(() => walk.forget());
  const left: string[] = [];
  const touched = new Set<string>();
  for (const one of inOrder(prepared)) {
    await pause();
    const { step } = one.seen;
    crashPoint("integrate-step");
    const isDone = step.new === null ? remove(walk, one) : put(walk, one);
    if (isDone) touched.add(splitPath(step.path).directory.join("/"));
    else left.push(step.path);
  }
  crashPoint("integrate-sync");
  for (const path of touched) {
    await pause();
    walk.to(componentsOf(path)).directory.sync();
  }
  return left;
}

/** Deletes first what blocks a new path, and everything else last: for a moment, content exists twice rather than not at all. */
function inOrder(prepared: readonly Prepared[]): Prepared[] {
  const written = prepared.filter(({ seen }) => seen.step.new !== null);
  const goes = prepared.filter(({ seen }) => seen.step.new === null);
  const names = new Set(written.map(({ seen }) => seen.step.path));
  const above = new Set([...names].flatMap(parentsOf));
  const isInTheWay = ({ seen: { step } }: Prepared) =>
    above.has(step.path) || parentsOf(step.path).some((parent) => names.has(parent));
  return [...goes.filter(isInTheWay), ...written, ...goes.filter((one) => !isInTheWay(one))];
}

function parentsOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join("/"));
}

function remove(walk: ProjectWalk, { seen }: Prepared): boolean {
  if (!isUntouched(walk, seen)) return false;
  const { directory: components, name } = splitPath(seen.step.path);
  try {
    const { directory, depth } = walk.to(components);
    if (depth < components.length) return true;
    directory.unlink(name);
  } catch (error) {
    if (inTheWay.has(errno(error) ?? "")) return false;
    throw ioError("remove", seen.step.path, error);
  }
  removeEmptyParents(walk, seen.step.path);
  return true;
}

/** Deletes the directories above a deleted file that are now empty. */
function removeEmptyParents(walk: ProjectWalk, path: string): void {
  const { directory: components } = splitPath(path);
  for (let { depth } = walk.to(components); depth > 0; depth--) {
    if (!removedEmpty(walk.at(depth - 1), components[depth - 1] ?? "")) return;
    walk.forget(depth - 1);
  }
}

function put(walk: ProjectWalk, one: Prepared): boolean {
  const { seen, temporary } = one;
  if (temporary === undefined) throw new Error(`nothing was prepared for ${seen.step.path}`);
  const { directory: components, name } = splitPath(seen.step.path);
  try {
    const to = walk.make(components);
    // The temporary file is in this directory or, if that did not exist yet, in the nearest one above.
    const from = walk.at(temporary.directory.length);
    if (seen.stat === undefined && to.lstat(name)?.isDirectory()) removeEmptyTree(to, name);
    if (!isUntouched(walk, seen)) return false;
    if (seen.stat !== undefined) from.rename(temporary.name, name, to);
    else create(from, temporary.name, to, name);
    delete one.temporary;
    return true;
  } catch (error) {
    if (inTheWay.has(errno(error) ?? "")) return false;
    throw ioError("write", seen.step.path, error);
  }
}

/** Gives a file its name only if the name is free. */
function create(from: Directory, temporary: string, to: Directory, name: string): void {
  crashPoint("integrate-create");
  try {
    if (from.lstat(temporary)?.isSymbolicLink()) {
      symlinkSync(readlinkSync(from.at(temporary), { encoding: "buffer" }), to.at(name));
    } else {
      linkSync(from.at(temporary), to.at(name));
    }
  } catch (error) {
    // A file system without links: rename instead, since the name was free a moment ago.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(errno(error) ?? "")) throw error;
    from.rename(temporary, name, to);
    return;
  }
  crashPoint("integrate-created");
  from.unlink(temporary);
}

/** Removes a directory that contains nothing but empty directories. */
function removeEmptyTree(parent: Directory, name: string): void {
  const directory = parent.child(name);
  try {
    for (const entry of directory.list()) removeEmptyTree(directory, entry);
  } finally {
    directory.close();
  }
  rmdirSync(parent.at(name));
}

function removedEmpty(parent: Directory, name: string): boolean {
  try {
    rmdirSync(parent.at(name));
    crashPoint("integrate-directory");
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOENT", "EBUSY", "EACCES", "EPERM"].includes(errno(error) ?? "")) return false;
    throw error;
  }
}

/** Deletes temporary files of dead processes in all directories above the steps' paths. */
function sweep(walk: ProjectWalk, steps: readonly ApplyStep[]): void {
  const paths = new Set(["", ...steps.flatMap(({ path }) => parentsOf(path))]);
  for (const path of paths) sweepTemporaries(walk.to(componentsOf(path)).directory);
}

function componentsOf(path: string): string[] {
  return path === "" ? [] : path.split("/");
}
