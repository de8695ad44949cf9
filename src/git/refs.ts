// References that keep the work of attempts, refs/maestro/<session>/<phase>/<attempt>, and the commits that worktrees begin with,
// refs/maestro/<session>/+<commit>. They have no reflog, and a push does not send them. What they keep is copied to the user's object
// database first.

import { appendFileSync, existsSync, readdirSync, readFileSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { MaestroError } from "../errors.ts";
import type { CommitId, PhaseId, SessionId } from "../ids.ts";
import { collectObjects } from "./objects/collect.ts";
import { hasLoose, partsOf, readLoose } from "./objects/loose.ts";
import { moveObjects } from "./objects/move.ts";
import { END_OF_OPTIONS, objectId } from "./objects/object-id.ts";
import { theirGit } from "./own-git.ts";
import { readFile } from "./read-file.ts";
import type { Repository } from "./repository.ts";

const ROOT = "refs/maestro";

export interface KeptRef {
  session: SessionId;
  phase: PhaseId;
  attempt: number;
  commit: CommitId;
  ref: string;
}

/** Protects a commit from garbage collection. Keeping the same attempt again replaces the commit. */
export async function keepCommit(
  repository: Repository,
  { session, phase, attempt, commit }: Omit<KeptRef, "ref">,
): Promise<string> {
  const ref = refOf(session, phase, attempt);
  const id = objectId(repository, commit);
  await moveObjects(repository, id, listOf(repository, session));
  // Commits that this one is based on need no reference of their own any more.
  const bases = basesOf(repository, session);
  const below = ancestors(repository, id).filter((base) =>
    existsSync(join(repository.commonDir, baseRef(session, base))),
  );
  for (const base of below) bases.delete(base);
  const spare = below.map((base) => `delete ${baseRef(session, base)}\0\0`);
  await update(repository, [`update ${ref}\0${id}\0\0`, ...spare]);
  return ref;
}

/**
 * Protects the commit that a worktree begins with: the agent's git reads it, and may base commits and branches on it. A commit of the
 * user's needs no protection.
 */
export async function keepBase(repository: Repository, session: SessionId, commit: CommitId): Promise<void> {
  const id = objectId(repository, commit);
  const bases = basesOf(repository, session);
  const keep = async () => {
    await moveObjects(repository, id, listOf(repository, session));
    await update(repository, [`update ${baseRef(session, id)}\0${id}\0\0`]);
  };
  if (!bases.has(id)) bases.set(id, hasLoose(repository.objects, id) ? keep() : Promise.resolve());
  try {
    await bases.get(id);
  } catch (error) {
    bases.delete(id);
    throw error;
  }
}

/** The bases that are kept or about to be, by session: worktrees that are created together share one. */
const keptBases = new WeakMap<Repository, Map<SessionId, Map<string, Promise<void>>>>();

function basesOf(repository: Repository, session: SessionId): Map<string, Promise<void>> {
  const known = keptBases.get(repository) ?? new Map<SessionId, Map<string, Promise<void>>>();
  keptBases.set(repository, known);
  const bases = known.get(session) ?? new Map<string, Promise<void>>();
  known.set(session, bases);
  return bases;
}

/** Maestro's own commits behind a commit. */
function ancestors(repository: Repository, commit: string): string[] {
  const object = readLoose(repository.objects, commit);
  if (object?.type !== "commit") return [];
  const [, ...parents] = partsOf(object, repository.objectFormat);
  return parents.flatMap(({ id }) => [id, ...ancestors(repository, id)]);
}

/** The kept commits of one session or of all, oldest first. */
export async function listKept(repository: Repository, session?: SessionId): Promise<KeptRef[]> {
  return (await listRefs(repository, session)).flatMap(({ commit, ref }) => {
    const names = ref.slice(ROOT.length + 1).split("/");
    const [session, phase, attempt] = names.map(decodeName);
    // Not created by Maestro.
    if (names.length !== 3 || session === undefined || phase === undefined || !/^\d+$/.test(attempt ?? "")) return [];
    const ids = {
      session: session as SessionId,
      phase: phase as PhaseId,
      commit: objectId(repository, commit) as CommitId,
    };
    return [{ ...ids, attempt: Number(attempt), ref }];
  });
}

async function listRefs(repository: Repository, session?: SessionId): Promise<{ commit: string; ref: string }[]> {
  const below = session === undefined ? ROOT : `${ROOT}/${encodeName(session)}`;
  if (!mayHaveRefs(repository, below)) return [];
  const options = ["--format=%(objectname) %(refname)", "--sort=creatordate"];
  const { stdout } = await theirGit(repository, ["for-each-ref", ...options, END_OF_OPTIONS, `${below}/`]);
  const lines = stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const [commit = "", ref = ""] = line.split(" ");
    return { commit, ref };
  });
}

