// References that keep the work of attempts: refs/maestro/<session>/<phase>/<attempt>. No reflog, no branch, nothing that a push takes along.

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

/** Keeps a commit from being collected; the same attempt kept again replaces what was kept. */
export async function keepCommit(
  repository: Repository,
  { session, phase, attempt, commit }: Omit<KeptRef, "ref">,
): Promise<string> {
  const ref = refOf(session, phase, attempt);
  await update(repository, [`update ${ref}\0${objectId(repository, commit)}\0\0`]);
  return ref;
}

/** What is kept, of one session or of all, oldest commit first. */
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
    // Somebody else's, or no name that we could have made.
    if (names.length !== 3 || session === undefined || phase === undefined || !/^\d+$/.test(attempt ?? "")) return [];
    const ids = {
      session: session as SessionId,
      phase: phase as PhaseId,
      commit: objectId(repository, commit) as CommitId,
    };
    return [{ ...ids, attempt: Number(attempt), ref }];
  });
}

/** Lets go of a session; returns how many references it had. */
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
  if (!Number.isSafeInteger(attempt) || attempt < 0) throw new MaestroError("path", `Not an attempt (got: ${attempt})`);
  return `${ROOT}/${encodeName(session)}/${encodeName(phase)}/${attempt}`;
}

/**
 * A name as one component of a reference: what git forbids there is written as %xx, and capitals too, because file systems that do not tell
 * them from small letters would make one reference of two.
 */
export function encodeName(name: string): string {
  if (name === "") throw new MaestroError("path", "A reference needs a name");
  const safe = name.replace(/[^a-z0-9._-]/gu, (char) => Buffer.from(char).toString("hex").replace(/../g, "%$&"));
  return safe.replace(/^\.|\.(?=\.)|\.(?=$)|\.(?=lock$)/g, "%2e");
}

/** Undefined for what `encodeName` never makes. */
export function decodeName(encoded: string): string | undefined {
  const bytes = encoded.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const name = Buffer.from(bytes, "latin1").toString("utf8");
  return name !== "" && encodeName(name) === encoded ? name : undefined;
}
