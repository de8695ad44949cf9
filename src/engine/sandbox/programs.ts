// Mounts the directories that the programs on the PATH and the runtime need: toolchains by a table, every other PATH entry by one rule. A
// home or a repository does not become readable because it contains programs.

import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../../setting-layers.ts";
import {
  contains,
  containsAny,
  cover,
  entriesOf,
  isAbsent,
  isInAny,
  keep,
  keepExcept,
  lead,
  linkAt,
  type Mounts,
  realOf,
  statOf,
} from "./mounts.ts";
import { tokenFiles } from "./system.ts";
import { packageAreas, toolchainPaths, toolchainTokens } from "./toolchains.ts";

export interface ProgramPlaces {
  /** The program that will run in the sandbox. */
  program: string;
  env: Environment;
  homes: readonly string[];
  /** Directories that are not mounted even if they contain programs: the project, its repository, its state. */
  closed: readonly string[];
}

/** Directories that are never mounted because of a program in them. */
const notPrograms = ["/etc", "/proc", "/sys", "/dev", "/root", "/boot"];
/** Where Homebrew is installed on Linux: below the home of a user made only for it. */
const LINUXBREW = "/home/linuxbrew";
/** Debian selects between alternative programs with links here. */
const ALTERNATIVES = "/etc/alternatives/";
/** Above this number of mounts, links to programs are not followed. */
const MAX_MOUNTS = 250;

export function keepPrograms(mounts: Mounts, places: ProgramPlaces): void {
  const { program, env, homes } = places;
  const shared = [...homes, LINUXBREW];
  for (const path of toolchainPaths(shared, env)) {
    const real = realOf(path);
    if (real !== undefined && isMountable(places, real)) keep(mounts, path);
  }
  for (const path of toolchainTokens(shared).flatMap(matches)) cover(mounts, path);
  keepProgram(mounts, places, program);
  const directories = new Set<string>();
  for (const path of (env.PATH ?? "").split(delimiter).filter((one) => isAbsolute(one))) {
    const real = realOf(path);
    if (real === undefined || !isMountable(places, real) || isInAny(places.closed, real)) continue;
    lead(mounts, path);
    directories.add(real);
  }
  for (const real of directories) keepDirectory(mounts, places, real);
}

function keepDirectory(mounts: Mounts, places: ProgramPlaces, real: string): void {
  const prefix = dirname(real);
  if (/^(?:s?bin|shims)$/.test(basename(real)) && isInstallation(places, prefix)) openPrefix(mounts, prefix);
  if (isOpen(mounts, real)) keepPackage(mounts, places, real);
  if (isOpen(mounts, real)) keepExcept(mounts, real, isPersonal);
  for (const target of linkTargets(mounts, real)) keepTarget(mounts, places, target);
}

/** Whether no mount concerns the directory yet. Where the table lists parts of a directory, only these are mounted. */
function isOpen(mounts: Mounts, directory: string): boolean {
  return isAbsent(mounts, directory) && ![...mounts.keys()].some((path) => contains(directory, path));
}

/** The final targets of the links in a program directory that are not mounted yet. */
function linkTargets(mounts: Mounts, directory: string): string[] {
  return linksOf(directory).flatMap(({ path, next }) => (isAbsent(mounts, next) ? (realOf(path) ?? []) : []));
}

interface ProgramLink {
  path: string;
  next: string;
}

/** Cached per directory until it changes: /usr/bin has hundreds of links, and every attempt needs them. */
const known = new Map<string, { changed: number; links: ProgramLink[] }>();

function linksOf(directory: string): ProgramLink[] {
  const changed = statOf(directory)?.mtimeMs ?? 0;
  const found = known.get(directory);
  if (found?.changed === changed) return found.links;
  const links = entriesOf(directory).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isSymbolicLink() ? [{ path, next: followed(followed(path, ""), ALTERNATIVES) }] : [];
  });
  known.set(directory, { changed, links });
  return links;
}

/** Follows one link, if the path starts with `start`. */
function followed(path: string, start: string): string {
  return path.startsWith(start) ? resolve(dirname(path), linkAt(path) ?? path) : path;
}

