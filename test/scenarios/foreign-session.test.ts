// Maestro does not trust what a repository ships: its session, its journal, its .env. The built command, as a user types it in a fresh clone.

import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SessionEvent } from "../../src/session/events.ts";
import { commandLine } from "../support/command-line.ts";
import { everyEvent, journalOf, withField } from "../support/hostile-journal.ts";
import { createSession, Project, planText } from "../support/project.ts";
import { begin, eventsOf, move, phase, reported } from "../support/sample-session.ts";

/** A clone below a directory of its own, so that a write outside of the clone is noticed. */
function clone(): Project {
  const project = new Project();
  onTestFinished(() => project.remove());
  addAgent(project);
  return project;
}

/** Leaves a mark when it is started. */
function addAgent(project: Project): void {
  project.write(".bin/gemini", `#!/bin/sh\ncat >/dev/null; touch "${project.path}/started"; exit 1\n`);
  chmodSync(join(project.path, ".bin", "gemini"), 0o755);
}

const started = (project: Project) => project.exists("started");
const environment = (project: Project) => ({
  PATH: `${project.path}/.bin:${process.env.PATH}`,
  MAESTRO_MAX_RETRIES: "0",
});
const maestro = (project: Project, ...args: string[]) => commandLine(project, args, { env: environment(project) });

const phases = [phase("1", { validation: ["touch validated"] }), phase("2", { validation: ["touch validated"] })];
const plain = (events: { seq: number; ts: string }[]) => events.map(({ seq: _, ts: __, ...event }) => event);

/** Its mode is chosen, one phase is in progress and reported, the other one waits. */
const shipped = plain(eventsOf(phases, [move(1, "1", "pending", "in_progress"), reported(2, "1")])) as SessionEvent[];
const ship = (project: Project, events: readonly unknown[]) =>
  project.write(".gemini/state/progress.jsonl", journalOf(events));

describe("a session that came with a repository", () => {
  test.each([["resume"], ["resume", "--yes"], ["resume", "--mode", "parallel"], ["resume", "--detach"]])(
    "is shown with its commands and starts nothing: maestro %s %s",
    async (...args) => {
      const project = clone();
      ship(project, shipped);
      const { code, stderr } = await maestro(project, ...args.filter((word) => word !== undefined));
      expect([code, started(project), project.exists("validated")]).toEqual([4, false, false]);
      expect(stderr).toContain("You did not start session 2026-02-14-task-api on this machine");
      expect(stderr).toContain("runs: touch validated");
      expect(stderr).toContain('maestro.js" resume --accept-session');
    },
  );

  test("does not get its commands run by verify either", async () => {
    const project = clone();
    ship(project, shipped);
    const { code, stderr } = await maestro(project, "verify", "1");
    expect([code, project.exists("validated")]).toEqual([3, false]);
    expect(stderr).toMatch(/Cannot run the commands of session \S+: it was not started by you on this machine/);
  });

  test("runs once it is accepted, and is not asked about again", async () => {
    const project = clone();
    ship(project, shipped);
    await maestro(project, "resume", "--accept-session", "--accept-plan-change");
    expect(started(project) && project.exists("validated")).toBe(true);
    expect((await maestro(project, "resume")).stderr).not.toContain("You did not start");
  });

  test("is asked about again when its plan is no longer what was accepted", async () => {
    const project = clone();
    ship(project, shipped);
    await maestro(project, "resume", "--accept-session");
    const other = withField(shipped, [0, "plan", "phases", 1, "validation", 0], "touch elsewhere");
    ship(project, other);
    const { code, stderr } = await maestro(project, "resume", "--yes");
    expect([code, project.exists("elsewhere")]).toEqual([4, false]);
    expect(stderr).toContain("runs: touch elsewhere");
  });

  test("is not accepted by a record that the repository ships with it", async () => {
    const project = clone();
    ship(project, shipped);
    for (const folder of [".gemini/sessions", ".local/state/maestro/sessions"]) project.write(`${folder}/x.json`, "{}");
    expect((await maestro(project, "resume", "--yes")).code).toBe(4);
  });

  test("is not accepted by records that a .env leads to, which Gemini CLI has loaded for its shell", async () => {
    const project = clone();
    ship(project, shipped);
    await maestro(project, "resume", "--accept-session");
    project.run("mv", [".home/.local/state", "records"]);
    const inherited = { XDG_STATE_HOME: join(project.path, "records") };
    const resume = (env: Record<string, string>) =>
      project.maestro(["resume"], { env: { ...environment(project), ...inherited, ...env } }).stderr;
    expect(resume({})).not.toContain("You did not start");
    project.write(".env", `XDG_STATE_HOME=${inherited.XDG_STATE_HOME}\n`);
    expect(resume({ GEMINI_CLI: "1" })).toContain("You did not start session");
  });

  test("is not accepted by records that other users can write", async () => {
    const project = clone();
    createSession(project, [{ id: 1 }], "parallel");
    const records = join(project.path, ".home/.local/state/maestro/sessions");
    chmodSync(records, 0o777);
    expect((await maestro(project, "resume")).stderr).toContain("You did not start session");
    chmodSync(records, 0o700);
    expect((await maestro(project, "resume")).stderr).not.toContain("You did not start session");
  });

  test("differs from a session that the user created here, which runs without a question", async () => {
    const project = new Project();
    onTestFinished(() => project.remove());
    createSession(project, [{ id: 1 }], "parallel");
    addAgent(project);
    expect((await maestro(project, "resume")).stderr).not.toContain("You did not start");
    expect(started(project)).toBe(true);
  });

  test("does not become the user's own when it is rebuilt from a view", async () => {
    const project = clone();
    createSession(project, [{ id: 1 }], "parallel");
    const view = project.read(".gemini/state/active-session.md").replace(/\n<!-- maestro:view[^\n]*\n$/, "\n");
    const other = clone();
    other.write(".gemini/state/active-session.md", view);
    expect((await maestro(other, "status")).code).toBe(0);
    expect([(await maestro(other, "resume", "--yes")).code, started(other)]).toEqual([4, false]);
  });
});

