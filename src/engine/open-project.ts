// Opens the project's git repository, and lists the paths of the project that are never part of a snapshot.

import { basename, dirname, join, relative, sep } from "node:path";
import { errno, reasonOf } from "../errors.ts";
import { cacheRoot } from "../git/cache-directory.ts";
import { type Opening, openRepository, type RepositoryUse } from "../git/open.ts";
import type { Repository } from "../git/repository.ts";
import { stopGit, watchGit } from "../git/running.ts";
import { worktreePrefix } from "../git/worktree/prefix.ts";
import { userStateRoot } from "../store/files/user-record.ts";
import type { StateLocation } from "../store/location.ts";
import { manifest } from "../store/workspace.ts";

export interface ProjectPlace {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The project's state: its sessions have objects of their own, which are deleted with them. */
  location?: StateLocation;
  /** Registers `before` to run when a signal ends this process; returns a function that unregisters it. */
  beforeSignalEnds?: (before: () => void) => () => void;
}

/** An unusable cache directory gives a "refused" result with a reason instead of an error. `use`: as for `openRepository`. */
export async function openProject(place: ProjectPlace, use?: RepositoryUse): Promise<Opening> {
  stopGitOnSignal(place);
  const cache = cacheRoot(place.env);
  try {
    const name = place.location === undefined ? undefined : projectName(place.location);
    return await openRepository(place.cwd, cache, name, use);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    const { path } = error as NodeJS.ErrnoException;
    const where = path === undefined || path.startsWith("/proc/self/fd") ? "" : `: ${path}`;
    const hint = `Worktrees are stored in ${cache}. Set XDG_CACHE_HOME to use another directory.`;
    return { kind: "refused", reason: `the repository cannot be used: ${reasonOf(error)}${where}`, hint };
  }
}

/** As worktrees are named: the name of a directory. */
function projectName(location: StateLocation): string {
  return worktreePrefix(location).replace(/-$/, "");
}

let isWatching = false;

/** Ctrl-C does not reach git, which runs in its own process group, so this process stops git before a signal ends it. */
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

/** Maestro's directories in a state directory that it shares with other programs. */
const stateParts = [...new Set(manifest.flatMap(([part]) => part ?? []))];
/** This directory also holds Gemini CLI settings, which belong to the user and are part of the project. */
const SHARED_STATE_DIRECTORY = ".gemini";

/** Paths relative to the project root; those elsewhere in the repository start with "../". */
export function excluded(repository: Repository, location: StateLocation, env: ProjectPlace["env"]): string[] {
  const { projectRoot, toplevel, place } = repository;
  const places = stateDirectories(location, projectRoot);
  for (const own of [dirname(place), userStateRoot(env)]) if (!contains(own, projectRoot)) places.push(own);
  return places
    .filter((path) => path !== toplevel && contains(toplevel, path))
    .map((path) => relative(projectRoot, path).split(sep).join("/"));
}

/** The paths that Maestro itself writes in a project outside git. The project may be the home directory. */
export function ownPaths(location: StateLocation, env: ProjectPlace["env"]): string[] {
  const { projectRoot } = location;
  return [...stateDirectories(location, projectRoot), userStateRoot(env)]
    .filter((path) => path !== projectRoot && contains(projectRoot, path))
    .map((path) => relative(projectRoot, path).split(sep).join("/"));
}

/** A state directory that people also use for their own files is not left out as a whole. */
function stateDirectories(location: StateLocation, projectRoot: string): string[] {
  const state = join(isIn(location) ? projectRoot : location.root, ...location.components);
  const isShared = basename(state) === SHARED_STATE_DIRECTORY || contains(state, projectRoot);
  return isShared ? stateParts.map((part) => join(state, part)) : [state];
}

/** Whether the state directory is inside the project; its path is then resolved from the project's real path. */
function isIn(location: StateLocation): boolean {
  return location.root === location.projectRoot;
}

function contains(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}