/**
 * False only if no reference is below that name. Looked up without git, because most repositories have none of Maestro's. Files first: a
 * reference is in `packed-refs` before its own file is deleted.
 */
function mayHaveRefs({ commonDir }: Repository, below: string): boolean {
  if (existsSync(join(commonDir, "reftable")) || existsSync(join(commonDir, below))) return true;
  return readFile(join(commonDir, "packed-refs"))?.bytes.includes(` ${below}/`) ?? false;
}

/** Deletes the references of a session, and the objects that only they kept; returns how many attempts were kept. */
export async function dropKept(repository: Repository, session: SessionId): Promise<number> {
  const kept = await listKept(repository, session);
  const bases = (await listRefs(repository, session)).filter(({ ref, commit }) => ref === baseRef(session, commit));
  await update(
    repository,
    [...kept, ...bases].map(({ ref }) => `delete ${ref}\0\0`),
  );
  basesOf(repository, session).clear();
  const list = listOf(repository, session);
  await collectObjects(repository, [list], heldCommits(repository));
  if (existsSync(list)) unlinkSync(list);
  if (listsOf(repository).length === 0 && existsSync(heldFile(repository))) unlinkSync(heldFile(repository));
  return kept.length;
}

/** Deletes copies of objects that no reference keeps: a killed process made them, just before it would have written a reference. */
export async function collectLeftovers(repository: Repository): Promise<number> {
  return collectObjects(repository, listsOf(repository), heldCommits(repository));
}

/** Agents may have made commits of their own on top of this one, also such that no reference keeps: it must not be deleted. */
export function holdCommit(repository: Repository, commit: CommitId): void {
  appendFileSync(heldFile(repository), `${objectId(repository, commit)}\n`, { mode: 0o600 });
}

function heldCommits(repository: Repository): string[] {
  const path = heldFile(repository);
  return existsSync(path) ? readFileSync(path, "latin1").split("\n") : [];
}

function heldFile({ objects }: Repository): string {
  return join(dirname(objects), "held");
}

/** Where `moveObjects` lists what it copied for a session. */
function listOf(repository: Repository, session: SessionId): string {
  return join(listDirectory(repository), encodeName(session));
}

function listsOf(repository: Repository): string[] {
  const directory = listDirectory(repository);
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
}

function listDirectory({ objects }: Repository): string {
  return join(dirname(objects), "copied");
}

function baseRef(session: SessionId, commit: string): string {
  return `${ROOT}/${encodeName(session)}/+${commit}`;
}

async function update(repository: Repository, commands: readonly string[]): Promise<void> {
  if (commands.length === 0) return;
  await theirGit(repository, ["-c", "core.fsync=reference", "update-ref", "--no-deref", "--stdin", "-z"], {
    input: commands.join(""),
  });
}

function refOf(session: SessionId, phase: PhaseId, attempt: number): string {
  if (!Number.isSafeInteger(attempt) || attempt < 0)
    throw new MaestroError("path", `Not an attempt number (got: ${attempt})`);
  return `${ROOT}/${encodeName(session)}/${encodeName(phase)}/${attempt}`;
}

/**
 * Encodes a name as one component of a reference. Characters that git forbids are written as %xx, and so are capitals: a case-insensitive
 * file system would treat two references as one.
 */
export function encodeName(name: string): string {
  if (name === "") throw new MaestroError("path", "A reference needs a name");
  const safe = name.replace(/[^a-z0-9._-]/gu, (char) => Buffer.from(char).toString("hex").replace(/../g, "%$&"));
  return safe.replace(/^\.|\.(?=\.)|\.(?=$)|\.(?=lock$)/g, "%2e");
}

/** Undefined for text that `encodeName` cannot produce. */
export function decodeName(encoded: string): string | undefined {
  const bytes = encoded.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const name = Buffer.from(bytes, "latin1").toString("utf8");
  return name !== "" && encodeName(name) === encoded ? name : undefined;
}
