import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import { frozenPhase, moved, sessionAfter } from "../../../test/support/session.ts";
import type { Repository } from "../../git/repository.ts";
import { addWorktree } from "../../git/worktree/worktree.ts";
import { eventFault, type FrozenPlan, MAX_LISTED_CHANGES, type SessionEvent } from "../../session/events.ts";
import type { Session } from "../../session/session.ts";
import { type Ground, Isolation, type IsolationOptions } from "../isolation.ts";
import type { RunContext } from "../run-context.ts";
import { examine } from "./examine.ts";
import { listProject } from "./listing.ts";

const exclude = [".gemini"];

/** The part of a run context that `examine` reads. */
function contextOf(session: Session, over: Partial<IsolationOptions>): RunContext {
  const options: IsolationOptions = {
    projectRoot: "",
    prefix: "w",
    worktrees: "parallel",
    repository: null,
    ownership: "strict",
    isShared: false,
    exclude,
    include: [],
    setup: "",
    sandbox: null,
    ...over,
  };
  const store = { session, refresh: () => undefined };
  return { isolation: new Isolation(options), projectRoot: options.projectRoot, store } as unknown as RunContext;
}

const attempt = (phase: string): SessionEvent => ({
  ...{ type: "attempt.started", phase, attempt: 1, agent: "coder", run: "r", runtime: "gemini", model: null },
  ...{ batch: "b", name: `coder.p${phase}-1`, prompt_bytes: 1, timeout_ms: 1 },
});
const begun = (...ids: string[]) => ids.flatMap((id) => [moved(id, "pending", "in_progress"), attempt(id)]);
const phase = (id: string, ...files_modified: string[]) => frozenPhase(id, { files_modified });
const one = { phase: "1", attempt: 1 };
const put = (root: string, path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

describe("in git", () => {
  let project: GitProject;
  let repository: Repository;
  beforeEach(async () => {
    project = new GitProject();
    project.write("a.txt", "1\n2\n3\n");
    project.write("b.txt", "long enough to be known again\n".repeat(5));
    project.write(".gitignore", "*.gen\nnode_modules/\n");
    project.commit();
    repository = await project.open();
  });
  afterEach(() => project.remove());

  /** A worktree of the current project, changed by `work`. */
  async function inWorktree(phases: FrozenPlan["phases"], work: (root: string) => void) {
    const session = sessionAfter(phases, ...begun("1"));
    const context = contextOf(session, { repository, projectRoot: project.path });
    const taken = await context.isolation.snapshot(session);
    const worktree = await addWorktree(repository, "s", "w1", taken);
    work(worktree.root);
    const ground: Ground = { root: worktree.root, worktree, before: taken.commit };
    const found = await examine(context, one, ground);
    if (found === null) throw new Error("nobody looked");
    return { ...found, base: taken.commit };
  }
  const refs = () => project.git("for-each-ref", "--format=%(refname)", "refs/maestro");

  describe("large changes", () => {
    const MEGABYTE = 1024 * 1024;
    const noise = (bytes: number) => randomBytes(bytes).toString("latin1");
    const objectBytes = () => Number(/^size: (\d+)/m.exec(project.git("count-objects", "-v"))?.[1]) * 1024;

    test("outside the phase's files are reported, not kept, and never reach the repository", async () => {
      const before = objectBytes();
      const work = await inWorktree([phase("1", "a.txt")], (root) => {
        put(root, "a.txt", "mine\n");
        put(root, "small.txt", "small\n");
        put(root, "b.txt", noise(15 * MEGABYTE));
        put(root, "deep/big.bin", noise(40 * MEGABYTE));
      });
      expect(objectBytes() - before).toBeLessThan(MEGABYTE);
      expect(work.changes).toMatchObject({ total: 4, outside: ["b.txt", "deep/big.bin", "small.txt"] });
      expect(work.changes.unkept).toEqual(["deep/big.bin", "b.txt"]);
      expect(work.files.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
        "modified a.txt",
        "modified b.txt",
        "created deep/big.bin",
        "created small.txt",
      ]);
      expect(eventFault({ type: "attempt.changed", ...one, ...work.changes })).toBeUndefined();
      expect(work.warnings).toMatchObject([
        {
          code: "left_out",
          message: expect.stringMatching(/^Not kept: deep\/big\.bin, b\.txt \(\d+\.\d MB\), because/),
        },
      ]);
      expect(project.git("show", `${work.changes.commit}:small.txt`)).toBe("small");
      expect(project.git("show", `${work.changes.commit}:b.txt`)).toBe(project.read("b.txt").trimEnd());
      expect(work.fresh?.has("deep/big.bin")).toBe(true);
    });

    test("are not kept even when there is nothing else: the record has the name", async () => {
      const work = await inWorktree([phase("1", "a.txt")], (root) => put(root, "big.bin", noise(11 * MEGABYTE)));
      expect(work.changes).toMatchObject({ total: 1, outside: ["big.bin"], unkept: ["big.bin"] });
      expect(refs()).toBe("refs/maestro/2026-02-14-task-api/1/1");
    });

    test("in many small files are limited as well", { timeout: 90_000 }, async () => {
      const before = Number(/^count: (\d+)/m.exec(project.git("count-objects", "-v"))?.[1]);
      const work = await inWorktree([phase("1", "a.txt")], (root) => {
        for (let at = 0; at < 6000; at += 1) put(root, `many/${at % 20}/${at}`, `${at}`);
      });
      expect(work.changes).toMatchObject({ total: 6000 });
      expect(work.changes.unkept?.length).toBeGreaterThan(3000);
      expect(Number(/^count: (\d+)/m.exec(project.git("count-objects", "-v"))?.[1]) - before).toBeLessThan(3000);
    });

    test("are kept when the phase owns them or they are integrated anyway", async () => {
      const owned = await inWorktree([phase("1", "big.bin")], (root) => put(root, "big.bin", noise(11 * MEGABYTE)));
      expect(owned.changes.unkept).toBeUndefined();
      expect(project.git("cat-file", "-s", `${owned.changes.commit}:big.bin`)).toMatch(/^\d{8}$/);
    });
  });

  test("warns about links that point out of the project, in a worktree and in the project itself", async () => {
    const link = (root: string) => {
      symlinkSync("../../../etc/passwd", join(root, "out"));
      symlinkSync("a.txt", join(root, "in"));
      symlinkSync("/etc", join(root, "abs"));
    };
    const message = "Links that lead out of the project: abs -> /etc, out -> ../../../etc/passwd";
    const { warnings } = await inWorktree([phase("1", "out", "in", "abs")], link);
    expect(warnings).toEqual([{ code: "link_outside", message }]);
    const session = sessionAfter([phase("1", "out", "in", "abs")], ...begun("1"));
    for (const isShared of [false, true]) {
      const context = contextOf(session, { repository, projectRoot: project.path, isShared });
      const before = (await context.isolation.snapshot(session)).commit;
      link(project.path);
      const found = await examine(context, one, { root: project.path, worktree: null, before });
      expect(found?.warnings).toEqual([{ code: "link_outside", message }]);
      for (const name of ["out", "in", "abs"]) rmSync(join(project.path, name));
    }
  });

  test("lists what was created, modified, deleted and renamed in a worktree, with line counts, and keeps it", async () => {
    const work = await inWorktree([phase("1", "a.txt", "b.txt", "c.txt", "deep/")], (root) => {
      put(root, "a.txt", "1\n2\nthree\nfour\n");
      renameSync(join(root, "b.txt"), join(root, "c.txt"));
      put(root, "deep/er/new.txt", "new\n");
      put(root, "pic.bin", "\0\0");
      rmSync(join(root, ".gitignore"));
      put(root, ".gemini/state/progress.jsonl", "none of its business\n");
    });
    expect(work).toMatchObject({ where: "worktree", trouble: null, warnings: [] });
    expect(work.files).toEqual([
      { path: ".gitignore", kind: "deleted", added: 0, removed: 2 },
      { path: "a.txt", kind: "modified", added: 2, removed: 1 },
      { path: "c.txt", from: "b.txt", kind: "renamed", added: 0, removed: 0 },
      { path: "deep/er/new.txt", kind: "created", added: 1, removed: 0 },
      { path: "pic.bin", kind: "created", added: null, removed: null },
    ]);
    const { base, commit, total, added, removed, outside } = work.changes;
    expect({ base, total, added, removed, outside }).toEqual({
      ...{ base: work.base, total: 5, added: 3, removed: 3 },
      outside: [".gitignore", "pic.bin"],
    });
    expect(refs()).toBe("refs/maestro/2026-02-14-task-api/1/1");
    expect(project.git("rev-parse", "refs/maestro/2026-02-14-task-api/1/1")).toBe(commit);
    expect(project.git("log", "-1", "--format=%P %s", String(commit))).toBe(`${work.base} Phase 1, attempt 1: Phase 1`);
  });

  test("keeps no reference when nothing changed", async () => {
    const work = await inWorktree([phase("1")], () => undefined);
    expect(work.changes).toMatchObject({ files: [], total: 0, added: 0, removed: 0, outside: [] });
    expect(refs()).toBe("");
  });

  test("includes an ignored file only when a phase declares it", async () => {
    const work = await inWorktree([phase("1", "mine.gen"), phase("2", "theirs.gen", "*.gen")], (root) => {
      for (const name of ["mine.gen", "theirs.gen", "noise.gen"]) put(root, name, "x\n");
    });
    expect(work.files.map(({ path }) => path)).toEqual(["mine.gen", "theirs.gen"]);
    expect(work.changes.outside).toEqual(["theirs.gen"]);
  });

  test("finds nested repositories, whose files cannot be integrated", async () => {
    const work = await inWorktree([phase("1", "lib/")], (root) => {
      put(root, "lib/x.txt", "x\n");
      project.gitIn(join(root, "lib"), "init", "-q");
      project.gitIn(join(root, "lib"), "add", "-A");
      project.gitIn(join(root, "lib"), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x");
    });
    expect(work.trouble).toContain("whose files cannot be integrated: lib/. Remove their .git");
  });

  test("lists as many changes as an event holds, and counts all of them", async () => {
    const work = await inWorktree([phase("1", "many/")], (root) => {
      for (let at = 0; at < MAX_LISTED_CHANGES + 5; at += 1) put(root, `many/${at}`, "x\n");
    });
    expect(work.changes.files).toHaveLength(MAX_LISTED_CHANGES);
    expect(work.changes).toMatchObject({ total: MAX_LISTED_CHANGES + 5, added: MAX_LISTED_CHANGES + 5, outside: [] });
    expect(work.files).toHaveLength(MAX_LISTED_CHANGES + 5);
  });

  test("fails when the worktree no longer exists", async () => {
    const gone = inWorktree([phase("1")], (root) => rmSync(root, { recursive: true }));
    await expect(gone).rejects.toThrow("The worktree w1 no longer exists");
  });

  test("lists what an attempt changed in the project itself, from commits before and after", async () => {
    project.write("dirty.txt", "of the user\n");
    const session = sessionAfter([phase("1", "a.txt")], ...begun("1"));
    const context = contextOf(session, { repository, projectRoot: project.path });
    const { commit } = await context.isolation.snapshot(session);
    project.write("a.txt", "1\n");
    project.write("other.txt", "x\n");
    const before = project.untouchables();
    const work = await examine(context, one, { root: project.path, worktree: null, before: commit });
    expect(work).toMatchObject({ where: "project", trouble: null, warnings: [] });
    expect(work?.files.map(({ path, kind }) => `${kind} ${path}`)).toEqual(["modified a.txt", "created other.txt"]);
    expect(work?.changes).toMatchObject({ base: commit, total: 2, outside: ["other.txt"] });
    expect(refs()).not.toBe("");
    expect(Object.keys(project.untouchables())).toEqual(Object.keys(before));
  });

  test("examines nothing when the state before the attempt is unknown", async () => {
    const context = contextOf(sessionAfter([phase("1")], ...begun("1")), { repository });
    expect(await examine(context, one, { root: project.path, worktree: null, before: null })).toBeNull();
  });

  describe("when several attempts share the project", () => {
    const phases = [phase("1", "one/"), phase("2", "two/"), phase("3", "three/"), phase("4", "four/")];

    async function among(...events: SessionEvent[]) {
      const session = sessionAfter(phases, ...events);
      const context = contextOf(session, {
        repository,
        projectRoot: project.path,
        worktrees: "none",
        isShared: true,
      });
      const { commit } = await context.isolation.snapshot(session);
      for (const name of ["one/x", "two/x", "three/x", "four/x", "stray"]) project.write(name, "x\n");
      return examine(context, one, { root: project.path, worktree: null, before: commit });
    }

    test("attributes files to the phase that owns them, and reports files that no running phase owns", async () => {
      const work = await among(
        ...begun("3"),
        moved("3", "in_progress", "completed"),
        ...begun("1", "2"),
        moved("2", "in_progress", "completed"),
      );
      expect(work?.where).toBe("shared");
      expect(work?.changes.files.map(({ path }) => path)).toEqual(["one/x"]);
      // Phase 3 ended earlier and phase 4 has not started, so neither of them changed its files.
      expect(work?.changes.outside).toEqual(["four/x", "stray", "three/x"]);
      expect(work?.changes).toMatchObject({ base: null, commit: null, total: 1 });
      expect(refs()).toBe("");
    });

    test("does not report files of a phase that is still running", async () => {
      const work = await among(...begun("1", "2", "3", "4"));
      expect(work?.changes.outside).toEqual(["stray"]);
    });
  });
});

describe("outside git", () => {
  test("cuts the list of files outside the phase's scope so that it can be recorded", async () => {
    const root = mkdtempSync(join(tmpdir(), "maestro-examine-"));
    try {
      const session = sessionAfter([phase("1")], ...begun("1"));
      const context = contextOf(session, { projectRoot: root, worktrees: "none" });
      const file = { inode: 1n, size: 1n, mtime: 1n, mode: 1n };
      const files = new Map(Array.from({ length: 100_001 }, (_, at) => [`f${at}`, { ...file, inode: BigInt(at) }]));
      const before = { files, complete: true, unreadable: [] };
      const work = await examine(context, one, { root, worktree: null, before });
      const event = { type: "attempt.changed", ...one, ...work?.changes };
      expect(eventFault(event)).toBeUndefined();
      expect(work?.changes.total).toBe(100_001);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test("warns about links that point out of the project", async () => {
    const root = mkdtempSync(join(tmpdir(), "maestro-examine-"));
    try {
      put(root, "a.txt", "1\n");
      const session = sessionAfter([phase("1", "**")], ...begun("1"));
      const context = contextOf(session, { projectRoot: root, worktrees: "none" });
      const before = await listProject(root, { exclude });
      symlinkSync("a.txt", join(root, "in"));
      symlinkSync(".", join(root, "here"));
      symlinkSync("here/../x", join(root, "out"));
      const work = await examine(context, one, { root, worktree: null, before });
      const message = "Links that lead out of the project: out -> here/../x";
      expect(work?.warnings).toEqual([{ code: "link_outside", message }]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test("lists what changed from listings before and after, without line counts and without a commit", async () => {
    const root = mkdtempSync(join(tmpdir(), "maestro-examine-"));
    try {
      put(root, "a.txt", "1\n");
      put(root, "gone.txt", "1\n");
      put(root, "node_modules/x.js", "1\n");
      const session = sessionAfter([phase("1", "a.txt")], ...begun("1"));
      const context = contextOf(session, { projectRoot: root, worktrees: "none" });
      const before = await listProject(root, { exclude });
      put(root, "a.txt", "changed\n");
      rmSync(join(root, "gone.txt"));
      put(root, "node_modules/y.js", "1\n");
      put(root, ".gemini/state/x", "1\n");
      const work = await examine(context, one, { root, worktree: null, before });
      const files = [
        { path: "a.txt", kind: "modified", added: null, removed: null },
        { path: "gone.txt", kind: "deleted", added: null, removed: null },
      ];
      expect(work).toMatchObject({ where: "project", files, trouble: null, warnings: [] });
      expect(work?.changes).toMatchObject({
        base: null,
        commit: null,
        files,
        total: 2,
        added: 0,
        outside: ["gone.txt"],
      });
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
