// Creates Maestro's own commits, which store a tree and a time. Never signed, on no branch, in no reflog.

import type { CommitId, ObjectId } from "../../ids.ts";
import { ownGit, theirGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { answeredCommit, END_OF_OPTIONS, objectId } from "./object-id.ts";

const identity = { name: "Maestro", email: "maestro@localhost" };

/** Returns the id of a new commit of `tree`, which is a tree or a commit. */
export async function commitTree(
  repository: Repository,
  commit: { tree: ObjectId; parents: readonly CommitId[]; message: string; at?: Date },
): Promise<CommitId> {
  const date = `@${Math.floor((commit.at ?? new Date()).getTime() / 1000)} +0000`;
  const parents = commit.parents.flatMap((parent) => ["-p", objectId(repository, parent)]);
  const tree = `${objectId(repository, commit.tree)}^{tree}`;
  const { stdout } = await ownGit(repository, ["commit-tree", ...parents, END_OF_OPTIONS, tree], {
    input: `${commit.message}\n`,
    env: {
      GIT_AUTHOR_NAME: identity.name,
      GIT_AUTHOR_EMAIL: identity.email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: identity.name,
      GIT_COMMITTER_EMAIL: identity.email,
      GIT_COMMITTER_DATE: date,
    },
  });
  return answeredCommit(repository, stdout);
}

/** The commit of HEAD; undefined before the first commit. */
export async function headCommit(repository: Repository): Promise<CommitId | undefined> {
  const args = ["rev-parse", "-q", "--verify", END_OF_OPTIONS, "HEAD^{commit}"];
  const { code, stdout } = await theirGit(repository, args, { codes: [0, 1] });
  return code === 0 ? answeredCommit(repository, stdout) : undefined;
}
