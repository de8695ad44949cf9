// Brings the project's files from one tree to another: nothing is touched before all new contents lie ready beside their targets, and from
// then on only names change. A killed run is finished by `finish`, which goes forward. Never follows a link, never leaves the project, never
// writes over what it did not expect; the user's index is not touched.

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
  /** Somebody changed these files since the tree `from` was taken; nothing was touched. */
  | { kind: "changed"; paths: string[] }
  /** `left`: changed by somebody in the very moment, and left alone. */
  | { kind: "done"; left: string[] };

/** Something is where nothing was, or a directory is none any more: somebody was faster. */
const inTheWay = new Set(["EEXIST", "ENOTEMPTY", "ENOTDIR", "EISDIR", "ELOOP", "ENOENT"]);

/**
 * Carries a plan out, or touches nothing. The caller has written down what is about to happen: should this end with an error, or the process
 * with a bang, `finish` is what follows.
 */
export async function executePlan(repository: Repository, plan: ApplyPlan): Promise<ApplyOutcome> {
  requireAllowed(plan);
  const seen = await lookAt(repository, plan.steps);
  const changed = seen.filter(({ side }) => side === "other");
  if (changed.length > 0) return { kind: "changed", paths: pathsOf(changed) };
  const prepared = await prepare(repository, pendingOf(seen));
  return walking(repository, async (walk) => {
    try {
      // Preparing may have taken a while.
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
 * Finishes what a killed `carryOut` began, or did not begin: what holds the old content gets the new one, what holds the new one is done, what
 * the dead process left lying about is removed. Anything else was changed by somebody and is left alone.
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
  throw new MaestroError("path", `Cannot bring ${first.path} into the project: ${first.reason}${more}`);
}

function pendingOf(seen: readonly Seen[]): Seen[] {
  return seen.filter(({ side }) => side === "old");
}

function pathsOf(seen: readonly Seen[]): string[] {
  return seen.map(({ step }) => step.path);
}

/** Gives the new files their names and takes the old ones theirs; returns the paths left alone. */
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

/** What stands in the way of something new goes first; what merely goes, last: better twice there for a moment than not at all. */
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

/** The directories above a file that went, as far as they are empty. */
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
    // It lies there or further up, where a directory was when it was written.
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

/** Gives a file its name only if nothing has it. */
function create(from: Directory, temporary: string, to: Directory, name: string): void {
  crashPoint("integrate-create");
  try {
    if (from.lstat(temporary)?.isSymbolicLink()) {
      symlinkSync(readlinkSync(from.at(temporary), { encoding: "buffer" }), to.at(name));
    } else {
      linkSync(from.at(temporary), to.at(name));
    }
  } catch (error) {
    // A file system without links: the name was free a moment ago.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(errno(error) ?? "")) throw error;
    from.rename(temporary, name, to);
    return;
  }
  crashPoint("integrate-created");
  from.unlink(temporary);
}

/** Removes a directory of empty directories. */
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

/** Temporary files of dead processes, in all directories that the steps lead through. */
function sweep(walk: ProjectWalk, steps: readonly ApplyStep[]): void {
  const paths = new Set(["", ...steps.flatMap(({ path }) => parentsOf(path))]);
  for (const path of paths) sweepTemporaries(walk.to(componentsOf(path)).directory);
}

function componentsOf(path: string): string[] {
  return path === "" ? [] : path.split("/");
}
