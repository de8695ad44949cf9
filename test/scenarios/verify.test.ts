import { afterEach, describe, expect, test } from "vitest";
import { initRepository } from "../support/empty-repository.ts";
import {
  contextOf,
  delegated,
  handBack,
  phasesOf,
  report,
  Shelf,
  sessionProject,
  succeed,
  whileHolding,
} from "../support/hooks.ts";
import { allGone, background, journalOf, until } from "../support/processes.ts";
import { type PhaseSpec, Project } from "../support/project.ts";

const journal = ".gemini/state/progress.jsonl";

const shelf = new Shelf();
afterEach(() => shelf.clear());

/** A session whose first phase has these validation commands. */
function planned(validation: NonNullable<PhaseSpec["validation"]>): Project {
  const phases: PhaseSpec[] = [
    { id: 1, validation },
    { id: 2, agent: "tester", blocked_by: [1] },
  ];
  const project = sessionProject(phases);
  shelf.keep(project);
  return project;
}

/** Phase 1 delegated and reported as done; its commands are still to be run. */
function reported(...validation: string[]): Project {
  const project = planned(validation);
  handBack(project, "coder", delegated(project, "coder", "Phase: 1"), report());
  expect(phaseOf(project)).toMatchObject({ status: "in_progress" });
  return project;
}

const phaseOf = (project: Project) => phasesOf(project)[0];
const verify = (project: Project, ...args: string[]) => project.maestro(["verify", "1", ...args]);

