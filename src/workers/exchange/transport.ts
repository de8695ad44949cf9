// Moves commits to and from the exchange with git. A fetch goes to an object directory of its own, is checked by git and has a limit; its
// content becomes part of a repository only when the caller says so.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { newTemporaryName } from "../../disk/durable.ts";
import { MaestroError } from "../../errors.ts";
import { END_OF_OPTIONS, objectId } from "../../git/objects/object-id.ts";
import { ownGit, userObjects } from "../../git/own-git.ts";
import type { Repository } from "../../git/repository.ts";
import type { CommitId } from "../../ids.ts";
import type { Exchange } from "./address.ts";

const TRANSFER_MS = 10 * 60_000;
const GIGABYTE = 1024 * 1024 * 1024;
const LOOK_MS = 100;

/** The most that one order or delivery may have: as it travels, and unpacked. */
const MAX_PACK_BYTES = GIGABYTE;
const MAX_UNPACKED_BYTES = 4 * GIGABYTE;

/** What references become: a commit creates one, null deletes it. */
export type Refs = Readonly<Record<string, CommitId | null>>;

/** Creates references, none of which may exist, and deletes others. `taken`: one that was to be created exists already. */
export async function push(repository: Repository, exchange: Exchange, refs: Refs): Promise<"done" | "taken"> {
  const { url, env } = exchange;
  const created = Object.entries(refs).flatMap(([ref, commit]) => (commit === null ? [] : [{ ref, commit }]));
  const deleted = Object.keys(refs).filter((ref) => refs[ref] === null);
  const leases = created.map(({ ref }) => `--force-with-lease=${ref}:`);
  const specs = [
    ...created.map(({ ref, commit }) => `${objectId(repository, commit)}:${ref}`),
    ...deleted.map((ref) => `:${ref}`),
  ];
  const options = ["push", "--porcelain", "--no-verify", "--recurse-submodules=no", ...leases];
  const answer = await ownGit(repository, [...options, END_OF_OPTIONS, url, ...specs], {
    env,
    codes: [0, 1, 128],
    timeoutMs: TRANSFER_MS,
  });
  if (answer.code === 0) return "done";
  const lines = answer.stdout.toString("utf8").split("\n");
  const isDone = ({ ref }: { ref: string }) =>
    lines.some((line) => /^[*=]\t/.test(line) && line.split("\t")[1]?.endsWith(`:${ref}`));
  // A reference that could not be deleted is deleted another time.
  if (created.length > 0 && created.every(isDone)) return "done";
  const names = created.map(({ ref }) => ref);
  if (names.length > 0 && (await find(repository, exchange, names)).size > 0) return "taken";
  throw (
    unusableIn("The exchange rejects the push", answer.warnings) ??
    failed("Cannot push to the exchange", answer.warnings)
  );
}

/** The commits of those references that exist. */
export async function find(
  repository: Repository,
  { url, env }: Exchange,
  refs: readonly string[],
): Promise<Map<string, CommitId>> {
  const args = ["ls-remote", "--refs", "--quiet", END_OF_OPTIONS, url, ...refs];
  const answer = await ownGit(repository, args, { env, codes: [0, 128], timeoutMs: TRANSFER_MS });
  if (answer.code !== 0) throw failed("Cannot read the exchange", answer.warnings);
  const lines = answer.stdout.toString("latin1").split("\n");
  const found = lines.flatMap((line) => {
    const [id = "", ref = ""] = line.split("\t");
    return refs.includes(ref) ? [[ref, objectId(repository, id) as CommitId] as const] : [];
  });
  return new Map(found);
}

export interface Fetched {
  /** Reads the new objects beside those of the repository, which does not have them yet. */
  quarantine: Repository;
  /** Makes the objects part of the repository: of Maestro's own, one by one, or of a clone that is a cache, as they came. */
  accept: (into: "own" | "cache") => Promise<void>;
  /** Deletes what was not accepted. */
  discard: () => void;
}

