// Where the shared quota of all credentials is kept: outside of every project, in a directory that only this user can write.

import { join } from "node:path";
import { makeDirectories } from "../../disk/make-directories.ts";
import { MaestroError } from "../../errors.ts";
import type { Environment } from "../../setting-layers.ts";
import { isOwn, userStateRoot } from "../../store/files/user-record.ts";

export function quotaRoot(env: Environment): string {
  const root = join(userStateRoot(env), "quota");
  makeDirectories(root, 0o700);
  if (isOwn(root)) return root;
  throw new MaestroError("environment", `${root} belongs to another user, or others can write to it`, {
    hint: `Make it yours and remove the write permission of others: chmod go-w ${root}`,
  });
}
