// Builds the allow list of what a sandboxed attempt sees: the system and programs read-only, its worktree, shared dependencies and the
// runtime's settings. Everything else is absent. It reads the disk and changes nothing.

import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { errno, MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import type { HomePlace } from "../../runtimes/runtime.ts";
import type { Environment } from "../../setting-layers.ts";
import { keepHome } from "./home.ts";
import { keepLinked } from "./linked.ts";
import {
  around,
  contains,
  containsAny,
  cover,
  entriesOf,
  isAbsent,
  keep,
  lead,
  type Mounts,
  put,
  putEmpty,
  realOf,
  simplified,
  statOf,
} from "./mounts.ts";
import { keepPrograms } from "./programs.ts";
import { keepRuntime } from "./runtime.ts";
import type { Cell } from "./sandbox.ts";
import { putSystem } from "./system.ts";

export interface Author {
  name: string;
  email: string;
}

export interface Whereabouts {
  /** The directory that the attempt may change: a worktree, or the project. */
  worktree: string;
  projectRoot: string;
  stateDir: string;
  /** Null outside git. */
  repository: Pick<Repository, "toplevel" | "gitDir" | "commonDir" | "place"> | null;
  /** Directories of the project that the engine has linked into the worktree. */
  linked?: readonly string[];
  /** The program that will run in the sandbox. */
  program: string;
  /** Files that the program's arguments name. */
  files?: readonly string[];
  /** What it needs from the user's home. Absent: what Gemini CLI needs. */
  home?: readonly HomePlace[] | undefined;
  /** The user's environment, not the agent's: it says where programs and settings are. */
  env: Environment;
  /** The user's name and address from the git configuration. */
  author?: Author | null;
}

const variables = {
  // The user's own temporary directory is absent.
  TMPDIR: "/tmp",
  TMP: "/tmp",
  TEMP: "/tmp",
  // Tells Gemini CLI, and through it the model, that it runs in a sandbox, so that it does not start another one.
  SANDBOX: "bubblewrap",
  // These programs fail without a writable cache.
  GOCACHE: "/tmp/go-build",
  npm_config_cache: "/tmp/npm",
  UV_CACHE_DIR: "/tmp/uv",
};

export function cellFor(place: Whereabouts): Cell {
  const { projectRoot, stateDir, repository, env } = place;
  const worktree = realOf(place.worktree) ?? place.worktree;
  const toplevel = repository?.toplevel ?? projectRoot;
  const homes = homesOf(env);
  refuseHome(worktree, homes);
  const mounts: Mounts = new Map();
  putSystem(
    mounts,
    entriesOf("/etc").map(({ name }) => name),
  );
  // Before any mount inside a home.
  for (const path of homes) put(mounts, { kind: "empty", path, writable: false });
  for (const path of [env.HOME, projectRoot, toplevel, stateDir, place.worktree]) if (path) lead(mounts, path);
  const closed = closedPlaces(place);
  keepPrograms(mounts, { program: place.program, env, homes, closed });
  for (const path of closed) close(mounts, path);

  const vital = [...homes, worktree];
  putScratch(mounts, env, homes, worktree);
  const home = env.HOME || homes[0];
  if (place.home === undefined) keepRuntime(mounts, home, env, vital);
  else keepHome(mounts, { home, places: place.home, env }, vital);
  keepState(mounts, stateDir);
  for (const path of place.files ?? []) if (statOf(path)?.isFile()) keep(mounts, path);
  const built = keepLinked(mounts, { worktree, toplevel, linked: place.linked ?? [] }, vital);
  openWorktree(mounts, worktree);
  closeState(mounts, worktree, stateDir);
  if (place.author) putAuthor(mounts, env.HOME, place.author);
  return { mounts: simplified(mounts), variables: { ...variables, ...targetOf(built) } };
}

/** A home directory as worktree would expose all the secrets in it. */
function refuseHome(worktree: string, homes: readonly string[]): void {
  if (!containsAny(worktree, homes)) return;
  throw new MaestroError("environment", `A sandbox cannot have the home directory as its worktree: ${worktree}`, {
    hint: "Move the project to a directory of its own.",
  });
}

/** HOME and the home from the user database; outer directories first. */
function homesOf(env: Environment): string[] {
  const homes = [env.HOME, homeOfRecord()].flatMap((path) => (path && isAbsolute(path) ? (realOf(path) ?? []) : []));
  const found = [...new Set(homes)].filter((path) => path !== "/" && statOf(path)?.isDirectory());
  return found.sort(byLength);
}

/** A directory sorts before everything inside it, because its path is shorter. */
function byLength(a: string, b: string): number {
  return a.length - b.length;
}

function homeOfRecord(): string | undefined {
  try {
    return userInfo().homedir;
  } catch (error) {
    // The user has no entry in the user database, as in some containers.
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}

/** The project, its repository, its state and the worktrees of other attempts: real paths, outer directories first. */
function closedPlaces({ projectRoot, stateDir, repository, worktree }: Whereabouts): string[] {
  const pointers: string[] = [];
  for (let at = projectRoot; ; at = dirname(at)) {
    pointers.push(join(at, ".git"));
    if (at === dirname(at)) break;
  }
  const places = repository === null ? [] : [repository.toplevel, repository.gitDir, repository.commonDir];
  const caches = repository === null ? [] : [repository.place];
  const found = [projectRoot, stateDir, ...places, ...caches, ...pointers].flatMap((path) => realOf(path) ?? []);
  const own = realOf(worktree);
  return [...new Set(found)].filter((path) => path !== own && path !== "/").sort(byLength);
}

/** Hides a path. Inside a writable directory it becomes an empty read-only one, because files written there would be lost silently. */
function close(mounts: Mounts, path: string): void {
  const outer = around(mounts, path);
  const isWritten = outer.kind === "empty" && outer.writable && statOf(path)?.isDirectory();
  if (isWritten) put(mounts, { kind: "empty", path, writable: false });
  else cover(mounts, path);
}

/** Private directories of the sandbox: for caches, and in place of the runtime directory with the sockets of the user's session. */
function putScratch(mounts: Mounts, env: Environment, homes: readonly string[], worktree: string): void {
  const home = env.HOME ? realOf(env.HOME) : homes[0];
  const cache = env.XDG_CACHE_HOME || join(home ?? "", ".cache");
  const place = isAbsolute(cache) ? (lead(mounts, cache) ?? cache) : "/";
  if (isAbsent(mounts, place) && !containsAny(place, homes))
    put(mounts, { kind: "empty", path: place, writable: true });
  const session = env.XDG_RUNTIME_DIR ?? "";
  const real = isAbsolute(session) ? lead(mounts, session) : undefined;
  if (real !== undefined && !containsAny(real, [...homes, worktree, "/usr"])) putEmpty(mounts, real, true);
}

/** Shows the session state to hooks and the MCP server, without other sessions and without the output of other agents. */
function keepState(mounts: Mounts, stateDir: string): void {
  const path = realOf(join(stateDir, "state"));
  if (path === undefined || !isAbsent(mounts, path)) return;
  put(mounts, { kind: "machine", path, writable: false });
  cover(mounts, join(path, "archive"));
}

function openWorktree(mounts: Mounts, path: string): void {
  put(mounts, { kind: "machine", path, writable: true });
  const pointer = join(path, ".git");
  // If an agent replaced it with a link, the link's target is not visible.
  if (realOf(pointer) === pointer) cover(mounts, pointer);
}

/** Keeps the state read-only when it is inside the writable worktree: only processes outside write it. */
function closeState(mounts: Mounts, worktree: string, stateDir: string): void {
  const path = realOf(stateDir);
  if (path === undefined || !contains(worktree, path) || mounts.has(path)) return;
  put(mounts, { kind: "machine", path, writable: false });
}

/** Writes only name and address, because the user's own .gitconfig may contain passwords. */
function putAuthor(mounts: Mounts, home: string | undefined, { name, email }: Author): void {
  const real = home && isAbsolute(home) ? realOf(home) : undefined;
  const path = join(real ?? "", ".gitconfig");
  if (real === undefined || !isAbsent(mounts, path)) return;
  const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&").replace(/[\0-\x1f\x7f]/g, " ")}"`;
  put(mounts, { kind: "text", path, text: `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n` });
}

/** cargo writes to its build directory, which belongs to the project, so it gets a different one. */
function targetOf(built: readonly string[]): Record<string, string> {
  return built.length === 0 ? {} : { CARGO_TARGET_DIR: "/tmp/cargo-target" };
}
