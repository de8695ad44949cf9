// Empty git repositories of a user called "User", copied from one that is made once in each run of the tests: git takes three processes for it.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes the directory `path` a repository, as `git init ...args` does. */
export function initRepository(path: string, args: string[] = []): void {
  const name = createHash("sha256").update(JSON.stringify(args)).digest("hex");
  const template = join(process.env.VITEST_TEMPLATES ?? "", `git-${name}`);
  if (!existsSync(template)) makeTemplate(template, args);
  cpSync(template, path, { recursive: true });
}

function makeTemplate(path: string, args: string[]): void {
  const draft = mkdtempSync(join(tmpdir(), "maestro-git-template-"));
  git(draft, ["-c", "init.defaultBranch=main", "init", "-q", ...args]);
  git(draft, ["config", "user.name", "User"]);
  git(draft, ["config", "user.email", "user@example.com"]);
  try {
    renameSync(draft, path);
  } catch (error) {
    // Another worker made the same template first.
    rmSync(draft, { recursive: true });
    if (!existsSync(path)) throw error;
  }
}

function git(cwd: string, args: string[]): void {
  const env = { ...process.env, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const { status, stderr } = spawnSync("git", args, { cwd, encoding: "utf8", env });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
}
