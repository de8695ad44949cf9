// Directories that must not be removed recursively: the system, home directories, the project itself and its surroundings.

import type { Machine } from "../machine.ts";
import { baseName, isInside, normal, parentOf, pathSegments } from "../paths.ts";
import { inMemory, isHome, isOfSystemTree, isProject, isSystemTop } from "../project.ts";
import { canBe, isKnown, knownPart, STAR } from "../shell/shape.ts";

/** What the directory is, if it must stay; undefined if it may be removed. `path` is absolute and may contain patterns. */
export function placeThatStays(path: string, machine: Machine): string | undefined {
  const name = baseName(path);
  if (isBroad(name)) return placeThatStays(parentOf(path), machine);
  const project = normal(machine.projectRoot);
  if (path === "/") return "the whole file system";
  if (path === project) return "the working tree itself";
  if (isInside(project, path)) return "a directory above the project";
  if (isProject(project, machine) && isInside(path, project)) {
    return partOfProject(path.slice(project.length + 1), machine, path);
  }
  const mayBeRemoved = isTemporary(path, machine) && !isInOwnHome(path, machine);
  return temporary(path, machine) ?? (mayBeRemoved ? undefined : elsewhere(path, machine, project));
}

/** Whether the path itself, not something below it, is the root, a top-level directory, a home, the project or its repository. */
export function isVital(path: string, machine: Machine): boolean {
  const project = normal(machine.projectRoot);
  return (
    pathSegments(path).length < 2 || isInside(project, path) || isHome(path, machine) || path === `${project}/.git`
  );
}

/** `*`, `.*`, `?*`, `**`: a pattern that matches every name. */
function isBroad(name: string): boolean {
  return /[\uE002\uE003]/.test(name) && !/[\p{L}\p{N}\uE000\uE001\uE005]/u.test(name);
}

const vitalForGit = new Set(["objects", "refs", "hooks", "logs", "info", "config", "HEAD", "packed-refs", "index"]);

function partOfProject(inside: string, machine: Machine, path: string): string | undefined {
  const [first = "", second] = pathSegments(inside);
  const isGit =
    first.toLowerCase() === ".git" || (!first.startsWith(STAR) && knownPart(first) !== "" && canBe(first, ".git"));
  if (isGit && (second === undefined || vitalForGit.has(second))) return "the repository's own data";
  const state = normal(machine.stateDir);
  if (isInside(state, path)) return "the session's state";
  return first === ".gemini" && second === undefined ? "the project's Gemini settings" : undefined;
}

/** The longest first, because one may be inside another. */
export function temporaryRoots(machine: Machine): string[] {
  const usual = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", normal(machine.tmpdir || "/tmp")];
  return [...new Set(usual)].sort((one, other) => other.length - one.length);
}

function temporary(path: string, machine: Machine): string | undefined {
  return temporaryRoots(machine).includes(path) ? "the shared temporary directory" : undefined;
}

function isTemporary(path: string, machine: Machine): boolean {
  return temporaryRoots(machine).some((root) => isInside(path, root));
}

/** A temporary file outside the project, which the agent must have created itself. */
export function isScratch(path: string, machine: Machine): boolean {
  const project = normal(machine.projectRoot);
  const real = isKnown(path) ? (machine.realpath?.(path) ?? machine.through?.(path) ?? path) : path;
  const isAround = [path, real].some((place) => isInside(project, place) || isInside(place, project));
  return (
    !isAround && isTemporary(path, machine) && !isInOwnHome(path, machine) && !temporaryRoots(machine).includes(path)
  );
}

/** Home directories of tests and CI may be below the temporary directory, and count as home directories. */
function isInOwnHome(path: string, { home }: Machine): boolean {
  return home !== undefined && (isInside(path, normal(home)) || isInside(normal(home), path));
}

function elsewhere(path: string, machine: Machine, project: string): string | undefined {
  const home = normal(machine.home || "/root");
  if (isInside(home, path)) return "the home directory";
  if (isInside(normal(machine.stateDir), path)) return "the session's state";
  if (machine.extensionRoot !== undefined && isInside(normal(machine.extensionRoot), path)) return "the extension";
  if (pathSegments(path).length < 2) return "a system directory";
  if (baseName(path) === ".git") return "a repository's own data";
  return partOfHome(path, home) ?? (isSystem(path) ? "a system directory" : undefined) ?? beside(path, project);
}

const cacheInHome =
  /^(?:\.cache|\.npm|\.yarn|\.pnpm-store|\.bun|\.deno|\.gradle|\.m2|\.ivy2|\.nuget|\.cargo|\.rustup|\.node-gyp|\.expo|\.cocoapods|\.parcel-cache|\.nvm|\.pyenv|\.rbenv|\.terraform\.d|node_modules|tmp|temp)$/;

function partOfHome(path: string, home: string): string | undefined {
  const common = /^\/(?:root|(?:home|Users)\/[^/]+)(?=\/|$)/.exec(path)?.[0];
  const root = isInside(path, home) ? home : common;
  if (root === undefined) return undefined;
  const [first, second] = pathSegments(path.slice(root.length));
  if (first === undefined) return "a user's home directory";
  if (/^\.(?:ssh|gnupg|aws|kube|password-store)$/.test(first)) return "keys and credentials";
  return second === undefined && !cacheInHome.test(first) && !isBuild(first)
    ? "a main part of the home directory"
    : undefined;
}

const systemParts =
  /^(?:usr\/local\/(?:bin|sbin|lib|share|include|etc)|usr\/(?:bin|sbin|lib|share)\/[^/]+|var\/(?:lib|log)\/[^/]+)$/;
const oftenEmptied = /^var\/(?:lib\/apt\/lists|cache\/.+)(?:\/|$)/;

export function isSystem(path: string): boolean {
  const segments = pathSegments(path);
  const [first = ""] = segments;
  const plain = segments.join("/");
  if (oftenEmptied.test(plain) || inMemory.test(path)) return false;
  const isTop = segments.length === 1 ? isTopLevel(first) : segments.length === 2 && isSystemTop(first);
  return isOfSystemTree(first) || isTop || systemParts.test(plain);
}

function isTopLevel(name: string): boolean {
  return isSystemTop(name) || name === "opt" || name === "root" || name === "srv";
}

/** Most likely another project. */
function beside(path: string, project: string): string | undefined {
  return isInside(project, parentOf(path)) && !isBuild(baseName(path)) ? "a directory beside the project" : undefined;
}

const buildNames = new Set(
  "node_modules dist build out output coverage target bin obj vendor venv .venv tmp temp .tmp logs log cache .cache .next .nuxt .turbo .parcel-cache .vite .svelte-kit .output .nyc_output .pytest_cache .mypy_cache .ruff_cache .tox .gradle .terraform .dart_tool __pycache__ _build test-results playwright-report storybook-static".split(
    " ",
  ),
);

function isBuild(name: string): boolean {
  return buildNames.has(name) || /^(?:build|dist|out|cmake-build)[-_.]/.test(name);
}
