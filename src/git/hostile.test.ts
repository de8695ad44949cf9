import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../test/support/git-repository.ts";
import { executePlan, finish } from "./apply/apply.ts";
import { planApply } from "./apply/apply-plan.ts";
import { changesBetween } from "./objects/changes.ts";
import { mergeTrees } from "./objects/merge.ts";
import { dropKept, keepCommit, listKept } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { snapshot } from "./snapshot/snapshot.ts";
import { pruneWorktrees, removeWorktree } from "./worktree/removal.ts";
import { addWorktree, adoptWorktree, resetWorktree, treeOf } from "./worktree/worktree.ts";

// A repository that tries to run programs, and everything Maestro does with a repository (T14).

let project: GitProject;
beforeEach(() => {
  project = new GitProject();
});
afterEach(() => project.remove());

/** A command that creates a file wherever it runs, named after what started it. */
const trap = (name: string) => `touch ${join(project.base, "pwned")}-${name}; cat`;
const traces = () =>
  readdirSync(project.base)
    .filter((name) => name.startsWith("pwned-"))
    .sort();

const hooks = [
  "applypatch-msg",
  "commit-msg",
  "fsmonitor-watchman",
  "post-applypatch",
  "post-checkout",
  "post-commit",
  "post-index-change",
  "post-merge",
  "post-rewrite",
  "post-update",
  "pre-applypatch",
  "pre-auto-gc",
  "pre-commit",
  "pre-merge-commit",
  "pre-push",
  "pre-rebase",
  "pre-receive",
  "prepare-commit-msg",
  "reference-transaction",
  "update",
];

function setTraps(): void {
  for (const path of [join(project.path, ".git/hooks"), join(project.base, "hooks")]) {
    mkdirSync(path, { recursive: true });
    for (const name of hooks) {
      writeFileSync(join(path, name), `#!/bin/sh\n${trap(`hook-${name}`)} >/dev/null\n`);
      chmodSync(join(path, name), 0o755);
    }
  }
  const settings: [name: string, value: string][] = [
    ["core.hooksPath", join(project.base, "hooks")],
    ["core.fsmonitor", trap("fsmonitor")],
    ["core.sshCommand", trap("ssh")],
    ["core.gitProxy", trap("proxy")],
    ["core.pager", trap("pager")],
    ["core.editor", trap("editor")],
    ["core.askPass", trap("askpass")],
    ["core.alternateRefsCommand", trap("alternate-refs")],
    ["core.logAllRefUpdates", "always"],
    ["core.untrackedCache", "true"],
    ["credential.helper", `!${trap("credential")}`],
    ["diff.external", trap("diff-external")],
    ["diff.evil.command", trap("diff-command")],
    ["diff.evil.textconv", trap("textconv")],
    ["filter.evil.clean", trap("clean")],
    ["filter.evil.smudge", trap("smudge")],
    ["filter.evil.required", "true"],
    ["filter.daemon.process", trap("process")],
    ["merge.evil.driver", `${trap("merge-driver")} %A`],
    ["merge.default", "evil"],
    ["gpg.program", trap("gpg")],
    ["commit.gpgSign", "true"],
    ["gc.auto", "1"],
    ["maintenance.auto", "true"],
    ["submodule.recurse", "true"],
    ["protocol.ext.allow", "always"],
    ["protocol.git.allow", "always"],
    ["remote.origin.url", `ext::sh -c ${trap("ext").replace(/;.*/, "")}`],
    ["remote.origin.promisor", "true"],
    ["remote.origin.uploadpack", trap("uploadpack")],
    ["sequence.editor", trap("sequence")],
    ["interactive.diffFilter", trap("diff-filter")],
    ["uploadpack.packObjectsHook", trap("pack-objects")],
    ...[
      "status",
      "add",
      "update-index",
      "write-tree",
      "commit-tree",
      "read-tree",
      "worktree",
      "diff-tree",
      "merge-tree",
    ].map((name): [string, string] => [`alias.${name}`, `!${trap(`alias-${name}`)}`]),
    ["include.path", join(project.base, "more")],
  ];
  writeFileSync(join(project.base, "more"), `[core]\n\tfsmonitor = ${JSON.stringify(trap("included"))}\n`);
  for (const [name, value] of settings) project.git("config", "--add", name, value);
  project.write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.d filter=daemon\n");
}