describe("maestro verify", () => {
  test("completes the phase when every command passes, and the next one is ready (K143)", () => {
    const project = reported("echo one > ran", "test -f ran");
    const run = verify(project);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toBe("$ echo one > ran: passed\n$ test -f ran: passed\nPhase 1 is completed\n");
    expect(phaseOf(project)).toMatchObject({ status: "completed", validation: { result: "pass" }, errors: [] });
    expect(journalOf(project).map(({ seq }) => seq)).toEqual(journalOf(project).map((_, index) => index + 1));
    expect(delegated(project, "tester", "Test it.")).toContain("Phase: 2\n");
    expect(project.list(".gemini/state").filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("fails the phase at the first command that fails, with what it printed, and leaves the retry to the TechLead", () => {
    const project = reported("true", "echo broken >&2; exit 3", "touch never");
    const run = verify(project);
    expect([run.code, run.stderr]).toEqual([1, ""]);
    expect(run.stdout).toContain("exit code 3\nbroken\nPhase 1 is failed");
    expect(project.exists("never")).toBe(false);
    expect(phaseOf(project)).toMatchObject({
      status: "failed",
      retry_count: 0,
      validation: { result: "fail" },
      errors: [{ type: "validation", agent: "coder", resolved: false, message: expect.stringContaining("broken") }],
    });
    expect(JSON.parse(project.maestro(["doctor", "--json"]).stdout).findings).not.toContainEqual(
      expect.objectContaining({ check: "session", level: "fail" }),
    );
  });

  test.each([
    ["true", 0, { phase: "1", validation: "pass", status: "completed", detail: "$ true: passed" }],
    ["exit 7", 1, { phase: "1", validation: "fail", status: "failed", detail: "$ exit 7\nexit code 7" }],
  ])("answers with --json for programs: %s", (command, code, answer) => {
    const run = verify(reported(command), "--json");
    expect([run.code, JSON.parse(run.stdout)]).toEqual([code, answer]);
  });

  test("fails a command that takes too long, with all it has started", async () => {
    const project = reported("sleep 60 & sleep 60");
    const run = verify(project, "--validation-timeout", "1s");
    expect(run.code).toBe(1);
    expect(run.stdout).toContain("stopped after 1 s");
    expect(phaseOf(project)).toMatchObject({ status: "failed", errors: [{ type: "validation" }] });
    await allGone(project);
  });

  describe("with a command that may stay red and has no baseline", () => {
    const command = "cat log; exit 1";
    /** Phase 1 is delegated and reported; its agent left `log` with these lines. */
    const worked = (isGit: boolean, log: string) => {
      const project = planned([{ run: command, expect: "not_worse" }]);
      project.write("log", "error one\n");
      if (isGit) {
        initRepository(project.path);
        project.write(".gitignore", ".gemini/\n.home/\n.bin/\n");
        project.run("git", ["add", "-A"]);
        expect(project.run("git", ["commit", "-qm", "first"]).code).toBe(0);
      }
      const prompt = delegated(project, "coder", "Phase: 1");
      project.write("log", log);
      handBack(project, "coder", prompt, report());
      return project;
    };
    const taken = (project: Project) => journalOf(project).filter(({ type }) => type === "session.baseline_taken");

    test("takes it of the project before the work (C55)", () => {
      const same = worked(true, "error one\n");
      const run = verify(same);
      expect([run.code, run.stderr]).toEqual([0, ""]);
      expect(run.stdout).toContain("not worse than before the work (exit code 1), which is not proof");
      expect(taken(same)).toMatchObject([{ baseline: [{ command, result: "fails_now", failing: ["error one"] }] }]);
      expect(same.run("git", ["worktree", "list"]).stdout.trim().split("\n")).toHaveLength(1);

      const worse = worked(true, "error one\nerror two\n");
      expect(verify(worse).stdout).toContain("it did not have before the work:\n  error two");
    });

    test("says what to do when the project before the work is not known (C55)", () => {
      const project = worked(false, "error one\n");
      const run = verify(project);
      expect([run.code, taken(project)]).toEqual([1, []]);
      expect(run.stderr).toContain(`must pass: ${command}`);
      expect(phaseOf(project)).toMatchObject({ status: "failed" });
      const advised = [...run.stderr.matchAll(/`node "[^"]*" ([^`]*)`/g)].map(([, words = ""]) => words);
      expect(advised).toHaveLength(2);
      for (const words of advised) {
        const typed = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
        expect(project.maestro(typed).stderr, words).toBe("");
      }
      expect(phaseOf(project)).toMatchObject({ status: "completed" });
    });
  });

  test("redacts secrets in what it records and prints", () => {
    const project = reported("echo token=hunter2-hunter2-99; false");
    const run = project.maestro(["verify", "1"], { env: { DEPLOY_TOKEN: "hunter2-hunter2-99" } });
    expect(run.stdout).toContain("[redacted]");
    expect(run.stdout).not.toContain("hunter2-hunter2-99");
    // The plan itself is in the journal as it was approved.
    const recorded = journalOf(project).filter(({ type }) => type !== "session.created");
    expect(JSON.stringify(recorded)).not.toContain("hunter2-hunter2-99");
  });

  test("record A9: passes toolchain variables, MAESTRO_PASS_ENV and --pass-env to the commands (T9, C48)", () => {
    const needs = (name: string) => `test -n "$${name}"`;
    const project = reported(needs("JAVA_HOME"), needs("APP_ONE"), needs("DATABASE_URL"));
    const env = { JAVA_HOME: "/jdk", APP_ONE: "1", DATABASE_URL: "db", MAESTRO_PASS_ENV: "APP_*" };
    const run = project.maestro(["verify", "1", "--pass-env", "DATABASE_URL"], { env });
    expect([run.code, run.stderr]).toEqual([0, ""]);
  });

  test("record A9: names the exported variable that a failed command did not get, and how to pass it, but not its value (T9)", () => {
    const project = reported('echo "DATABASE_URL is not set"; exit 3');
    project.write(".env", "MAESTRO_PASS_ENV=DATABASE_URL\n");
    const run = project.maestro(["verify", "1"], { env: { DATABASE_URL: "postgres://canary" } });
    expect(run.code).toBe(1);
    expect(run.stdout).toContain(
      "exit code 3\nDATABASE_URL is exported, but was not passed to the command. To pass: --pass-env DATABASE_URL, or add to MAESTRO_PASS_ENV: DATABASE_URL\n",
    );
    expect(run.stdout).not.toContain("canary");
    expect(run.stderr).toContain("MAESTRO_PASS_ENV in ");
    expect(run.stderr).toContain("is ignored");
    expect(phaseOf(project)).toMatchObject({
      errors: [{ message: expect.stringContaining("--pass-env DATABASE_URL") }],
    });
  });

  test("is the command that the hook asks for", () => {
    const project = planned(["true"]);
    const said = contextOf(handBack(project, "coder", delegated(project, "coder", "Phase: 1"), report()));
    const command = /run them now: (.*)$/.exec(said)?.[1] ?? "";
    expect(project.run("sh", ["-c", command]).stdout).toContain("Phase 1 is completed");
  });
});

describe("maestro verify refuses, and changes nothing,", () => {
  function refuses(project: Project, code: number, message: RegExp, env: Record<string, string> = {}, phase = "1") {
    const before = project.exists(journal) ? project.read(journal) : "";
    const run = project.maestro(["verify", phase], { env });
    expect([run.code, run.stdout]).toEqual([code, ""]);
    expect(run.stderr).toMatch(message);
    expect(project.exists(journal) ? project.read(journal) : "").toBe(before);
    expect(project.exists("ran")).toBe(false);
  }
  const command = "touch ran";

  test("without a session", () => {
    const project = new Project();
    shelf.keep(project);
    refuses(project, 1, /No session is active/);
    expect(project.list()).toEqual([]);
  });

  test("a phase that has not been started, one that is done, and one that does not exist", () => {
    const project = planned([command]);
    refuses(project, 1, /Cannot verify phase 1: it is pending\n.*Delegate it first/);
    refuses(project, 1, /no phase "9"\n.*Its phases are 1, 2/, {}, "9");
    succeed(project, ["session", "transition", "1", "in_progress"]);
    const early = project.maestro(["session", "transition", "1", "completed"]);
    expect(early.stderr).toMatch(/its validation commands have not been run\n.*maestro\.js" verify 1`/);
    succeed(project, ["session", "transition", "1", "completed", "--user-decision"]);
    refuses(project, 1, /Cannot verify phase 1: it is completed/);
  });

  test("a phase without a report", () => {
    const project = planned([command]);
    delegated(project, "coder", "Phase: 1");
    refuses(
      project,
      1,
      /Cannot verify phase 1: its agent has not reported success yet\n.*its report is recorded when its agent returns/,
    );
  });

  test("a phase whose agent reported failure", () => {
    const project = planned([command]);
    handBack(project, "coder", delegated(project, "coder", "Phase: 1"), report({ status: "failure" }));
    refuses(project, 1, /Cannot verify phase 1: it is failed\n.*Delegate it first/);
  });

  test("a phase that is being worked on again: the report of the attempt before proves nothing", () => {
    const project = reported("test -f fixed && touch ran");
    expect(verify(project).code).toBe(1);
    delegated(project, "coder", "Phase: 1");
    project.write("fixed", "");
    refuses(project, 1, /Cannot verify phase 1: its agent has not reported success yet/);
  });

  test("a phase without validation commands", () => {
    const project = planned([]);
    delegated(project, "coder", "Phase: 1");
    refuses(project, 2, /Phase 1 has no validation commands in the plan/);
  });

  test("inside an attempt, and while an engine runs the session", async () => {
    const project = reported(command);
    refuses(project, 3, /This is already an attempt of Maestro/, { MAESTRO_ATTEMPT: "1" });
    await whileHolding(project, ".engine", () =>
      refuses(project, 3, new RegExp(`An engine is already running session \\S+ \\(process ${process.pid} since`)),
    );
  });
});

describe("maestro verify, interrupted", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("by %s leaves the phase as it was, and nothing running", async (signal, code) => {
    const project = reported("touch begun; test -f again || sleep 60");
    const before = project.read(journal);
    const run = background(project, ["verify", "1"]);
    await until("the command has begun", () => project.exists("begun"));
    expect(verify(project).code).toBe(3);
    run.child.kill(signal);
    const { code: ended, stderr, stdout } = await run.ended;
    expect([ended, stdout, stderr]).toEqual([code, "", "Interrupted; phase 1 is unchanged.\n"]);
    expect(project.read(journal)).toBe(before);
    await allGone(project);
    project.write("again", "");
    expect(verify(project).stdout).toContain("Phase 1 is completed");
  });
});
