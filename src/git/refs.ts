// References that keep the work of attempts: refs/maestro/<session>/<phase>/<attempt>. They have no reflog, and a push does not send them.

import { MaestroError } from "../errors.ts";
import type { CommitId, PhaseId, SessionId } from "../ids.ts";
import { END_OF_OPTIONS, objectId } from "./objects/object-id.ts";
import { theirGit } from "./own-git.ts";
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
  await update(repository, [`update ${ref}\0${objectId(repository, commit)}\0\0`]);
  return ref;
}

/** The kept commits of one session or of all, oldest first. */
export async function listKept(repository: Repository, session?: SessionId): Promise<KeptRef[]> {
  const below = session === undefined ? ROOT : `${ROOT}/${encodeName(session)}`;
  const options = ["--format=%(objectname) %(refname)", "--sort=creatordate"];
  const { stdout } = await theirGit(repository, ["for-each-ref", ...options, END_OF_OPTIONS, `${below}/`]);
  const lines = stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
  return lines.flatMap((line) => {
    const [commit = "", ref = ""] = line.split(" ");
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

/** Deletes the references of a session; returns how many there were. */
export async function dropKept(repository: Repository, session: SessionId): Promise<number> {
  const kept = await listKept(repository, session);
  await update(
    repository,
    kept.map(({ ref }) => `delete ${ref}\0\0`),
  );
  return kept.length;
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
