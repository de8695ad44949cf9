import { chmodSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { locateState } from "../../src/store/location.ts";
import { SessionStore } from "../../src/store/session-store.ts";
import { commandLine } from "../support/command-line.ts";
import { createSession, Project, root } from "../support/project.ts";
import { status } from "../support/status.ts";

const journal = ".gemini/state/progress.jsonl";
let project: Project;
beforeEach(async () => {
  project = new Project();
  createSession(project);
  await commandLine(project, ["session", "transition", "1", "in_progress"]);
});
afterEach(() => project.remove());

describe("a damaged journal (F10, F11, C32)", () => {
  test("with a torn last line loses that line, with one warning, and stays usable", async () => {
    const whole = project.read(journal);
    writeFileSync(join(project.path, journal), `${whole}{"v":1,"seq":3,"ts":"2026-`);
    const run = await commandLine(project, ["status", "--json"]);
    expect(run.stderr).toMatch(/^WARNING: Dropped an unfinished record at the end of the journal \(line 3 of .*\n$/);
    expect(JSON.parse(run.stdout)).toMatchObject({ phases: [{ status: "in_progress" }, {}] });
    expect(project.read(journal)).toBe(whole);
    expect((await commandLine(project, ["status"])).stderr).toBe("");
  });

  test("cut anywhere in its last record shows the state before or after it", () => {
    const whole = Buffer.from(project.read(journal));
    const last = whole.lastIndexOf("\n", whole.length - 2) + 1;
    // Without the view, which would contain the content of the lost record.
    for (const length of [last, last + 1, last + 40, whole.length - 5, whole.length - 1, whole.length]) {
      writeFileSync(join(project.path, journal), whole);
      truncateSync(join(project.path, journal), length);
      project.run("rm", ["-f", ".gemini/state/active-session.md"]);
      expect(status(project).phases[0].status).toBe(length >= whole.length - 1 ? "in_progress" : "pending");
    }
  });

  test("whose last record was lost is completed from the view, which still has it", async () => {
    const whole = project.read(journal);
    writeFileSync(join(project.path, journal), whole.slice(0, whole.indexOf("\n") + 1));
    const run = await commandLine(project, ["status", "--json"]);
    expect(run.stderr).toContain(
      "The journal ends at record 1, but .gemini/state/active-session.md shows record 2: records were lost",
    );
    expect(JSON.parse(run.stdout).phases[0].status).toBe("in_progress");
  });

  test("with garbage at its end keeps the garbage aside", async () => {
    const whole = project.read(journal);
    writeFileSync(join(project.path, journal), `${whole}garbage\n`);
    expect((await commandLine(project, ["status"])).stderr).toContain("Dropped an unreadable record");
    const kept = project.list(".gemini/state").filter((name) => name.startsWith("progress.jsonl.corrupt-"));
    expect(kept.map((name) => project.read(join(".gemini/state", name)))).toEqual(["garbage\n"]);
    expect(project.read(journal)).toBe(whole);
  });

  test("with a bad line in the middle is parse_failed, names the line, and is left as it is", async () => {
    await commandLine(project, ["session", "note", "x"]);
    const damaged = project.read(journal).replace('"to":"in_progress"', '"to":"completed"');
    project.write(journal, damaged);
    const run = await commandLine(project, ["status", "--json"]);
    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({
      exists: false,
      error: "parse_failed",
      message: expect.stringContaining("line 2 of .gemini/state/progress.jsonl"),
    });
    for (const args of [["session", "note", "y"], ["archive"], ["session", "transition", "2", "in_progress"]]) {
      expect(await commandLine(project, args)).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("line 2"),
      });
    }
    expect(project.read(journal)).toBe(damaged);
    const active = await commandLine(project, ["state", "active"]);
    expect([active.code, active.stdout]).toEqual([0, project.read(".gemini/state/active-session.md")]);
    expect(active.stderr).toContain("WARNING: The session cannot be read: line 2");
  });

  test("is set aside by doctor --fix, and the session is resumed from its view", () => {
    project.write(journal, `garbage\n${project.read(journal)}`);
    expect(project.maestro(["doctor"]).stdout).toContain("FAIL  The session cannot be read: line 1");
    const run = project.maestro(["doctor", "--fix"]);
    expect(run.code).toBe(0);
    expect(status(project)).toMatchObject({
      session_id: "2026-02-14-task-api",
      phases: [{ status: "in_progress" }, {}],
    });
  });

  test("that a newer version wrote is refused, not rewritten", async () => {
    const newer = project.read(journal).replaceAll('{"v":1', '{"v":2');
    project.write(journal, newer);
    expect((await commandLine(project, ["session", "note", "x"])).code).toBe(1);
    expect(project.read(journal)).toBe(newer);
  });

  test.each(["a directory", "a FIFO", "a sparse gigabyte"])(
    "that is %s neither hangs nor crashes anything",
    async (what) => {
      project.run("rm", [journal]);
      if (what === "a directory") mkdirSync(join(project.path, journal));
      if (what === "a FIFO") project.run("mkfifo", [journal]);
      if (what === "a sparse gigabyte") project.run("truncate", ["-s", "1G", journal]);
      const run = await commandLine(project, ["status", "--json"]);
      expect([run.code, JSON.parse(run.stdout).error]).toEqual([1, "parse_failed"]);
      expect(run.stderr).not.toContain("defect");
    },
  );
});