/** `tips`: commits that both sides have, so that what they share does not travel. */
export async function fetch(
  repository: Repository,
  exchange: Exchange,
  { commit, tips }: { commit: CommitId; tips: readonly CommitId[] },
): Promise<Fetched> {
  const objects = join(repository.place, newTemporaryName());
  const packs = join(objects, "pack");
  mkdirSync(packs, { recursive: true, mode: 0o700 });
  const discard = () => rmSync(objects, { recursive: true, force: true });
  const quarantine: Repository = { ...repository, objects, borrowed: [repository.objects, ...repository.borrowed] };
  try {
    await fetchInto(quarantine, exchange, commit, tips);
    await requireBounded(quarantine);
  } catch (error) {
    discard();
    throw error;
  }
  const accept = async (into: "own" | "cache") => {
    const names = namesIn(packs);
    for (const name of names.filter((one) => one.endsWith(".pack"))) {
      if (into === "own")
        await ownGit(repository, ["unpack-objects", "-q"], { input: readFileSync(join(packs, name)) });
    }
    if (into === "cache") moveFiles(packs, join(userObjects(repository), "pack"), names);
    discard();
  };
  return { quarantine, accept, discard };
}

async function fetchInto(
  quarantine: Repository,
  { url, env }: Exchange,
  commit: CommitId,
  tips: readonly CommitId[],
): Promise<void> {
  const settings = ["fetch.fsckObjects=true", "fetch.unpackLimit=1"].flatMap((setting) => ["-c", setting]);
  const options = ["--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--quiet"];
  const known = tips.map((tip) => `--negotiation-tip=${objectId(quarantine, tip)}`);
  const args = [...settings, "fetch", ...options, ...known, END_OF_OPTIONS, url, objectId(quarantine, commit)];
  const packs = join(quarantine.objects, "pack");
  // git has no limit of its own for a fetch, so the growing file is looked at.
  let excess: string | undefined;
  const fault = () => {
    if (bytesIn(packs) > MAX_PACK_BYTES) excess = `more than ${MAX_PACK_BYTES} bytes`;
    return excess;
  };
  const call = { env, timeoutMs: TRANSFER_MS, codes: [0, 1, 128], check: { everyMs: LOOK_MS, fault } };
  const { code, warnings } = await ownGit(quarantine, args, call).catch((error: unknown) => {
    throw excess === undefined
      ? error
      : new MaestroError("parse_failed", `The exchange sends too much data: ${excess}`);
  });
  if (code === 0) return;
  throw (
    unusableIn("The exchange contains damaged objects", warnings) ?? failed("Cannot fetch from the exchange", warnings)
  );
}

/** A small pack can become large objects. */
async function requireBounded(quarantine: Repository): Promise<void> {
  const { stdout } = await ownGit(quarantine, ["cat-file", "--batch-all-objects", "--batch-check=%(objectsize)"], {
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: "" },
  });
  const sizes = stdout.toString("latin1").split("\n");
  const bytes = sizes.reduce((sum, size) => sum + (Number(size) || 0), 0);
  if (bytes <= MAX_UNPACKED_BYTES) return;
  throw new MaestroError("parse_failed", `The exchange sent too much data: ${bytes} bytes`);
}

/** The index last: git sees a pack when it has an index. */
function moveFiles(from: string, to: string, names: readonly string[]): void {
  mkdirSync(to, { recursive: true });
  const last = (name: string) => (name.endsWith(".idx") ? 1 : 0);
  for (const name of names.toSorted((one, other) => last(one) - last(other)))
    renameSync(join(from, name), join(to, name));
}

function namesIn(directory: string): string[] {
  return readdirSync(directory);
}

function bytesIn(directory: string): number {
  const sizeOf = (name: string) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  return namesIn(directory).reduce((sum, name) => sum + sizeOf(name), 0);
}

/** Whether the content itself is at fault, too large or damaged: then it is useless to try again. */
export function isUnusable(error: unknown): error is MaestroError {
  return error instanceof MaestroError && error.code === "parse_failed";
}

/** What git says of content that it never accepts: over the limit, or rejected by its checks. */
const unusable = /pack exceeds maximum allowed size|\bobject [0-9a-f]{40,64}: \w+: /;

function unusableIn(what: string, said: readonly string[]): MaestroError | undefined {
  const reason = said.find((line) => unusable.test(line));
  if (reason === undefined) return undefined;
  const text = reason.trim().replace(/^(?:(?:remote|fatal|error): )+/, "");
  return new MaestroError("parse_failed", `${what}: ${text}`);
}

function failed(what: string, said: readonly string[]): MaestroError {
  const reason = said.find((line) => /^(?:fatal|error|remote):/.test(line)) ?? said.at(-1) ?? "git gave no reason";
  return new MaestroError("environment", `${what}: ${reason.replace(/^(?:fatal|error): /, "")}`, {
    hint: 'Check it with "maestro doctor".',
  });
}
