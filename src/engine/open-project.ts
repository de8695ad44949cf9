// Opens the git repository of the project, and says which paths of the project are never part of a snapshot.

import { basename, dirname, join, relative, sep } from "node:path";
import { errno, reasonOf } from "../errors.ts";
import { cacheRoot } from "../git/cache-directory.ts";
import { type Opening, openRepository } from "../git/open.ts";
import type { Repository } from "../git/repository.ts";
import { stopGit, watchGit } from "../git/running.ts";
import type { StateLocation } from "../store/location.ts";
import { manifest } from "../store/workspace.ts";

export interface ProjectPlace {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Runs `before` when a signal ends this process; returns how to give that up. */
  beforeSignalEnds?: (before: () => void) => () => void;
}

/** A cache directory that cannot be used is a refusal with a reason, not an error. */
export async function openProject(place: ProjectPlace): Promise<Opening> {
  stopGitOnSignal(place);
  const cache = cacheRoot(place.env);
  try {
    return await openRepository(place.cwd, cache);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    const { path } = error as NodeJS.ErrnoException;
    const where = path === undefined || path.startsWith("/proc/self/fd") ? "" : `: ${path}`;
    const hint = `Worktrees are kept in ${cache}; XDG_CACHE_HOME names another place.`;
    return { kind: "refused", reason: `the repository cannot be worked with: ${reasonOf(error)}${where}`, hint };
  }
}

let isWatching = false;

/** Ctrl-C does not reach git, which has its own process group: a process that a signal ends stops its git first. */
function stopGitOnSignal({ beforeSignalEnds }: ProjectPlace): void {
  if (isWatching || beforeSignalEnds === undefined) return;
  isWatching = true;
  let running = 0;
  let leave: (() => void) | undefined;
  watchGit({
    started: () => {
      running += 1;
      leave ??= beforeSignalEnds(stopGit);
    },
    ended: () => {
      running -= 1;
      if (running > 0) return;
      leave?.();
      leave = undefined;
    },
  });
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
