// The dependencies that a worktree shares with its project by links: readable where they lie. Only what the engine has linked: a link that an
// agent made, or that a repository brought along, opens nothing.

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
  /** The top of the worktree, and what it stands for. */
  worktree: string;
  toplevel: string;
  /** Directories of the project that the engine has linked. */
  linked: readonly string[];
}

/** In node_modules: programs that cannot write there do not start. */
const BUILD_CACHES = [".cache", ".vite", ".vite-temp"];
/** bubblewrap takes 9,000 words; a link is three. */
const MAX_LINKS = 1500;

/** Returns those that are linked now and cannot be shared, because their program writes to them: the build directories of Rust. */
export function keepLinked(mounts: Mounts, sharing: Sharing, vital: readonly string[]): string[] {
  const { worktree, toplevel } = sharing;
  // What an agent has replaced since is its own.
  const current = sharing.linked.filter((path) => linkAt(join(worktree, relative(toplevel, path))) === path);
  const [built, shared] = [current.filter(isBuilt), current.filter((path) => !isBuilt(path))];
  for (const path of shared) {
    const real = realOf(path);
    // A directory of the project, not what was put in its place since.
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

/** Packages of a workspace are links out of node_modules into the project: for a process inside they lead into the worktree. */
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

/** One link for all of it, or one for each entry where dependencies are mounted among them. */
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
