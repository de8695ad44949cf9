import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { worktreePrefix } from "../../src/git/worktree/prefix.ts";
import { claimEngine } from "../../src/store/engine-lock.ts";
import { readIntent, writeIntent } from "../../src/store/files/integration-file.ts";
import { filesBelow } from "../support/git-repository.ts";
import { maestroPath } from "../support/project.ts";
import { WorkedProject } from "../support/worked-project.ts";

let project: WorkedProject;
beforeEach(() => {
  project = new WorkedProject();
});
afterEach(() => project.remove());

const lines = (...edits: [at: number, text: string][]) => {
  const all = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);
  for (const [at, text] of edits) all[at - 1] = text;
  return `${all.join("\n")}\n`;
};
const SESSION = "2026-02-14-task-api";
const ref = (phase: string | number, attempt: number, session = SESSION) =>
  `refs/maestro/${session}/${phase}/${attempt}`;
const refs = () => project.git.git("for-each-ref", "--format=%(refname)", "refs/maestro").split("\n").filter(Boolean);
const keptSessions = () =>
  refs()
    .map((name) => name.split("/")[2])
    .toSorted();
const json = async (args: string[]) => JSON.parse((await project.command([...args, "--json"])).stdout);

/** A committed project, and a phase that changed a file, made one and removed one. */
async function oneAttempt(options: Parameters<WorkedProject["attempt"]>[2] = {}) {
  project.write({ "src/a.ts": lines(), "src/old.ts": "old\n", "notes.md": "notes\n" });
  project.git.commit();
  project.createSession([
    { id: 1, files_modified: ["src/a.ts"] },
    { id: 2, blocked_by: [1] },
  ]);
  const edit = () => {
    project.write({ "src/a.ts": lines([3, "changed by the agent"]), "src/new.ts": "new\n" });
    rmSync(join(project.path, "src/old.ts"));
  };
  return project.attempt("1", edit, options);
}

const before = { "src/a.ts": lines(), "src/old.ts": "old\n", "notes.md": "notes\n" };
const after = { "src/a.ts": lines([3, "changed by the agent"]), "src/new.ts": "new\n", "notes.md": "notes\n" };

