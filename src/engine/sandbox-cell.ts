// What an attempt in a sandbox finds on its machine: all of it read-only, its worktree as it is, and neither git directories nor secrets
// nor the worktrees of others. Looks at the disk and changes nothing: only what is there can be covered, and nothing is made to cover it.

import { readlinkSync, type Stats } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { errno } from "../errors.ts";
import type { Repository } from "../git/repository.ts";
import type { Environment } from "../setting-layers.ts";
import type { Cell } from "./sandbox.ts";
import {
  around,
  byLength,
  contains,
  containsAny,
  cover,
  entriesOf,
  isPlain,
  isReadable,
  keep,
  type Mounts,
  put,
  putEmpty,
  realOf,
  statOf,
} from "./sandbox-mounts.ts";
import { secretPaths } from "./sandbox-secrets.ts";

export interface Whereabouts {
  /** The directory that the attempt may change: a worktree, or the project. */
  worktree: string;
  projectRoot: string;
  stateDir: string;
  /** Null outside git. */
  repository: Pick<Repository, "toplevel" | "gitDir" | "commonDir" | "place"> | null;
  /** What will be run. */
  program: string;
  /** The user's own variables, not the agent's: they tell where secrets are. */
  env: Environment;
}

/**
 * Directories with more in them are not put together from their entries, and what is hidden there is covered: each entry is a mount, and
 * mounts cost more the more there are.
 */
const MAX_ENTRIES = 400;

/** Temporary files, and the sockets of agents and displays that lie among them. */
const TEMPORARY = ["/tmp", "/var/tmp"];
/** Sockets that rule the machine (containers, services, keys of the session), secrets of containers. */
const RUNNING = ["/run", "/var/run"];
/** Of those what a program needs: the names of other machines, and on some systems all programs. */
const NEEDED = [
  ...["/etc/resolv.conf", "/etc/hosts", "/etc/localtime", "/etc/nsswitch.conf"],
  ...["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/nscd"],
  ...["/run/current-system", "/run/booted-system"],
];

/** Files that Gemini CLI and what it is written in are told of by a variable. */
const NAMED = [
  ...["GOOGLE_APPLICATION_CREDENTIALS", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"],
];

/** In ~/.gemini: what the CLI keeps of its conversations. Each attempt begins without. */
const CONVERSATIONS: ReadonlySet<string> = new Set(["tmp", "history", "projects.json"]);

/** In a project's node_modules, which worktrees share: programs that cannot write there do not start. */
const BUILD_CACHES = [".cache", ".vite", ".vite-temp"];

const variables = {
  // What the user has there is read-only now.
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
  const { projectRoot, stateDir, repository, program, env } = place;
  const worktree = realOf(place.worktree) ?? place.worktree;
  const mounts: Mounts = new Map();
  put(mounts, { kind: "machine", path: "/", writable: false });
  for (const path of TEMPORARY) putEmpty(mounts, path, true);
  for (const path of RUNNING) putEmpty(mounts, path, false);

  const homes = homesOf(env);
  const vital = [...homes, worktree, realOf(projectRoot) ?? projectRoot];
  const runtime = env.XDG_RUNTIME_DIR ? realOf(env.XDG_RUNTIME_DIR) : undefined;
  if (runtime !== undefined && !containsAny(runtime, vital)) putEmpty(mounts, runtime, true);

  const hidden = hiddenOf(homes, vital, env);
  for (const directory of [...homes, ...directoriesOfFiles(hidden, homes)]) {
    if (!contains(worktree, directory)) compose(mounts, directory, hidden, homes.includes(directory));
  }
  // Where HOME leads through a link, it does so inside as well.
  for (const path of [env.HOME, projectRoot, stateDir, repository?.toplevel]) if (path) keep(mounts, path);
  const covered = [...hidden.keys(), ...gitPlaces(place), ...projectSecrets(place)].filter(
    (path) => realOf(path) === path,
  );
  for (const path of covered.sort(byLength)) cover(mounts, path);

  furnishGemini(mounts, env.GEMINI_CLI_HOME || env.HOME || homes[0]);
  for (const path of [...NEEDED, ...namedFiles(env)]) keep(mounts, path);
  keepPrograms(mounts, program, env);
  for (const name of BUILD_CACHES) putEmpty(mounts, join(projectRoot, "node_modules", name), true);
  keep(mounts, place.worktree);
  openWorktree(mounts, worktree);
  closeState(mounts, worktree, stateDir);
  return { mounts: [...mounts.values()], variables };
}

/**
 * Puts a directory together from its entries without those that are hidden. A mount over a file would not do: when somebody outside replaces
 * the file, as a shell does with its history and git with its passwords, the mount is gone and the new file is there for all to see.
 */
function compose(mounts: Mounts, directory: string, hidden: ReadonlyMap<string, Stats>, isHome: boolean): void {
  const entries = entriesOf(directory).filter(
    // What lies loose in a home directory is nobody's business, and may be a great deal.
    (entry) => !hidden.has(join(directory, entry.name)) && !(isHome && entry.isFile() && !entry.name.startsWith(".")),
  );
  if (entries.length > MAX_ENTRIES) return;
  put(mounts, { kind: "empty", path: directory, writable: false });
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink()) put(mounts, { kind: "link", path, target: readlinkSync(path) });
    else if (isPlain(statOf(path)) && !mounts.has(path)) put(mounts, { kind: "machine", path, writable: false });
  }
}

