// Archives a plan that a revision has replaced: marked as outdated, with the suffix `.superseded`. Every step can be repeated.

import { basename, dirname, resolve } from "node:path";
import { Directory, ioError, withDirectory } from "../disk/contained.ts";
import { readRegular, replaceDurably } from "../disk/durable.ts";
import { errno } from "../errors.ts";
import { outdatedPlan } from "../plan/mark/outdated.ts";
import { MAX_PLAN_BYTES } from "../plan/plan.ts";
import { hashText } from "./files/project-files.ts";
import { recordedPath, type StateLocation, walk } from "./location.ts";

/** Moves a plan from `plans/` to `plans/archive/`. It stays in place when the target exists with other content. */
export function supersede(
  location: StateLocation,
  { from, to }: { from: string; to: string },
  successor: string,
): void {
  const [name, target] = [basename(from), basename(to)];
  inPlans(location, (plans, archive) => {
    const stat = plans.lstat(name);
    if (stat === undefined) return;
    if (!stat.isFile() || stat.size > MAX_PLAN_BYTES) {
      if (archive.lstat(target) === undefined) plans.rename(name, target, archive);
    } else {
      const text = readRegular(plans, name, MAX_PLAN_BYTES)?.toString("utf8") ?? "";
      const marked = Buffer.from(outdatedPlan(text, successor));
      if (archive.lstat(target) === undefined) write(archive, target, marked, stat.mode);
      if (has(archive, target, marked)) plans.unlink(name);
    }
    archive.sync();
    plans.sync();
  });
}

function has(archive: Directory, name: string, bytes: Buffer): boolean {
  const stat = archive.lstat(name);
  if (stat?.isFile() !== true || stat.size !== bytes.length) return false;
  return readRegular(archive, name, bytes.length)?.equals(bytes) === true;
}

/** Copies a plan that is not in `plans/`: that file is the user's own and stays where it is. Only if it is still the plan with this hash. */
export function copySuperseded(
  location: StateLocation,
  plan: string,
  hash: string,
  to: string,
  successor: string,
): void {
  const path = resolve(location.projectRoot, plan);
  const bytes = readAt(path);
  if (bytes === undefined || hashText(bytes) !== hash) return;
  inPlans(location, (_, archive) =>
    write(archive, basename(to), Buffer.from(outdatedPlan(bytes.toString("utf8"), successor))),
  );
}

/** Archives the text of a plan whose file was edited, unless the target exists. */
export function keepEarlier(location: StateLocation, to: string, earlier: string, successor: string): void {
  inPlans(location, (_, archive) => {
    const name = basename(to);
    if (archive.lstat(name) === undefined) write(archive, name, Buffer.from(outdatedPlan(earlier, successor)));
  });
}

/** Deletes the file in `plans/` whose content became the revision, if that is still its content. */
export function dropTaken(location: StateLocation, taken: { path: string; hash: string }): void {
  inPlans(location, (plans) => {
    const name = basename(taken.path);
    if (plans.lstat(name)?.isFile() !== true) return;
    const bytes = readRegular(plans, name, MAX_PLAN_BYTES);
    if (bytes === undefined || hashText(bytes) !== taken.hash) return;
    plans.unlink(name);
    plans.sync();
  });
}

export function isInPlans(location: StateLocation, path: string): boolean {
  return path === recordedPath(location, "plans", basename(path));
}

/** The name in the archive for a plan that was replaced; it is not taken. */
export function supersededPath(location: StateLocation, plan: string, taken: ReadonlySet<string>): string {
  let name = `${plan}.superseded`;
  for (let attempt = 2; taken.has(name); attempt++) name = `${plan}.superseded-${attempt}`;
  return recordedPath(location, "plans", "archive", name);
}

function readAt(path: string): Buffer | undefined {
  let directory: Directory;
  try {
    directory = Directory.openRoot(dirname(path));
  } catch (error) {
    if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return undefined;
    throw ioError("open", dirname(path), error);
  }
  try {
    return directory.lstat(basename(path))?.isFile()
      ? readRegular(directory, basename(path), MAX_PLAN_BYTES)
      : undefined;
  } finally {
    directory.close();
  }
}

function write(archive: Directory, name: string, bytes: Buffer, mode = 0o600): void {
  replaceDurably(archive, name, bytes, { mode: mode & 0o777 });
}

function inPlans(location: StateLocation, use: (plans: Directory, archive: Directory) => void): void {
  const below = [...location.components, "plans"];
  const made = walk(location, true);
  withDirectory(location.root, [...below, "archive"], made, (archive) =>
    withDirectory(location.root, below, made, (plans) => use(plans, archive)),
  );
}