describe("maestro diff", () => {
  test("prints the change as a unified diff that git takes, and changes nothing", async () => {
    await oneAttempt();
    const untouched = project.git.untouchables();
    const { code, stdout, stderr } = project.maestro(["diff", "1"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("diff --git a/src/a.ts b/src/a.ts\n");
    expect(stdout).toContain("\n-line 3\n+changed by the agent\n");
    expect(project.git.untouchables()).toEqual(untouched);
    writeFileSync(join(project.git.base, "patch"), stdout);
    project.git.git("apply", join(project.git.base, "patch"));
    expect(project.files()).toEqual(after);
  });

  test("prints a summary with --stat, and JSON with --json", async () => {
    const { base, commit } = await oneAttempt({ outside: ["src/new.ts"] });
    expect((await project.command(["diff", "1", "--stat"])).stdout).toBe(
      [
        "Phase 1, attempt 1: 3 files (+2 -2), not in the project",
        "  modified  +1 -1  src/a.ts",
        "  created   +1 -0  src/new.ts  (not one of its files)",
        "  deleted   +0 -1  src/old.ts",
        "",
      ].join("\n"),
    );
    expect(await json(["diff", "1"])).toEqual({
      session: SESSION,
      phase: "1",
      attempt: 1,
      integrated: false,
      base,
      commit,
      files: [
        { path: "src/a.ts", kind: "modified", added: 1, removed: 1 },
        { path: "src/new.ts", kind: "created", added: 1, removed: 0 },
        { path: "src/old.ts", kind: "deleted", added: 0, removed: 1 },
      ],
      total: 3,
      added: 2,
      removed: 2,
      outside: ["src/new.ts"],
    });
  });

  test("shows the last attempt that did something, or the one that is named", async () => {
    await oneAttempt();
    await project.attempt("1", () => project.write({ "notes.md": "second\n" }));
    await project.attempt("1", () => undefined);
    expect((await json(["diff", "1"])).attempt).toBe(2);
    expect((await json(["diff", "1", "--attempt", "1"])).total).toBe(3);
    expect(await project.command(["diff", "1", "--attempt", "3"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "Attempt 3 of phase 1 changed nothing\n",
    });
    expect(await project.command(["diff", "1", "--attempt", "4"])).toMatchObject({
      code: 1,
      stderr: "ERROR: Phase 1 has no attempt 4\n  It has 1, 2, 3.\n",
    });
    expect(await project.command(["diff", "2"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "No recorded changes for any attempt of phase 2\n",
    });
    expect(await json(["diff", "2"])).toMatchObject({
      attempt: null,
      base: null,
      commit: null,
      integrated: false,
      files: [],
    });
    expect(await project.command(["diff", "9"])).toMatchObject({ code: 1 });
  });

  test("shows a session that was archived, by its name and as the last one", async () => {
    await oneAttempt();
    expect((await project.command(["archive"])).code).toBe(0);
    expect((await project.command(["diff", "1"])).stdout).toContain("+changed by the agent");
    expect((await project.command(["diff", "1", "--session", SESSION])).stdout).toContain("+changed by the agent");
    expect(await project.command(["diff", "1", "--session", "nope"])).toMatchObject({ code: 1 });
  });

  test("runs no diff program and no text conversion of the repository's", async () => {
    project.write({ ".gitattributes": "*.ts diff=evil\n* filter=evil\n" });
    for (const key of [
      "diff.external",
      "diff.evil.command",
      "diff.evil.textconv",
      "filter.evil.smudge",
      "core.pager",
    ]) {
      project.git.git("config", key, `touch ${project.git.base}/PWNED; cat`);
    }
    await oneAttempt();
    expect((await project.command(["diff", "1"])).stdout).toContain("+changed by the agent");
    expect(Object.keys(filesBelow(project.git.base))).not.toContain("PWNED");
  });

  test("hands every byte to a program, and no control character to a terminal", async () => {
    project.createSession();
    await project.attempt("1", () =>
      project.write({ a: "\u001b[2J\u001b]0;title\u0007 \u009b31m\n", "b\u001b[2J": "\n" }),
    );
    const { stdout } = project.maestro(["diff", "1"]);
    expect(stdout).toContain("+\u001b[2J\u001b]0;title\u0007 \u009b31m\n");
    expect(stdout).toContain('"b/b\\033[2J"');
    const shown = project.onTerminal(`${process.execPath} ${maestroPath} diff 1`);
    expect(shown).toContain("+␛[2J␛]0;title␇ �31m\n");
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    const coloured = project.onTerminal(`env -u NO_COLOR ${process.execPath} ${maestroPath} diff 1`);
    expect(coloured).toContain("\u001b[32m+␛[2J␛]0;title␇ �31m\u001b[39m");
    expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(shown);
  });

  test("works with names of all kinds, binary content and modes", async () => {
    project.createSession();
    const files = { "ü mlaut.ts": "1\n", 'quo"te': "1\n", "tab\there": "1\n", "bin\u0001": "\0\u0001" };
    await project.attempt("1", () => project.write(files));
    const { stdout } = await project.command(["diff", "1"]);
    expect(stdout).toContain("diff --git a/ü mlaut.ts b/ü mlaut.ts\n");
    expect(stdout).toContain("Binary files ");
    expect((await project.command(["diff", "1", "--stat"])).stdout).toContain("  created          bin␁\n");
    expect((await json(["diff", "1"])).files).toHaveLength(4);
  });

  test("works without the ref while the commit exists, and refuses when the commit is missing or another one", async () => {
    const { base, commit } = await oneAttempt();
    project.git.git("update-ref", ref(1, 1), base);
    expect(await project.command(["diff", "1"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(
        `ERROR: ${ref(1, 1)} is not the commit that the session recorded for attempt 1 of phase 1: ${commit}\n`,
      ),
    });
    project.git.git("update-ref", "-d", ref(1, 1));
    expect((await project.command(["diff", "1"])).stdout).toContain("+changed by the agent");
    project.git.git("-c", "gc.pruneExpire=now", "prune", "--expire=now");
    for (const verb of ["diff", "apply"]) {
      expect(await project.command([verb, "1"])).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining(
          "ERROR: The work of attempt 1 of phase 1 does not exist any more: the repository does not have",
        ),
      });
    }
    expect(project.files()).toEqual(before);
    // The record is still there.
    expect((await json(["diff", "1"])).total).toBe(3);
  });

  test("has no content of a run without git, but the names", async () => {
    await oneAttempt({ unkept: true });
    expect(await project.command(["diff", "1"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("The content of attempt 1 of phase 1 was not kept: it shared the project"),
    });
    expect((await project.command(["diff", "1", "--stat"])).stdout).toContain("  modified  +1 -1  src/a.ts\n");
  });

  test("says why it cannot, outside a repository (exit 3)", async () => {
    await oneAttempt();
    rmSync(join(project.git.path, ".git"), { recursive: true });
    for (const verb of ["diff", "apply", "revert"]) {
      expect(await project.command([verb, "1"])).toMatchObject({
        code: 3,
        stdout: "",
        stderr: expect.stringContaining(
          "ERROR: Cannot read the work of attempts, which is kept in git: the project is not in a git repository\n",
        ),
      });
    }
    const { stderr } = await project.command(["diff", "1"]);
    expect(stderr).toMatch(/See which files changed with `[^`]*maestro[^`]* diff 1 --stat`\./);
    expect((await project.command(["diff", "1", "--stat"])).stdout).toContain("src/a.ts\n");
  });

  test("is allowed inside an attempt; apply and revert are not", async () => {
    await oneAttempt();
    const env = { MAESTRO_ATTEMPT: "1" };
    expect(project.maestro(["diff", "1"], { env }).code).toBe(0);
    for (const verb of ["apply", "revert"]) {
      const { code, stderr } = project.maestro([verb, "1"], { env });
      expect([code, stderr]).toEqual([3, expect.stringContaining("it cannot decide about its own session")]);
    }
    expect(project.files()).toEqual(before);
  });
});

describe("maestro apply", () => {
  test("merges the change into the project as it is now, unstaged, and records it", async () => {
    await oneAttempt();
    project.write({ "src/a.ts": lines([18, "changed by the user"]), "mine.ts": "mine\n" });
    project.git.git("add", "mine.ts");
    const index = readFileSync(join(project.git.path, ".git/index"));
    const { code, stdout, stderr } = project.maestro(["apply", "1"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(
      [
        "Attempt 1 of phase 1 is applied: 3 files (+2 -2)",
        "  modified  +1 -1  src/a.ts",
        "  created   +1 -0  src/new.ts",
        "  deleted   +0 -1  src/old.ts",
        "",
      ].join("\n"),
    );
    const merged = lines([3, "changed by the agent"], [18, "changed by the user"]);
    expect(project.files()).toEqual({ ...after, "src/a.ts": merged, "mine.ts": "mine\n" });
    expect(readFileSync(join(project.git.path, ".git/index")).equals(index)).toBe(true);
    const [phase] = project.session.phases;
    expect(phase?.attempts[0]?.integrated).toMatchObject({ from: expect.any(String), to: expect.any(String) });
    expect(phase).toMatchObject({
      files_created: ["src/new.ts"],
      files_modified: ["src/a.ts"],
      files_deleted: ["src/old.ts"],
    });
    expect((await project.command(["status", "--conflicts"])).stdout).not.toContain("recorded a file that has changed");
  });

  test("does nothing and says so when the change is already in the project", async () => {
    await oneAttempt();
    await project.command(["apply", "1"]);
    const seq = project.session.seq;
    expect(await project.command(["apply", "1"])).toMatchObject({
      code: 0,
      stdout: "Attempt 1 of phase 1 is already in the project\n",
    });
    expect(project.session.seq).toBe(seq);
  });

  test("records work that is in the project without a record, as after a kill between the two", async () => {
    await oneAttempt();
    project.write({ "src/a.ts": after["src/a.ts"], "src/new.ts": "new\n" });
    rmSync(join(project.path, "src/old.ts"));
    expect(await json(["apply", "1"])).toMatchObject({ attempt: 1, applied: true, changed: false, files: [] });
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeDefined();
  });

  test("touches nothing on a conflict, and names the files with reasons (exit 4)", async () => {
    await oneAttempt();
    project.write({ "src/a.ts": lines([3, "changed by the user"]), "src/old.ts": "edited\n" });
    const found = project.git.untouchables();
    const { code, stdout } = await project.command(["apply", "1"]);
    expect(code).toBe(4);
    expect(stdout).toBe(
      [
        "File Conflict Detected",
        "",
        "Phase: Phase 1",
        "Agent: coder",
        "",
        "Conflicting Files:",
        "- src/a.ts (both changed the same lines)",
        "- src/old.ts (one changed it, the other deleted it)",
        "",
        "Nothing was changed.",
        `The work is kept; see it with \`node "${maestroPath}" diff 1\`. Change these files so that the work merges, then apply it again.`,
        "",
      ].join("\n"),
    );
    const { conflicts, applied } = await json(["apply", "1"]);
    expect(applied).toBe(false);
    expect(conflicts.map(({ path }: { path: string }) => path)).toEqual(["src/a.ts", "src/old.ts"]);
    expect(project.git.untouchables()).toEqual(found);
    expect(readIntent(project.location)).toBeUndefined();
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeUndefined();
  });

  test("also integrates files that the phase does not own, because a person asks, and says so", async () => {
    await oneAttempt({ outside: ["src/new.ts", "src/old.ts"] });
    const { code, stderr, stdout } = await project.command(["apply", "1"]);
    expect([code, stderr]).toEqual([0, "WARNING: Applied files that phase 1 does not own: src/new.ts, src/old.ts\n"]);
    expect(stdout).toContain("src/new.ts  (not one of its files)\n");
    expect(project.files()).toEqual(after);
  });

  test("says what is left to decide about a failed phase", async () => {
    await oneAttempt();
    const error = { agent: "coder", timestamp: new Date().toISOString(), type: "file_conflict" as const };
    project.record(
      {
        type: "phase.error_added",
        phase: "1",
        error: { ...error, message: "x", resolution: "pending", resolved: false },
      },
      { type: "phase.moved", phase: "1", from: "in_progress", to: "failed" },
    );
    expect((await project.command(["apply", "1"])).stdout).toMatch(
      /\nPhase 1 is still failed: `node ".*maestro\.js" retry 1` lets its agent continue from here, `node ".*" skip 1` skips it\.\n/,
    );
  });

  test("is refused while an engine runs", async () => {
    await oneAttempt({ integrated: true });
    const release = claimEngine(project.location);
    try {
      for (const verb of ["apply", "revert"]) {
        expect(await project.command([verb, "1"])).toMatchObject({
          code: 3,
          stderr: expect.stringContaining("An engine is already running this session"),
        });
      }
      expect(project.files()).toEqual(after);
    } finally {
      release();
    }
    expect((await project.command(["revert", "1"])).code).toBe(0);
  });

  test("has nothing to do for a phase that changed nothing", async () => {
    await oneAttempt();
    await project.attempt("1", () => undefined);
    expect(await project.command(["apply", "2"])).toMatchObject({
      code: 0,
      stdout: "No recorded changes for any attempt of phase 2\n",
    });
    expect(await project.command(["apply", "1", "--attempt", "2"])).toMatchObject({
      code: 0,
      stdout: "Attempt 2 of phase 1 changed nothing\n",
    });
    expect(project.files()).toEqual(before);
  });

  test("applies the work of an archived session, and leaves its record alone", async () => {
    await oneAttempt();
    await project.command(["archive"]);
    const archived = filesBelow(join(project.path, ".gemini/state/archive"));
    expect((await project.command(["apply", "1", "--session", SESSION])).code).toBe(0);
    expect(project.files()).toEqual(after);
    expect(filesBelow(join(project.path, ".gemini/state/archive"))).toEqual(archived);
    expect((await project.command(["apply", "1"])).stdout).toBe("Attempt 1 of phase 1 is already in the project\n");
  });

  test("works in a directory of the repository, and refuses files outside of it", async () => {
    project.remove();
    project = new WorkedProject("packages/api");
    project.write({ "a.ts": lines() });
    project.git.write("top.ts", "1\n");
    project.git.commit();
    project.createSession();
    await project.attempt("1", () => project.write({ "a.ts": lines([1, "x"]) }));
    await project.attempt("1", () => project.git.write("top.ts", "2\n"));
    project.git.write("top.ts", "1\n");
    expect((await project.command(["diff", "1", "--attempt", "1"])).stdout).toContain("+++ b/packages/api/a.ts\n");
    expect((await project.command(["diff", "1", "--stat"])).stdout).toContain("  ../../top.ts\n");
    expect((await project.command(["apply", "1", "--attempt", "1"])).code).toBe(0);
    expect(project.files()).toEqual({ "a.ts": lines([1, "x"]) });
    expect(await project.command(["apply", "1"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Cannot change ../../top.ts in the project: it is outside the project"),
    });
    expect(project.git.read("top.ts")).toBe("1\n");
  });

  test("knows files that git ignores and a phase owns", async () => {
    project.write({ ".gitignore": "dist/\n", "dist/made.js": "1\n" });
    project.git.commit();
    project.createSession([{ id: 1, files_modified: ["dist/made.js"] }]);
    await project.attempt("1", () => project.write({ "dist/made.js": "2\n" }), { force: ["dist/made.js"] });
    expect((await project.command(["apply", "1"])).code).toBe(0);
    expect(project.files()["dist/made.js"]).toBe("2\n");
    expect((await project.command(["revert", "1"])).code).toBe(0);
    expect(project.files()["dist/made.js"]).toBe("1\n");
  });
});

describe("maestro revert", () => {
  test("takes the change out again; what came later stays", async () => {
    await oneAttempt({ integrated: true });
    project.write({
      "src/a.ts": lines([3, "changed by the agent"], [18, "changed by the user"]),
      "later.ts": "later\n",
    });
    const { code, stdout } = project.maestro(["revert", "1"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Attempt 1 of phase 1 is reverted: 3 files (+2 -2)\n");
    expect(project.files()).toEqual({
      ...before,
      "src/a.ts": lines([18, "changed by the user"]),
      "later.ts": "later\n",
    });
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeUndefined();
    // And back.
    expect((await project.command(["apply", "1"])).code).toBe(0);
    expect(project.files()["src/new.ts"]).toBe("new\n");
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeDefined();
    expect((await project.command(["status", "--conflicts"])).stdout).not.toContain("recorded a file that has changed");
  });

  test("touches nothing on a conflict (exit 4)", async () => {
    await oneAttempt({ integrated: true });
    project.write({ "src/a.ts": lines([3, "the user went on here"]) });
    const found = project.git.untouchables();
    const { code, stdout } = await project.command(["revert", "1"]);
    expect([code, stdout]).toEqual([4, expect.stringContaining("- src/a.ts (both changed the same lines)\n")]);
    expect(project.git.untouchables()).toEqual(found);
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeDefined();
  });

  test("is refused when nothing of the phase is in the project", async () => {
    await oneAttempt();
    const expected = { code: 1, stdout: "" };
    expect(await project.command(["revert", "1"])).toMatchObject({
      ...expected,
      stderr: expect.stringContaining("ERROR: No attempt of phase 1 is recorded as applied to the project\n"),
    });
    expect(await project.command(["revert", "1", "--attempt", "1"])).toMatchObject({
      ...expected,
      stderr: expect.stringContaining("ERROR: Attempt 1 of phase 1 is not recorded as applied to the project\n"),
    });
    expect(project.files()).toEqual(before);
  });

  test("says when it is out already, and records it", async () => {
    await oneAttempt({ integrated: true });
    project.write({ "src/a.ts": lines(), "src/old.ts": "old\n" });
    rmSync(join(project.path, "src/new.ts"));
    expect((await project.command(["revert", "1"])).stdout).toBe(
      "Attempt 1 of phase 1 is not in the project any more\n",
    );
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeUndefined();
  });

  test("works on an archived session", async () => {
    await oneAttempt({ integrated: true });
    await project.command(["archive"]);
    expect(await json(["revert", "1", "--session", SESSION])).toMatchObject({
      session: SESSION,
      reverted: true,
      changed: true,
    });
    expect(project.files()).toEqual(before);
  });
});

describe("a killed change of the project (F1)", () => {
  const points = [
    "open:1",
    "integrate-open:1",
    "integrate-fsync:1",
    "integrate-begin:1",
    "integrate-step:2",
    "integrate-create:1",
  ];
  const late = ["integrate-sync:1", "integrate-end:1", "integrate-record:1"];

  test.each([...points, ...late])(
    "by apply at %s is finished by the next apply, with a message and a record",
    async (point) => {
      await oneAttempt();
      const env = { NODE_ENV: "test", MAESTRO_CRASH_AT: point };
      expect(project.maestro(["apply", "1"], { env }).signal).toBe("SIGKILL");
      const wasBegun = readIntent(project.location) !== undefined;
      expect(wasBegun).toBe(point !== "open:1");
      const { code, stderr } = await project.command(["apply", "1"]);
      expect(code).toBe(0);
      if (wasBegun)
        expect(stderr).toBe(
          `WARNING: Applying attempt 1 of phase 1 (session ${SESSION}) had been interrupted; it is finished now\n`,
        );
      expect(project.files()).toEqual(after);
      expect(project.session.phases[0]?.attempts[0]?.integrated).toBeDefined();
      expect(readIntent(project.location)).toBeUndefined();
    },
  );

  test("by revert is finished by a later apply, which then applies", async () => {
    await oneAttempt({ integrated: true });
    const env = { NODE_ENV: "test", MAESTRO_CRASH_AT: "integrate-step:2" };
    expect(project.maestro(["revert", "1"], { env }).signal).toBe("SIGKILL");
    const { code, stderr, stdout } = await project.command(["apply", "1"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("Reverting attempt 1 of phase 1")]);
    expect(stdout).toContain("is applied: 3 files");
    expect(project.files()).toEqual(after);
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeDefined();
  });

  test("is undone first when the user changed one of its files since", async () => {
    await oneAttempt();
    const env = { NODE_ENV: "test", MAESTRO_CRASH_AT: "integrate-step:2" };
    project.maestro(["apply", "1"], { env });
    project.write({ "src/a.ts": lines([3, "changed by the user"]) });
    const { code, stderr } = await project.command(["apply", "1"]);
    expect([code, stderr]).toEqual([
      4,
      `WARNING: Applying attempt 1 of phase 1 (session ${SESSION}) had been interrupted; it is undone, because src/a.ts changed since\n`,
    ]);
    expect(project.files()).toEqual({ ...before, "src/a.ts": lines([3, "changed by the user"]) });
  });
});

/** Makes a worktree of the project look like one of a process that is gone. */
async function deadWorktree(name: string): Promise<string> {
  const { addWorktree } = await import("../../src/git/worktree/worktree.ts");
  const repository = await project.repository();
  const commit = project.git.git("rev-parse", "HEAD");
  const { path } = await addWorktree(repository, "s", name, { commit, ignored: [], links: [] });
  const marker = join(repository.place, `${name}.worktree.json`);
  const content = JSON.parse(readFileSync(marker, "utf8"));
  writeFileSync(marker, JSON.stringify({ ...content, owner: { ...content.owner, start: "1" } }));
  return path;
}

/** A session that ended, with work. */
async function endedSession(title: string): Promise<string> {
  project.createSession([{ id: 1 }], title);
  const { session_id } = project.session;
  await project.attempt("1", () => project.write({ "src/a.ts": `${title}\n` }));
  // Commit times have whole seconds.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  return session_id;
}

describe("archiving a session with worktrees and refs", () => {
  test("removes the worktrees of dead processes and nothing of the user's", async () => {
    await oneAttempt();
    const dead = await deadWorktree(`${worktreePrefix(project.location)}1`);
    project.git.git("worktree", "add", "-q", join(project.git.base, "users-own"));
    project.git.git("branch", "feature");
    const untouched = project.git.untouchables();
    const { code, stderr } = project.maestro(["archive"]);
    const hint = /^WARNING: 2 phases were still open\nPlans are yours to commit or to ignore: .*\n$/;
    expect([code, stderr]).toEqual([0, expect.stringMatching(hint)]);
    expect(filesBelow(dead)).toEqual({});
    const worktrees = project.git.git("worktree", "list", "--porcelain");
    expect(worktrees).toContain("users-own");
    expect(worktrees).not.toContain(worktreePrefix(project.location));
    expect(refs()).toEqual([ref(1, 1)]);
    const kept = Object.entries(project.git.untouchables()).filter(([name]) => !name.startsWith(".gemini/"));
    expect(kept).toEqual(Object.entries(untouched).filter(([name]) => !name.startsWith(".gemini/")));
  });

  test("keeps the work of the last sessions that ended, and of every session that is not this project's to end", async () => {
    const env = { MAESTRO_KEEP_REFS: "1" };
    const first = await endedSession("First");
    expect(project.maestro(["archive"], { env }).code).toBe(0);
    const second = await endedSession("Second");
    project.git.git("update-ref", "refs/maestro/elsewhere/1/1", project.git.commit());
    expect(keptSessions()).toEqual([first, second, "elsewhere"].toSorted());
    expect(project.maestro(["archive"], { env }).code).toBe(0);
    expect(keptSessions()).toEqual([second, "elsewhere"].toSorted());
    expect((await project.command(["diff", "1", "--session", second])).code).toBe(0);
    expect(await project.command(["diff", "1", "--session", first])).toMatchObject({ code: 0 });
    // The session that is active is not counted and not touched, whatever the limit.
    const third = await endedSession("Third");
    expect((await project.command(["doctor", "--fix"], { env: { MAESTRO_KEEP_REFS: "0" } })).stdout).toContain(
      `warn  Deleted the kept work of ${second}\n`,
    );
    expect(keptSessions()).toEqual([third, "elsewhere"].toSorted());
  });

  test("finishes a change that was begun, and archives though that fails", async () => {
    await oneAttempt();
    mkdirSync(join(project.path, ".gemini/state"), { recursive: true });
    writeFileSync(join(project.path, ".gemini/state/integration.json"), "{");
    const { code, stdout, stderr } = await project.command(["archive"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Archived session ${SESSION}`)]);
    expect(stderr).toContain(
      "WARNING: The record of an unfinished change cannot be read: .gemini/state/integration.json: it is not JSON\n",
    );
  });

  test("works in a project outside git", async () => {
    await oneAttempt();
    rmSync(join(project.git.path, ".git"), { recursive: true });
    expect(await project.command(["archive"])).toMatchObject({
      code: 0,
      stderr: "WARNING: 2 phases were still open\n",
    });
  });
});

describe("maestro doctor", () => {
  const isolation = async (env: Record<string, string> = {}, ...args: string[]) => {
    const run = await project.command(["doctor", "--json", ...args], { env });
    const { findings } = JSON.parse(run.stdout);
    const ours = findings.filter(({ check }: { check: string }) => check === "isolation");
    return { code: run.code, findings: ours as { level: string; message: string; hint?: string }[] };
  };

  test("says that attempts can run in worktrees, and where", async () => {
    const { code, findings } = await isolation();
    expect(code).toBe(0);
    expect(findings).toEqual([
      {
        check: "isolation",
        level: "ok",
        message: expect.stringMatching(/^git 2\.\d+.*: attempts that run in parallel get their own worktrees, in /),
      },
    ]);
  });

  test("says why attempts cannot be kept apart", async () => {
    project.git.git("config", "core.sparseCheckout", "true");
    expect(await isolation()).toMatchObject({
      code: 0,
      findings: [{ level: "warn", message: expect.stringContaining("runs them in parallel: the checkout is sparse") }],
    });
    rmSync(join(project.git.path, ".git"), { recursive: true });
    expect(await isolation()).toMatchObject({
      findings: [{ level: "ok", message: expect.stringContaining(": the project is not in a git repository") }],
    });
  });

  test("counts what dead processes left, and removes it with --fix", async () => {
    await oneAttempt();
    const dead = await deadWorktree(`${worktreePrefix(project.location)}1`);
    const messages = (await isolation()).findings.map(({ message }) => message);
    expect(messages).toContain("1 worktree left behind by processes that no longer run");
    expect(messages).toContain("The work of 1 session is kept in refs/maestro");
    expect(filesBelow(dead)).not.toEqual({});
    // Of a repository that was removed.
    const gone = join(project.git.cache, "maestro", "gone-0123");
    mkdirSync(join(gone, "git"), { recursive: true });
    writeFileSync(join(gone, "git", "origin"), join(project.git.base, "no-such-repository/.git"));
    writeFileSync(join(project.git.cache, "maestro", "users-file"), "");
    const fixed = (await isolation({}, "--fix")).findings.map(({ message }) => message);
    expect(fixed).toContain("Removed 1 worktree of processes that no longer run");
    expect(fixed).toContain("Removed 1 cache folder of repositories that no longer exist");
    expect(filesBelow(dead)).toEqual({});
    expect(filesBelow(gone)).toEqual({});
    expect(filesBelow(join(project.git.cache, "maestro", "users-file"))).not.toEqual({});
    expect((await isolation()).findings.map(({ level }) => level)).toEqual(["ok", "ok"]);
  });

  test("reports an interrupted change, and finishes it with --fix", async () => {
    await oneAttempt();
    const env = { NODE_ENV: "test", MAESTRO_CRASH_AT: "integrate-step:2" };
    project.maestro(["apply", "1"], { env });
    expect((await isolation()).findings).toContainEqual({
      check: "isolation",
      level: "warn",
      message: `Applying attempt 1 of phase 1 (session ${SESSION}) was started but not finished`,
      hint: '"maestro doctor --fix" finishes it, and so does "maestro resume".',
    });
    const { code, findings } = await isolation({}, "--fix");
    expect(code).toBe(0);
    expect(findings.map(({ message }) => message)).toContain(
      `Applying attempt 1 of phase 1 (session ${SESSION}) had been interrupted; it is finished now`,
    );
    expect(project.files()).toEqual(after);
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeDefined();
  });

  const begun = async () => {
    const { base, commit } = await oneAttempt();
    const [from, to] = [base, commit].map((id) => project.git.git("rev-parse", `${id}^{tree}`)) as [string, string];
    writeIntent(project.location, { session: SESSION, phase: "1", attempt: 1, what: "integrate", from, to });
    project.write({ "src/new.ts": "new\n" });
  };

  test("finishes what a killed engine began, and records it", async () => {
    await begun();
    const { findings } = await isolation({}, "--fix");
    expect(findings.map(({ message }) => message)).toContain(
      `Integrating attempt 1 of phase 1 (session ${SESSION}) had been interrupted; it is finished now`,
    );
    expect(project.files()).toEqual(after);
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeDefined();
  });

  test("leaves nothing half done of a phase that is skipped, and of a session that is aborted", async () => {
    await begun();
    const { code, stderr } = await project.command(["skip", "1"]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("it is undone, because the phase was skipped or the session aborted"),
    ]);
    expect(project.files()).toEqual(before);
    expect(project.session.phases[0]?.attempts[0]?.integrated).toBeUndefined();
  });

  test("does not report the change of a running engine as interrupted", async () => {
    await oneAttempt();
    const tree = project.git.git("rev-parse", "HEAD^{tree}");
    const release = claimEngine(project.location);
    writeIntent(project.location, {
      session: SESSION,
      phase: "1",
      attempt: 1,
      what: "integrate",
      from: tree,
      to: tree,
    });
    try {
      const { findings } = await isolation({}, "--fix");
      expect(findings.map(({ message }) => message).join()).not.toContain("Integrating");
      expect(readIntent(project.location)).toBeDefined();
    } finally {
      release();
    }
    expect((await isolation()).findings.map(({ message }) => message).join()).toContain("Integrating");
  });

  test.each<[what: string, content: () => string, why: string]>([
    ["cannot be read", () => "{", "it is not JSON"],
    [
      "can never be finished",
      () => {
        const ids = { from: "1".repeat(40), to: "2".repeat(40) };
        return JSON.stringify({ v: 1, session: "s", phase: "1", attempt: 1, what: "apply", ...ids });
      },
      "the repository no longer has 1111",
    ],
  ])("sets a record aside that %s, and keeps it", async (_what, content, why) => {
    await oneAttempt();
    const file = join(project.path, ".gemini/state/integration.json");
    writeFileSync(file, content());
    const { code, findings } = await isolation({}, "--fix");
    expect(code).toBe(0);
    const told = findings.find(({ message }) => message.includes("Moved to .gemini/state/integration.json.corrupt-"));
    expect(told?.message).toContain(why);
    expect(readIntent(project.location)).toBeUndefined();
    expect(Object.entries(filesBelow(join(project.path, ".gemini/state")))).toContainEqual([
      expect.stringMatching(/^integration\.json\.corrupt-/),
      `- ${content()}`,
    ]);
  });

  test("fails on an unreadable record without --fix", async () => {
    await oneAttempt();
    writeFileSync(join(project.path, ".gemini/state/integration.json"), "{");
    const { code, findings } = await isolation();
    expect(code).toBe(3);
    expect(findings).toContainEqual(expect.objectContaining({ level: "fail", hint: expect.stringContaining("--fix") }));
  });
});
