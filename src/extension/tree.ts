// Reads the extension's own files by their path below its directory. Only reads, and never a project.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errno, MaestroError, reasonOf } from "../errors.ts";

/** The text of a file; undefined when it does not exist. */
export function readText(root: string, path: string): string | undefined {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errno(error) ?? "")) return undefined;
    throw unreadable(path, error);
  }
}

/** Every file below `folder`, with `/` between names, sorted; empty when the folder does not exist. */
export function listFiles(root: string, folder: string): string[] {
  return entries(root, folder).flatMap(({ name, isFolder }) =>
    isFolder ? listFiles(root, `${folder}/${name}`) : [`${folder}/${name}`],
  );
}

export function listFolders(root: string, folder: string): string[] {
  return entries(root, folder).flatMap(({ name, isFolder }) => (isFolder ? [name] : []));
}

export function exists(root: string, path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
}

function entries(root: string, folder: string): { name: string; isFolder: boolean }[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true })
      .filter(({ name }) => name !== "node_modules")
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errno(error) ?? "")) return [];
    throw unreadable(folder, error);
  }
}

function unreadable(path: string, error: unknown): MaestroError {
  return new MaestroError("environment", `Cannot read ${path} of the extension: ${reasonOf(error)}`, { cause: error });
}
