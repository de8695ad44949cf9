// The git repository that the project lies in, and what of the project is no part of a snapshot.

import { createHash } from "node:crypto";
import { basename, dirname, join, relative, sep } from "node:path";
import { errno, reasonOf } from "../errors.ts";
import { type Opening, openRepository } from "../git/open.ts";
import type { Repository } from "../git/repository.ts";
import type { StateLocation } from "../store/location.ts";
import { manifest } from "../store/workspace.ts";
import { cacheRoot } from "./cache-directory.ts";
import type { Io } from "./io.ts";

/** A machine that does not let us work there is a refusal like others. */
export async function openProject(io: Pick<Io, "cwd" | "env">): Promise<Opening> {
  const cache = cacheRoot(io.env);
  try {
    return await openRepository(io.cwd, cache);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    const { path } = error as NodeJS.ErrnoException;
    const where = path === undefined || path.startsWith("/proc/self/fd") ? "" : `: ${path}`;
    const hint = `Worktrees are kept in ${cache}; XDG_CACHE_HOME names another place.`;
    return { kind: "refused", reason: `the repository cannot be worked with: ${reasonOf(error)}${where}`, hint };
  }
}

/** How the names of a project's worktrees begin: several projects may lie in one repository, each with an engine of its own. */
export function worktreePrefix({ root, components }: StateLocation): string {
  return `${createHash("sha256")
    .update([root, ...components].join("/"))
    .digest("hex")
    .slice(0, 8)}-`;
}

/** The directories of Maestro in a state directory that is not its alone. */
const stateParts = [...new Set(manifest.flatMap(([part]) => part ?? []))];
/** Holds the settings of Gemini CLI too, which are the user's and part of the project. */
const SHARED_STATE_DIRECTORY = ".gemini";

/** Relative to the project; what lies elsewhere in its repository begins with "../". */
export function excluded(repository: Repository, location: StateLocation): string[] {
  const { projectRoot, toplevel, place } = repository;
  const state = join(isIn(location) ? projectRoot : location.root, ...location.components);
  const isShared = basename(state) === SHARED_STATE_DIRECTORY || contains(state, projectRoot);
  const places = isShared ? stateParts.map((part) => join(state, part)) : [state];
  const cache = dirname(place);
  if (!contains(cache, projectRoot)) places.push(cache);
  return places
    .filter((path) => path !== toplevel && contains(toplevel, path))
    .map((path) => relative(projectRoot, path).split(sep).join("/"));
}

/** A state directory of the project itself: found below its real path, whatever it was called on the way. */
function isIn(location: StateLocation): boolean {
  return location.root === location.projectRoot;
}

function contains(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}
