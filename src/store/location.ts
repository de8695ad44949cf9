// Where a project's state is: the root that no path may leave, and the directories below it.

import { lstatSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { type Directory, ioError, pathFault, type WalkOptions, withDirectory } from "../disk/contained.ts";
import { ownershipFault } from "../disk/directory-owner.ts";
import { errno, MaestroError } from "../errors.ts";

export interface StateLocation {
  /** The project: plans and owned files are relative to it. */
  projectRoot: string;
  /** The directory that contains everything below; the project, or an absolute state directory itself. */
  root: string;
  /** The state directory below `root`, by component. */
  components: string[];
  /** The state directory as the user wrote it, for messages and recorded paths. */
  shown: string;
}

/** A relative state directory is inside the project; an absolute one may be anywhere. */
export function locateState(projectRoot: string, stateDir: string): StateLocation {
  if (stateDir.startsWith("~")) {
    throw new MaestroError("config", `MAESTRO_STATE_DIR must not begin with ~ (got: ${stateDir})`, {
      hint: "~ is not expanded here: write the path in full.",
    });
  }
  if (isAbsolute(stateDir)) {
    const root = realIfThere(stateDir);
    return { projectRoot, root, components: [], shown: root };
  }
  const fault = pathFault(stateDir);
  if (fault !== undefined) {
    throw new MaestroError("config", `MAESTRO_STATE_DIR must not leave the project (got: ${stateDir})`, {
      hint: "Use a directory inside the project, or an absolute path.",
    });
  }
  const components = stateDir.split(/\//).filter((name) => name !== "" && name !== ".");
  return { projectRoot, root: projectRoot, components, shown: components.join("/") || "." };
}

/** Resolves links (`/tmp` is one on macOS), because recorded paths are real paths. */
function realIfThere(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errno(error) === "ENOENT") return path;
    throw ioError("open", path, error);
  }
}

/** Runs `use` in a directory of the state tree; undefined when it does not exist. Rejects links. To write, use `inOwnState`. */
export function inState<T>(
  location: StateLocation,
  path: readonly string[],
  use: (directory: Directory) => T,
): T | undefined {
  return enterState(location, path, walk(location, false), use);
}

/** Like `inState`, for writing files or running commands read from them: rejects a directory that another user can write to. */
export function inOwnState<T>(
  location: StateLocation,
  path: readonly string[],
  use: (directory: Directory) => T,
): T | undefined {
  return enterState(location, path, { ...walk(location, false), admit: admitOwn(location) }, use);
}

/** Why nothing may be written or run in the state directory; undefined when it may, or when the directory does not exist. */
export function foreignState(location: StateLocation): MaestroError | undefined {
  let fault: MaestroError | undefined;
  const admit = (directory: Directory, depth: number) => {
    if (isOfState(location, depth)) fault ??= ownershipFault(directory, location.projectRoot);
  };
  for (const part of ["state", "plans", "parallel"]) {
    try {
      enterState(location, [part], { ...walk(location, false), admit }, () => undefined);
    } catch (error) {
      // The operation that needs this directory reports that it cannot be opened.
      if (!(error instanceof MaestroError)) throw error;
    }
  }
  return fault;
}

function admitOwn(location: StateLocation) {
  return (directory: Directory, depth: number) => {
    const fault = isOfState(location, depth) ? ownershipFault(directory, location.projectRoot) : undefined;
    if (fault !== undefined) throw fault;
  };
}

/** With a relative state directory the root is the project itself, whose ownership is not checked. */
function isOfState({ components }: StateLocation, depth: number): boolean {
  return depth > 0 || components.length === 0;
}

function enterState<T>(
  location: StateLocation,
  path: readonly string[],
  options: WalkOptions,
  use: (directory: Directory) => T,
): T | undefined {
  const shown = [location.shown, ...path].join("/");
  let entered = false;
  try {
    return withDirectory(location.root, [...location.components, ...path], options, (directory) => {
      entered = true;
      return use(directory);
    });
  } catch (error) {
    if (entered || errno(error) === undefined) throw ioError("use", shown, error);
    if (errno(error) === "ENOENT") return undefined;
    if (errno(error) === "ELOOP" || errno(error) === "ENOTDIR") {
      const message = `State directory must be a real directory, not a link or a file (got: ${culprit(location, path)})`;
      throw new MaestroError("path", message, { cause: error });
    }
    throw ioError("open", shown, error);
  }
}

/** The first path component that is not a directory. */
function culprit({ root, components, shown }: StateLocation, path: readonly string[]): string {
  const names = [...components, ...path];
  const at = names.findIndex(
    (_, i) => !lstatSync(join(root, ...names.slice(0, i + 1)), { throwIfNoEntry: false })?.isDirectory(),
  );
  const end = at < 0 ? names.length : at + 1;
  return isAbsolute(shown) ? join(root, ...names.slice(0, end)) : names.slice(0, end).join("/");
}

/** How the state tree is entered: new directories are private to the user, and are created only where the user owns every parent in the tree. */
export function walk(location: StateLocation, create: boolean): WalkOptions {
  const shown = isAbsolute(location.shown) ? location.root : "";
  return { create, mode: 0o700, shown, admit: create ? admitOwn(location) : undefined };
}

/** A path of the state tree as it is recorded: relative to the project when it is inside the project. */
export function recordedPath(location: StateLocation, ...parts: string[]): string {
  const absolute = join(location.root, ...location.components, ...parts);
  const inside = relative(location.projectRoot, absolute);
  const leaves = inside === "" || isAbsolute(inside) || inside.split(sep)[0] === "..";
  return (leaves ? absolute : inside).split(sep).join("/");
}