describe("a disk that is full (F5, P11)", () => {
  test("keeps the old state, fails with a message, and is written to when there is room again", (context) => {
    const script = `
      cp -r .gemini/state saved && mount -t tmpfs -o size=64k,mode=700 none .gemini/state && cp -r saved/. .gemini/state/ &&
      dd if=/dev/zero of=.gemini/state/fill bs=1k 2>/dev/null
      m() { node "${root}dist/maestro.js" "$@"; }
      m session transition 1 completed; echo "code $?"; ls -A .gemini/state | grep -c tmp
      m doctor > doctor.txt; echo "doctor $?"
      m status --json | grep -c '"status": "in_progress"'
      rm .gemini/state/fill
      m session transition 1 completed; echo "code $?"
      ls -A .gemini/state`;
    const run = project.run("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    if (/unshare:|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
    expect(run.stdout).toBe(
      "code 1\n0\ndoctor 3\n2\nPhase 1 is completed\ncode 0\nactive-session.md\narchive\nprogress.jsonl\n",
    );
    expect(run.stderr).toMatch(
      /^ERROR: Cannot (lock|write) \.gemini\/state\/\S+: no space left on device \(ENOSPC\)\n$/,
    );
  });
});

describe("a project that cannot be written (F6)", () => {
  test("can still be read, and a change says why it is impossible", (context) => {
    const script = `mount --bind .gemini .gemini && mount -o remount,bind,ro .gemini
      node "${root}dist/maestro.js" status --json | grep -c exists
      node "${root}dist/maestro.js" session note x; echo "code $?"`;
    const run = project.run("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    if (/unshare:|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
    expect(run.stdout).toBe("1\ncode 1\n");
    expect(run.stderr).toMatch(/^ERROR: Cannot lock \.gemini\/state\/\.lock: read-only file system \(EROFS\)\n$/);
  });

  test("is a problem that doctor finds before there is a state directory", (context) => {
    const script = `rm -r .gemini && mkdir empty && mount -t tmpfs -o mode=700,ro none empty && cd empty
      node "${root}dist/maestro.js" doctor; echo "code $?"`;
    const run = project.run("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    if (/unshare:|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
    expect(run.stdout).toMatch(
      /\nFAIL {2}Failed to create directory: \.gemini\n {6}Reason: read-only file system \(EROFS\)/,
    );
    expect(run.stdout).toMatch(/\ncode 3\n$/);
  });

  test("can be read by another user without access to the archive and without a home directory", (context) => {
    if (process.getuid?.() !== 0) context.skip("needs root to become another user");
    project.run("sh", ["-c", "chmod 755 . .gemini .gemini/state; chmod 644 .gemini/state/*.*; mkdir -m 700 .home"]);
    const asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "node", join(root, "dist/maestro.js")];
    const run = project.run("setpriv", [...asNobody, "status", "--json"]);
    if (/Cannot find module/.test(run.stderr)) context.skip("the other user cannot read this checkout");
    expect(JSON.parse(run.stdout).exists).toBe(true);
    project.run("chmod", ["600", journal]);
    expect(JSON.parse(project.run("setpriv", [...asNobody, "status", "--json"]).stdout)).toMatchObject({
      exists: false,
      error: "io_error",
    });
    const active = project.run("setpriv", [...asNobody, "state", "active"]);
    expect([active.code, active.stdout]).toEqual([0, project.read(".gemini/state/active-session.md")]);
  });

  test("can be read by another user", (context) => {
    if (process.getuid?.() !== 0) context.skip("needs root to become another user");
    project.run("chmod", ["-R", "a+rX", "."]);
    chmodSync(project.path, 0o755);
    const run = project.run("setpriv", [
      "--reuid=65534",
      "--regid=65534",
      "--clear-groups",
      "node",
      join(root, "dist/maestro.js"),
      "status",
      "--json",
    ]);
    if (/Cannot find module/.test(run.stderr)) context.skip("the other user cannot read this checkout");
    expect(JSON.parse(run.stdout).exists).toBe(true);
  });
});

describe("a state directory that disappears (F20)", () => {
  const openStore = () =>
    new SessionStore(locateState(project.path, ".gemini"), { now: () => new Date(), warn: () => undefined });

  test("is not silently created again by a process that was using it", () => {
    const store = openStore();
    expect(store.read().state).toBe("open");
    const note = () => store.update(() => ({ events: [{ type: "session.noted", text: "x" }], result: undefined }));
    project.run("mv", [".gemini", "moved"]);
    expect(note).toThrow("has disappeared");
    expect(project.exists(".gemini")).toBe(false);
    project.run("mv", ["moved", ".gemini"]);
    note();
    project.run("rm", [journal]);
    expect(note).toThrow("The journal has disappeared");
    expect(project.exists(journal)).toBe(false);
  });

  test("is expected when another process archived the session", async () => {
    const store = openStore();
    expect(store.read().state).toBe("open");
    await commandLine(project, ["archive"]);
    expect(store.read().state).toBe("none");
  });
});
