// Finds symbolic links that lead out of the project, because a program that follows one reads or writes elsewhere. Works on trees alone and
// follows nothing on disk.

import type { ObjectId } from "../../ids.ts";
import { stripControls } from "../../text.ts";
import { fromRaw, rawNames, toProject } from "../names.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { readBlobs } from "./blobs.ts";
import { END_OF_OPTIONS, objectId } from "./object-id.ts";

export interface LinkOutside {
  /** Relative to the project. */
  path: string;
  target: string;
}

const LINK = "120000";
/** The number of links that the system follows before it gives up. */
const MAX_HOPS = 40;
const MAX_NAMED = 20;
const MAX_SHOWN = 200;

/**
 * The links in `to` that lead out of the project and did not in `from`: new ones, ones with another target, and ones that now pass through
 * another link that leads out. Both arguments are trees or commits.
 */
export async function linksOutside(repository: Repository, from: ObjectId, to: ObjectId): Promise<LinkOutside[]> {
  if (from === to || !(await hasNewLinks(repository, from, to))) return [];
  const [before, after] = [await linksOf(repository, from), await linksOf(repository, to)];
  const known = new Set(leading(before, repository.prefix).map((name) => `${name}\0${before.get(name)}`));
  return leading(after, repository.prefix)
    .filter((name) => !known.has(`${name}\0${after.get(name)}`))
    .map((name) => ({ path: toProject(repository.prefix, name), target: fromRaw(after.get(name) ?? "") }));
}

/** One line, for the user. */
export function describeLinks(links: readonly LinkOutside[]): string {
  const shown = (text: string) => stripControls(text).replace(/\s+/g, " ").slice(0, MAX_SHOWN);
  const named = links.slice(0, MAX_NAMED).map(({ path, target }) => `${shown(path)} -> ${shown(target)}`);
  const more = links.length > MAX_NAMED ? ` and ${links.length - MAX_NAMED} more` : "";
  return `Links that lead out of the project: ${named.join(", ")}${more}`;
}

/**
 * Whether a link leads out. `name` and `links` (the other links, by name) are relative to the top of the repository, the project is at
 * `prefix` ("" or "packages/api/"). Names are compared case-insensitively, as some file systems do.
 */
export function leadsOut(
  { name, target }: { name: string; target: string },
  prefix: string,
  links: (name: string) => string | undefined,
): boolean {
  const place = name.split("/").slice(0, -1);
  const left = partsOf(target);
  for (let hops = 0; left !== undefined && hops <= MAX_HOPS; ) {
    const part = left.shift();
    if (part === undefined) return isElsewhere(place, prefix);
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (place.pop() === undefined) return true;
      continue;
    }
    place.push(part);
    const next = links(place.join("/"));
    if (next === undefined) continue;
    const parts = partsOf(next);
    if (parts === undefined) return true;
    place.pop();
    left.unshift(...parts);
    hops += 1;
  }
  // Absolute (leads out), or a loop (leads nowhere).
  return left === undefined;
}

/** Undefined for a path that is absolute on any system. */
function partsOf(target: string): string[] | undefined {
  return /^(?:[/\\]|[A-Za-z]:)/.test(target) ? undefined : target.split("/");
}

function isElsewhere(place: readonly string[], prefix: string): boolean {
  const path = `${place.join("/")}/`;
  return !path.toLowerCase().startsWith(prefix.toLowerCase()) || place.some((part) => part.toLowerCase() === ".git");
}

function leading(links: ReadonlyMap<string, string>, prefix: string): string[] {
  const plain = new Map([...links].map(([name, target]) => [folded(name), target]));
  const find = (name: string) => links.get(name) ?? plain.get(folded(name));
  return [...links].filter(([name, target]) => leadsOut({ name, target }, prefix, find)).map(([name]) => name);
}

function folded(name: string): string {
  return fromRaw(name).normalize("NFC").toLowerCase();
}

async function hasNewLinks(repository: Repository, from: ObjectId, to: ObjectId): Promise<boolean> {
  const options = ["-r", "-z", "--raw", "--no-renames", "--no-ext-diff"];
  const sides = [from, to].map((id) => objectId(repository, id));
  const { stdout } = await ownGit(repository, ["diff-tree", ...options, END_OF_OPTIONS, ...sides]);
  return rawNames(stdout).some((field) => field.startsWith(":") && field.slice(8, 14) === LINK);
}

/** All links of a tree, by raw name. */
async function linksOf(repository: Repository, tree: ObjectId): Promise<Map<string, string>> {
  const { stdout } = await ownGit(repository, ["ls-tree", "-r", "-z", END_OF_OPTIONS, objectId(repository, tree)]);
  const ids = new Map<string, string>();
  for (const record of rawNames(stdout)) {
    const tab = record.indexOf("\t");
    const [mode, , id = ""] = record.slice(0, tab).split(" ");
    if (mode === LINK) ids.set(record.slice(tab + 1), id);
  }
  const targets = new Map<string, string>();
  for await (const batch of readBlobs(repository, ids.values())) {
    for (const [id, content] of batch) targets.set(id, content.toString("latin1"));
  }
  return new Map([...ids].map(([name, id]) => [name, targets.get(id) ?? ""]));
}
