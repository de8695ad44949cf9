// The worker's own clone of an exchange: a cache of what orders have in common, and the repository of its worktrees.

import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { makeDirectories } from "../../disk/make-directories.ts";
import { MaestroError } from "../../errors.ts";
import { END_OF_OPTIONS, objectId } from "../../git/objects/object-id.ts";
import { openRepository } from "../../git/open.ts";
import { theirGit } from "../../git/own-git.ts";
import type { ObjectFormat, Repository } from "../../git/repository.ts";
import { runGit } from "../../git/run.ts";
import type { CommitId } from "../../ids.ts";

/** References to orders; the newest show the exchange what the clone has. */
const ORDERS = "refs/maestro-orders";
const KEPT_ORDERS = 4;
const MAX_PACKS = 40;

/** Opens the clone, and creates it first when it is missing. `cache`: an absolute directory of the user's. */
export async function openClone(cache: string, url: string, format: ObjectFormat): Promise<Repository> {
  const key = createHash("sha256").update(`${url}\0${format}`).digest("hex").slice(0, 16);
  const path = join(cache, "exchanges", key, "project");
  makeDirectories(path, 0o700);
  if (!existsSync(join(path, ".git"))) {
    await runGit({ args: ["init", "--quiet", `--object-format=${format}`, END_OF_OPTIONS, path], cwd: path });
  }
  const opening = await openRepository(path, cache, "worker");
  if (opening.kind === "open") return opening.repository;
  throw new MaestroError("environment", `The worker's clone cannot be used: ${opening.reason}`, {
    hint: `Delete it: rm -rf "${join(cache, "exchanges", key)}"`,
  });
}

export async function knownOrders(repository: Repository): Promise<CommitId[]> {
  const listing = ["for-each-ref", "--format=%(objectname)", "--sort=-committerdate", `--count=${KEPT_ORDERS}`];
  const { stdout } = await theirGit(repository, [...listing, END_OF_OPTIONS, `${ORDERS}/`]);
  const ids = stdout
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "");
  return ids.map((id) => objectId(repository, id) as CommitId);
}

export async function keepOrder(repository: Repository, key: string, commit: CommitId): Promise<void> {
  await theirGit(repository, ["update-ref", "--no-deref", `${ORDERS}/${key}`, objectId(repository, commit)]);
}

/** Deletes what no order in work needs. `inWork`: the keys of orders that this or another worker of the user has begun. */
export async function tidyClone(repository: Repository, inWork: ReadonlySet<string>): Promise<void> {
  const listing = ["for-each-ref", "--format=%(refname)", "--sort=-committerdate"];
  const { stdout } = await theirGit(repository, [...listing, END_OF_OPTIONS, `${ORDERS}/`]);
  const old = stdout
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "")
    .slice(KEPT_ORDERS)
    .filter((ref) => !inWork.has(ref.slice(ORDERS.length + 1)));
  const input = old.map((ref) => `delete ${ref}\n`).join("");
  if (old.length > 0) await theirGit(repository, ["update-ref", "--stdin"], { input });
  const packs = join(repository.commonDir, "objects", "pack");
  const count = existsSync(packs) ? readdirSync(packs).filter((name) => name.endsWith(".pack")).length : 0;
  // What another worker has just fetched may have no reference yet, so only what is old goes.
  if (count > MAX_PACKS) {
    await theirGit(repository, ["repack", "-A", "-d", "-q", "--unpack-unreachable=1.day.ago"]);
  }
}