/** HOME, and what the user database says, which is where ssh looks; outer ones first. */
function homesOf(env: Environment): string[] {
  const homes = [env.HOME, homeOfRecord()].flatMap((path) => (path && isAbsolute(path) ? (realOf(path) ?? []) : []));
  return [...new Set(homes)].filter((path) => statOf(path)?.isDirectory()).sort(byLength);
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

/** Secrets that exist, by the names they are found under and by their real ones. */
function hiddenOf(homes: readonly string[], vital: readonly string[], env: Environment): Map<string, Stats> {
  const kept = new Set(namedFiles(env).map(realOf));
  const hidden = new Map<string, Stats>();
  for (const path of new Set(homes.flatMap((home) => secretPaths(home, env)))) {
    const real = realOf(path);
    const stat = real === undefined ? undefined : statOf(real);
    if (real === undefined || stat === undefined || kept.has(real)) continue;
    // A variable may name anything: /dev/null, or the home directory itself.
    if (!(isPlain(stat) || stat.isSocket()) || containsAny(real, vital)) continue;
    hidden.set(path, stat).set(real, stat);
  }
  return hidden;
}

function directoriesOfFiles(hidden: ReadonlyMap<string, Stats>, homes: readonly string[]): string[] {
  const files = [...hidden].filter(([, stat]) => !stat.isDirectory()).map(([path]) => dirname(path));
  return files.filter((path) => realOf(path) === path && homes.some((home) => contains(home, path)));
}

/** Where the repository is, and where all worktrees are. A pointer to a repository is one too. */
function gitPlaces({ projectRoot, repository }: Whereabouts): string[] {
  const pointers: string[] = [];
  for (let at = projectRoot; ; at = dirname(at)) {
    pointers.push(join(at, ".git"));
    if (at === dirname(at)) break;
  }
  if (repository === null) return pointers.flatMap((path) => realOf(path) ?? []);
  const { gitDir, commonDir, place } = repository;
  const cache = contains(dirname(place), projectRoot) ? place : dirname(place);
  return [gitDir, commonDir, cache, ...pointers].flatMap((path) => realOf(path) ?? []);
}

/** Keys that lie in the project itself; the worktree has those that .maestroinclude names. */
const projectSecret = /^\.env(?!\.(?:example|sample|template)$|rc$)|\.(?:pem|key|credentials)$/;

function projectSecrets({ projectRoot, repository }: Whereabouts): string[] {
  const roots = new Set([projectRoot, repository?.toplevel ?? projectRoot]);
  return [...roots].flatMap((root) =>
    entriesOf(root)
      .filter((entry) => entry.isFile() && projectSecret.test(entry.name))
      .flatMap(({ name }) => realOf(join(root, name)) ?? []),
  );
}

/** ~/.gemini as it is, but without conversations, and in copies where the CLI writes: settings, tokens that it renews, its list of projects. */
function furnishGemini(mounts: Mounts, home: string | undefined): void {
  if (home === undefined || !isAbsolute(home)) return;
  const wanted = join(realOf(home) ?? home, ".gemini");
  const directory = realOf(wanted);
  if (directory === undefined) {
    if (around(mounts, wanted).kind === "empty") put(mounts, { kind: "empty", path: wanted, writable: true });
    return;
  }
  putEmpty(mounts, directory, true);
  for (const { name } of entriesOf(directory).filter((entry) => !CONVERSATIONS.has(entry.name))) {
    const path = join(directory, name);
    const from = realOf(path);
    const stat = from === undefined ? undefined : statOf(from);
    if (from === undefined || !isPlain(stat)) continue;
    if (stat?.isFile() && !isReadable(from)) continue;
    if (stat?.isFile()) put(mounts, { kind: "copy", path, from });
    else if (from !== path) put(mounts, { kind: "link", path, target: from });
    else put(mounts, { kind: "machine", path, writable: false });
  }
}

function namedFiles(env: Environment): string[] {
  const named = NAMED.map((name) => env[name] ?? "");
  // On Vertex AI without a key or a file that is named, the CLI signs in with what gcloud has left.
  if (env.GOOGLE_GENAI_USE_VERTEXAI === "true" && !env.GOOGLE_API_KEY && !env.GOOGLE_APPLICATION_CREDENTIALS) {
    const ofGcloud = env.CLOUDSDK_CONFIG || join(env.HOME ?? "", ".config", "gcloud");
    named.push(join(ofGcloud, "application_default_credentials.json"));
  }
  return named.filter((path) => isAbsolute(path));
}

/** Programs may lie among temporary files or, by a link that a manager of versions made, among the sockets of the session. */
function keepPrograms(mounts: Mounts, program: string, env: Environment): void {
  const isGone = (path: string) => isAbsolute(path) && around(mounts, path).kind === "empty" && !mounts.has(path);
  // A script has the rest of its package beside its directory.
  const packages = [program, realOf(program) ?? program].map((path) => dirname(dirname(path)));
  for (const path of packages) if (isGone(path)) keep(mounts, path);
  if (isGone(program)) keep(mounts, program);
  for (const path of (env.PATH ?? "").split(delimiter)) {
    const above = dirname(path);
    if (isGone(path) && isGone(above) && realOf(above) !== above) keep(mounts, above);
    if (isGone(path)) keep(mounts, path);
  }
}

function openWorktree(mounts: Mounts, path: string): void {
  put(mounts, { kind: "machine", path, writable: true });
  const pointer = join(path, ".git");
  // If an agent made it a link, it leads nowhere that can be seen.
  if (realOf(pointer) === pointer) cover(mounts, pointer);
}

/** The record is written by those outside, also when it lies in a directory that may be changed. */
function closeState(mounts: Mounts, worktree: string, stateDir: string): void {
  const path = realOf(stateDir);
  if (path === undefined || !contains(worktree, path) || mounts.has(path)) return;
  put(mounts, { kind: "machine", path, writable: false });
}
