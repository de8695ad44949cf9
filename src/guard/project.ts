// Which directories can be a project. Small, with lists as strings, because a hook needs it in its first milliseconds.

import type { Machine } from "./machine.ts";
import { normal, pathSegments } from "./paths.ts";

/** Directories that users make in memory, below a system directory. */
export const inMemory = /^\/dev\/shm\//;

/** Directories that belong to the system as a whole, and directories whose first level does. */
const systemTree = "bin boot dev etc lib lib32 lib64 libx32 proc sbin sys System Windows";
const systemTop = "usr var run Library Applications snap private Volumes mnt media home Users";

export function isOfSystemTree(name: string): boolean {
  return systemTree.split(" ").includes(name);
}

export function isSystemTop(name: string): boolean {
  return systemTop.split(" ").includes(name);
}

/** An agent may be started in a home directory, or at the root of a container: the files there are not the agent's to remove. */
export function isProject(directory: string, machine: Machine): boolean {
  const [first = "", second] = pathSegments(directory);
  if (first === "" || (isOfSystemTree(first) && !inMemory.test(directory))) return false;
  return !(second === undefined && isSystemTop(first)) && !isHome(directory, machine);
}

export function isHome(path: string, machine: Machine): boolean {
  return path === normal(machine.home || "/root") || /^\/(?:root|(?:home|Users)\/[^/]+)$/.test(path);
}