/** Every operation that Maestro performs on a repository. */
async function useAll(): Promise<Repository> {
  const repository = await project.open();
  const options = { exclude: [".state"], include: [".env"] };
  const first = await snapshot(repository, options);
  const worktree = await addWorktree(repository, "s", "p1-1", first);
  const other = await addWorktree(repository, "s", "p2-1", first);
  writeFileSync(join(worktree.path, "a"), "1\n2\n3\n4\n5\nagent\n");
  writeFileSync(join(worktree.path, "new.d"), "agent\n");
  writeFileSync(join(other.path, "a"), "other\n1\n2\n3\n4\n5\n");
  const [left, right] = [await treeOf(repository, worktree, options), await treeOf(repository, other, options)];
  expect(await changesBetween(repository, first.tree, left.tree)).toHaveLength(2);
  const merged = await mergeTrees(repository, { base: first.tree, ours: left.tree, theirs: right.tree });
  if (merged.kind !== "clean") throw new Error(JSON.stringify(merged));
  await keepCommit(repository, { session: "s", phase: "1", attempt: 1, commit: left.commit });
  await keepCommit(repository, { session: "t", phase: "1", attempt: 1, commit: right.commit });
  expect(await listKept(repository)).toHaveLength(2);
  await resetWorktree(repository, other, left.commit);
  await executePlan(repository, await planApply(repository, first.tree, merged.tree));
  await finish(repository, first.tree, merged.tree);
  expect(project.read("a")).toBe("other\n1\n2\n3\n4\n5\nagent\n");
  writeFileSync(join(worktree.path, "a"), "conflict\n");
  const third = await treeOf(repository, worktree, options);
  const conflict = await mergeTrees(repository, { base: first.tree, ours: right.tree, theirs: third.tree });
  expect(conflict.kind).toBe("conflict");
  adoptWorktree(repository, "p2-1");
  await removeWorktree(repository, "p1-1");
  await removeWorktree(repository, "p2-1");
  await pruneWorktrees(repository);
  await dropKept(repository, "s");
  return repository;
}

describe("a hostile repository", () => {
  beforeEach(() => {
    project.write("a", "1\n2\n3\n4\n5\n");
    project.write("b.d", "1\n");
    project.commit();
    setTraps();
    project.write("c", "untracked\n");
    project.write("b.d", "2\n");
  });

  test("runs its traps for plain git, so the test would notice them", () => {
    const attempts = [["status"], ["diff"], ["add", "-A"], ["update-ref", "refs/x", "HEAD"], ["commit", "-m", "x"]];
    for (const args of attempts) {
      try {
        project.git(...args);
      } catch {
        // Only what it ran before it failed matters.
      }
    }
    expect(traces()).toEqual(
      expect.arrayContaining(["pwned-clean", "pwned-hook-reference-transaction", "pwned-included", "pwned-process"]),
    );
  });

  test("runs nothing in any operation of Maestro", async () => {
    await useAll();
    expect(traces()).toEqual([]);
    expect(() => project.git("rev-parse", "refs/maestro/s/1/1")).toThrow();
  });

  test("runs nothing when the project is a worktree with its own settings", async () => {
    rmSync(join(project.path, ".gitattributes"));
    const path = join(project.base, "linked");
    project.gitIn(
      project.path,
      "-c",
      "core.hooksPath=/dev/null",
      "-c",
      "core.fsmonitor=false",
      "worktree",
      "add",
      "-q",
      path,
    );
    project.git("config", "extensions.worktreeConfig", "true");
    project.gitIn(path, "config", "--worktree", "core.fsmonitor", trap("worktree-config"));
    for (const name of traces()) rmSync(join(project.base, name));
    writeFileSync(join(path, ".gitattributes"), "* filter=evil diff=evil merge=evil\n");
    const repository = await project.open(path);
    const taken = await snapshot(repository, { exclude: [], include: [] });
    await addWorktree(repository, "s", "p1-1", taken);
    await removeWorktree(repository, "p1-1");
    expect(traces()).toEqual([]);
  });

  test("runs nothing that an attempt put into its worktree", async () => {
    const repository = await project.open();
    const worktree = await addWorktree(
      repository,
      "s",
      "p1-1",
      await snapshot(repository, { exclude: [], include: [] }),
    );
    rmSync(join(worktree.path, ".git"));
    project.gitIn(worktree.path, "init", "-q");
    project.gitIn(worktree.path, "config", "core.fsmonitor", trap("agent-fsmonitor"));
    project.gitIn(worktree.path, "config", "filter.agent.clean", trap("agent-clean"));
    writeFileSync(join(worktree.path, ".gitattributes"), "* filter=agent\n[attr]binary filter=agent\n");
    mkdirSync(join(worktree.path, "sub"));
    project.gitIn(join(worktree.path, "sub"), "init", "-q");
    project.gitIn(join(worktree.path, "sub"), "config", "core.fsmonitor", trap("agent-nested"));
    writeFileSync(join(worktree.path, "a"), "agent\n");
    const { tree } = await treeOf(repository, worktree, { exclude: [] });
    expect((await changesBetween(repository, worktree.commit, tree)).map(({ path }) => path)).toEqual([
      ".gitattributes",
      "a",
    ]);
    await removeWorktree(repository, "p1-1");
    expect(traces()).toEqual([]);
  });
});
