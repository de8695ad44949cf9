// What an attempt in a sandbox finds: a list of what is there, and nothing else. The system and the programs read-only, its worktree, the
// dependencies it shares, the runtime's own settings. Looks at the disk and changes nothing.

import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { errno, MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import type { Environment } from "../../setting-layers.ts";
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
  /** What will be run. */
  program: string;
  /** Files that the program is told of by its arguments. */
  files?: readonly string[];
  /** The user's own variables, not the agent's: they tell where programs and settings are. */
  env: Environment;
  /** The user as git knows them. */
  author?: Author | null;
}

const variables = {
  // What the user has there is absent.
  TMPDIR: "/tmp",
  TMP: "/tmp",
  TEMP: "/tmp",
  // Tells Gemini CLI, and through it the model, where it is; it does not start a sandbox of its own then.
  SANDBOX: "bubblewrap",
  // They refuse to work without a cache that they can write to.
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
  // Before anything that may contain one.
  for (const path of homes) put(mounts, { kind: "empty", path, writable: false });
  for (const path of [env.HOME, projectRoot, toplevel, stateDir, place.worktree]) if (path) lead(mounts, path);
  const closed = closedPlaces(place);
  keepPrograms(mounts, { program: place.program, env, homes, closed });
  for (const path of closed) close(mounts, path);

  const vital = [...homes, worktree];
  putScratch(mounts, env, homes, worktree);
  keepRuntime(mounts, env.HOME || homes[0], env, vital);
  keepState(mounts, stateDir);
  for (const path of place.files ?? []) if (statOf(path)?.isFile()) keep(mounts, path);
  const built = keepLinked(mounts, { worktree, toplevel, linked: place.linked ?? [] }, vital);
  openWorktree(mounts, worktree);
  closeState(mounts, worktree, stateDir);
  if (place.author) putAuthor(mounts, env.HOME, place.author);
  return { mounts: simplified(mounts), variables: { ...variables, ...targetOf(built) } };
}

/** A list of what is there cannot leave out what is secret in it. */
function refuseHome(worktree: string, homes: readonly string[]): void {
  if (!containsAny(worktree, homes)) return;
  throw new MaestroError("environment", `A sandbox cannot have the home directory as its worktree: ${worktree}`, {
    hint: "Move the project to a directory of its own.",
  });
}

/** HOME, and what the user database says; outer ones first. */
function homesOf(env: Environment): string[] {
  const homes = [env.HOME, homeOfRecord()].flatMap((path) => (path && isAbsolute(path) ? (realOf(path) ?? []) : []));
  const found = [...new Set(homes)].filter((path) => path !== "/" && statOf(path)?.isDirectory());
  return found.sort(byLength);
}

/** What contains something is shorter. */
function byLength(a: string, b: string): number {
  return a.length - b.length;
}

function homeOfRecord(): string | undefined {
  try {
    return userInfo().homedir;
  } catch (error) {
    // A user without an entry, as containers have them.
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}

/** The project, its repository, its state and the worktrees of other attempts; real paths, outer ones first. */
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

/** Also where a process inside may write: what it wrote to the project there would be lost without a word. */
function close(mounts: Mounts, path: string): void {
  const outer = around(mounts, path);
  const isWritten = outer.kind === "empty" && outer.writable && statOf(path)?.isDirectory();
  if (isWritten) put(mounts, { kind: "empty", path, writable: false });
  else cover(mounts, path);
}

/** Directories that are the sandbox's own: for caches, and in place of the one with the sockets of the session. */
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

/** Hooks and the MCP server read the session; nothing of other sessions, and no output of other agents. */
function keepState(mounts: Mounts, stateDir: string): void {
  const path = realOf(join(stateDir, "state"));
  if (path === undefined || !isAbsent(mounts, path)) return;
  put(mounts, { kind: "machine", path, writable: false });
  cover(mounts, join(path, "archive"));
}

function openWorktree(mounts: Mounts, path: string): void {
  put(mounts, { kind: "machine", path, writable: true });
  const pointer = join(path, ".git");
  // If an agent made it a link, it leads nowhere that can be seen.
  if (realOf(pointer) === pointer) cover(mounts, pointer);
}

/** The record is written by processes outside, also when it lies in a directory that may be changed. */
function closeState(mounts: Mounts, worktree: string, stateDir: string): void {
  const path = realOf(stateDir);
  if (path === undefined || !contains(worktree, path) || mounts.has(path)) return;
  put(mounts, { kind: "machine", path, writable: false });
}

/** Name and address and nothing else: what the user's file holds besides may be a password. */
function putAuthor(mounts: Mounts, home: string | undefined, { name, email }: Author): void {
  const real = home && isAbsolute(home) ? realOf(home) : undefined;
  const path = join(real ?? "", ".gitconfig");
  if (real === undefined || !isAbsent(mounts, path)) return;
  const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&").replace(/[\0-\x1f\x7f]/g, " ")}"`;
  put(mounts, { kind: "text", path, text: `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n` });
}

/** cargo writes to its build directory, which is the project's: it gets another one. */
function targetOf(built: readonly string[]): Record<string, string> {
  return built.length === 0 ? {} : { CARGO_TARGET_DIR: "/tmp/cargo-target" };
}
