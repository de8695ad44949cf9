// Mounts the dependencies that a worktree shares with its project through links, at their original paths. Only links that the engine made
// count: a link made by an agent or contained in the repository exposes nothing.

import { basename, dirname, join, relative } from "node:path";
import {
  contains,
  containsAny,
  cover,
  entriesOf,
  isAbsent,
  isInAny,
  keep,
  linkAt,
  type Mounts,
  put,
  putEmpty,
  realOf,
  statOf,
} from "./mounts.ts";
import { tokenFiles } from "./system.ts";

export interface Sharing {
  /** The top of the worktree, and the top of the repository it was made from. */
  worktree: string;
  toplevel: string;
  /** Directories of the project that the engine has linked into the worktree. */
  linked: readonly string[];
}

/** Caches in node_modules: some programs do not start if they cannot write there. */
const BUILD_CACHES = [".cache", ".vite", ".vite-temp"];
/** bubblewrap accepts 9,000 arguments; a link takes three. */
const MAX_LINKS = 1500;

/** Returns the linked directories that cannot be shared because programs write to them: build directories of Rust. */
export function keepLinked(mounts: Mounts, sharing: Sharing, vital: readonly string[]): string[] {
  const { worktree, toplevel } = sharing;
  // Skip links that an agent has replaced.
  const current = sharing.linked.filter((path) => linkAt(join(worktree, relative(toplevel, path))) === path);
  const [built, shared] = [current.filter(isBuilt), current.filter((path) => !isBuilt(path))];
  for (const path of shared) {
    const real = realOf(path);
    // The directory must still be inside the project, and not replaced by a link to somewhere else.
    if (real === undefined || !contains(realOf(toplevel) ?? toplevel, real) || containsAny(real, vital)) continue;
    keep(mounts, path);
    for (const name of tokenFiles) cover(mounts, join(real, name));
    if (basename(path) !== "node_modules") continue;
    for (const name of BUILD_CACHES) putEmpty(mounts, join(real, name), true);
  }
  const budget = { links: MAX_LINKS };
  for (const path of shared) leadPackages(mounts, { ...sharing, linked: shared }, path, budget);
  return built;
}

function isBuilt(path: string): boolean {
  return basename(path) === "target";
}

/** Workspace packages are links from node_modules into the project; inside the sandbox they point into the worktree instead. */
function leadPackages(mounts: Mounts, sharing: Sharing, modules: string, budget: { links: number }): void {
  if (basename(modules) !== "node_modules") return;
  const { worktree, toplevel, linked } = sharing;
  for (const link of linksIn(modules)) {
    const target = realOf(link);
    if (target === undefined || !contains(toplevel, target) || isInAny(linked, target)) continue;
    const twin = join(worktree, relative(toplevel, target));
    if (realOf(twin) === twin && isAbsent(mounts, target)) mirror(mounts, { target, twin, linked }, budget);
  }
}

/** The links of a node_modules directory and of the scopes in it. */
function linksIn(modules: string): string[] {
  return entriesOf(modules).flatMap((entry) => {
    const path = join(modules, entry.name);
    if (entry.isSymbolicLink()) return [path];
    if (!entry.name.startsWith("@")) return [];
    return entriesOf(path).flatMap((inner) => (inner.isSymbolicLink() ? [join(path, inner.name)] : []));
  });
}

interface Mirrored {
  target: string;
  twin: string;
  linked: readonly string[];
}

/** Creates one link for the whole directory, or one per entry when dependencies are mounted inside it. */
function mirror(mounts: Mounts, { target, twin, linked }: Mirrored, budget: { links: number }): void {
  if (budget.links <= 0 || linked.includes(target)) return;
  if (!containsAny(target, linked)) {
    budget.links -= 1;
    put(mounts, { kind: "link", path: target, target: twin });
    return;
  }
  if (dirname(target) === target || !statOf(twin)?.isDirectory()) return;
  for (const { name } of entriesOf(twin)) {
    const inner = { target: join(target, name), twin: join(twin, name), linked };
    if (name !== ".git") mirror(mounts, inner, budget);
  }
}