describe("a journal that came with a repository", () => {
  test("cannot make maestro diff write a file", async () => {
    const project = clone();
    const victim = project.write(".home/.bashrc", "mine\n");
    project.run("git", ["init", "-q"]);
    const at = everyEvent().findIndex(({ type }) => type === "attempt.changed");
    ship(project, withField(everyEvent(), [at, "base"], `--output=${victim}`));
    const { code, stderr } = await maestro(project, "diff", "1");
    expect(code).toBe(1);
    expect(stderr.match(/^ERROR: /gm)).toHaveLength(1);
    expect(stderr).toContain("attempt.changed: base must be a full object id");
    expect(project.read(".home/.bashrc")).toBe("mine\n");
    const kept = project.list(".gemini/state").filter((name) => name.startsWith("progress.jsonl"));
    expect(kept).toContain("progress.jsonl");
  });

  test.each(["../../../escaped", "/tmp/escaped", "a/b", "..", "-x", "a\\b"])(
    "cannot write outside the project with the session id %j",
    (id) => {
      const project = clone();
      const inside = join(project.path, "deep", "project");
      mkdirSync(join(inside, ".gemini", "state"), { recursive: true });
      writeFileSync(
        join(inside, ".gemini", "state", "progress.jsonl"),
        journalOf(withField(shipped, [0, "session_id"], id)),
      );
      for (const verb of [["status"], ["archive"], ["resume", "--accept-session"], ["abort"], ["report"]]) {
        const { stderr } = project.maestro(verb, { cwd: inside, env: environment(project) });
        expect(stderr).toContain("session_id must be the id of a session");
      }
      expect([started(project), existsSync(join(project.path, "escaped")), project.list("deep")]).toEqual([
        false,
        false,
        ["project"],
      ]);
    },
  );

  test("cannot name the files of an attempt outside of its batch", async () => {
    const project = clone();
    project.write("secret.log", "the secret\n");
    const events = plain(
      eventsOf(phases, [move(1, "1", "pending", "in_progress"), begin(2, "1", 1, { name: "../../../../secret" })]),
    );
    ship(project, events);
    const { code, stdout, stderr } = await maestro(project, "logs", "1");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("attempt.started: name must be a name");
  });
});

describe("a project's .env", () => {
  const withPlan = () => {
    const project = clone();
    project.write("plan.md", planText([{ id: 1 }]));
    return project;
  };

  test("runs no setup command and says so", async () => {
    const project = withPlan();
    project.write(".env", `MAESTRO_WORKTREE_SETUP="touch ${project.path}/set-up"\n`);
    const { stderr } = await maestro(project, "run", "plan.md", "--mode", "parallel");
    expect(project.exists("set-up")).toBe(false);
    expect(stderr).toContain(
      `MAESTRO_WORKTREE_SETUP in ${project.path}/.env is ignored: Maestro would run it as a command`,
    );
    expect(stderr).toContain("export MAESTRO_WORKTREE_SETUP=");
  });

  test.each(["parallel", "sequential"])("does not consent for the user: MAESTRO_EXECUTION_MODE=%s", async (mode) => {
    const project = withPlan();
    project.write(".env", `MAESTRO_EXECUTION_MODE=${mode}\n`);
    const { code, stderr } = await maestro(project, "run", "plan.md");
    expect([code, started(project)]).toEqual([4, false]);
    expect(stderr).toContain(`The project's .env proposes ${mode} mode`);
  });

  test("causes one warning in every command", async () => {
    const project = withPlan();
    project.write(".env", "MAESTRO_STATE_DIR=/elsewhere\n");
    await maestro(project, "session", "create", "plan.md");
    for (const words of [["status"], ["session", "note", "x"], ["skip", "1"], ["archive"]]) {
      const { stderr } = await maestro(project, ...words);
      expect(stderr.match(/is ignored/g), words.join(" ")).toHaveLength(1);
    }
  });

  test("makes no directory outside of the project", async () => {
    const project = withPlan();
    const target = join(project.path, ".home", ".ssh");
    project.write(".env", `MAESTRO_STATE_DIR=${target}\n`);
    await maestro(project, "workspace");
    await maestro(project, "session", "create", "plan.md");
    expect([existsSync(target), project.exists(".gemini/state/progress.jsonl")]).toEqual([false, true]);
  });

  test.each(["/etc/passwd", "secret-link.json"])("shows nothing of a file as prices: %s", async (file) => {
    const project = withPlan();
    project.write("inside/secret.txt", "hunter2-is-the-password\n");
    project.run("ln", ["-s", "/etc/passwd", "secret-link.json"]);
    project.write(".env", `MAESTRO_PRICES=${file}\n`);
    const { stdout, stderr } = await maestro(project, "run", "plan.md", "--dry-run");
    expect(`${stdout}${stderr}`).not.toContain("root:");
  });

  test("shows nothing of a file in the project that is not JSON", async () => {
    const project = withPlan();
    project.write("notes.txt", "hunter2-is-the-password\n");
    project.write(".env", "MAESTRO_PRICES=notes.txt\n");
    const { code, stderr } = await maestro(project, "run", "plan.md", "--dry-run");
    expect([code, stderr.includes("hunter2")]).toEqual([3, false]);
    expect(stderr).toContain("not JSON");
  });
});