function keepTarget(mounts: Mounts, places: ProgramPlaces, target: string): void {
  if (mounts.size > MAX_MOUNTS || !isAbsent(mounts, target)) return;
  if (!isMountable(places, target) || isInAny(places.closed, target)) return;
  if (!keepPackage(mounts, places, target) && statOf(target)?.isFile()) keep(mounts, target);
}

/** Mounts the package that a program belongs to, if its directory can be determined. */
function keepPackage(mounts: Mounts, places: ProgramPlaces, path: string): boolean {
  const modules = /^.*?\/node_modules(?=\/)/.exec(path)?.[0];
  if (modules !== undefined) {
    keep(mounts, modules);
    cover(mounts, join(modules, ".cache"));
    return true;
  }
  const areas = [...packageAreas(places.homes, places.env), "/opt"].map((one) => realOf(one) ?? one);
  const area = areas.find((one) => contains(one, dirname(path)));
  const found = area === undefined ? undefined : join(area, path.slice(area.length + 1).split("/")[0] ?? "");
  if (found !== undefined && isMountable(places, found) && !containsAny(found, places.closed)) {
    keepExcept(mounts, found, isPersonal);
    return true;
  }
  const prefix = dirname(dirname(path));
  if (!/^s?bin$/.test(basename(dirname(path))) || !isInstallation(places, prefix)) return false;
  openPrefix(mounts, prefix);
  return true;
}

/** Mounts the runtime with its package, even when that is a git checkout. */
function keepProgram(mounts: Mounts, places: ProgramPlaces, program: string): void {
  const real = isAbsolute(program) ? lead(mounts, program) : undefined;
  if (real === undefined || !isAbsent(mounts, real) || keepPackage(mounts, places, real)) return;
  const isFit = (path: string) =>
    isMountable(places, path) && !containsAny(path, places.closed) && isOpen(mounts, path);
  const found = packagesOf(real).find(isFit);
  if (found === undefined) keep(mounts, real);
  else keepExcept(mounts, found, isPersonal);
}

/** The nearest directory with a package.json or directly below lib; otherwise the program's prefix, or its own directory. */
function packagesOf(program: string): string[] {
  for (let at = dirname(program); at !== dirname(at); at = dirname(at)) {
    if (statOf(join(at, "package.json"))?.isFile() || /^lib(?:exec)?$/.test(basename(dirname(at)))) return [at];
  }
  const directory = dirname(program);
  return /^(?:\.?s?bin|shims)$/.test(basename(directory)) ? [dirname(directory), directory] : [];
}

/** Existing paths that match a pattern with one star, which stands for a name. */
function matches(pattern: string): string[] {
  const [before = "", after = ""] = pattern.split("*");
  return entriesOf(before).flatMap(({ name }) => realOf(before + name + after) ?? []);
}

/** False for directories that by their location hold more than programs. */
function isMountable({ homes }: ProgramPlaces, path: string): boolean {
  const personal = homes.flatMap((home) => [home, ...[".local", ".config", ".cache"].map((name) => join(home, name))]);
  const isTop = dirname(path) === "/" || path === "/";
  return (
    !isTop &&
    !containsAny(path, personal) &&
    !isInAny(
      notPrograms.filter((one) => !homes.includes(one)),
      path,
    )
  );
}

/** Whether the directory looks like an installation prefix, and not like a repository, where `bin` and `lib` are sources. */
function isInstallation(places: ProgramPlaces, prefix: string): boolean {
  if (!isMountable(places, prefix) || containsAny(prefix, places.closed)) return false;
  const names = new Set(entriesOf(prefix).map(({ name }) => name));
  return !names.has(".git") && ["lib", "lib64", "libexec", "share", "include"].some((name) => names.has(name));
}

function openPrefix(mounts: Mounts, prefix: string): void {
  if (isOpen(mounts, prefix)) keepExcept(mounts, prefix, isPersonal);
  for (const name of tokenFiles) cover(mounts, join(prefix, name));
}

/** In a program directory: settings, repositories and `.env` start with a dot; `var` is data. */
function isPersonal(name: string): boolean {
  return name.startsWith(".") || name === "var";
}
