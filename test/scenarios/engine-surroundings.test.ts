// A run whose environment fails: no runtime, a changed plan, a full disk, a state directory that disappears.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { quick, runPlan } from "../support/engine-run.ts";
import {
  allGone,
  background,
  maestro,
  processesOf,
  spawned,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { maestroPath, planPath, planText } from "../support/project.ts";
import { played, prepare, type Steps } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

describe("a run without what it needs", () => {
  test.concurrent("exits with 3 without a runtime on the PATH, says how to install it, and is resumed when the runtime is there", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      const env = agent.env();
      const run = await maestro(project, ["run", planPath], { ...env, PATH: "/usr/bin-that-is-not" });
      expect(run.code).toBe(3);
      expect(run.stderr).toContain("gemini was not found on PATH");
      expect(run.stderr).toContain("npm install -g @google/gemini-cli");
      expect(run.stderr).toContain('maestro.js" rehearse');
      const { status: session, notes, phases } = status(project);
      expect([session, phases[0].status]).toEqual(["in_progress", "pending"]);
      expect(notes[0].text).toMatch(/gemini was not found on PATH/);
      const again = await maestro(project, ["resume"], { ...env, PATH: "/usr/bin-that-is-not" });
      expect(again.code).toBe(3);
      const resumed = await maestro(project, ["resume"], env);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(agent.notes("start")).toHaveLength(1);
    }));

  test.concurrent.each([
    ["MAESTRO_GEMINI_EXTRA_ARGS", "'abc", 3],
    ["MAESTRO_MAX_RETRIES", "many", 3],
    ["MAESTRO_AGENT_TIMEOUT", "0", 3],
    ["MAESTRO_QUOTA_DELAY", "soon", 3],
  ])("refuses a bad %s before it creates a session", (name, value, code) =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      const engine = background(project, ["run", planPath], agent.env({ [name]: value }));
      await until("it ends", () => engine.child.exitCode !== null, 10_000);
      const run = await engine.ended;
      expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(name)]);
      expect(project.exists(".gemini/state/progress.jsonl")).toBe(false);
    }),
  );

  test.concurrent("exits with 2 and creates no session for an invalid plan, an unknown option or an unknown runtime", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [], { blocked_by: [7] })]);
      expect((await maestro(project, ["run", planPath], agent.env())).code).toBe(2);
      project.write(planPath, planText([played(1, [])]));
      expect((await maestro(project, ["run", planPath, "--timeout", "soon"], agent.env())).code).toBe(2);
      expect((await maestro(project, ["run", planPath, "--runtime", "clippy"], agent.env())).code).toBe(2);
      expect((await maestro(project, ["run", planPath, "--mode", "both"], agent.env())).code).toBe(2);
      expect(project.exists(".gemini/state")).toBe(false);
    }));
});

describe("a plan that changed since the start (F19, L166, L169)", () => {
  test.concurrent("is not followed until the user accepts it: the difference is shown; exit 4", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, []), played(2, [["hang"]], { blocked_by: [1] })]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("phase 2 runs", () => agent.notes("start").length === 2);
      engine.child.kill("SIGTERM");
      expect((await engine.ended).code).toBe(143);
      project.write(
        planPath,
        planText([played(1, []), played(2, [], { blocked_by: [1] }), played(3, [], { blocked_by: [2] })]),
      );
      const refused = await maestro(project, ["resume", "--yes", ...quick], agent.env());
      expect(refused.code, refused.stderr).toBe(4);
      expect(refused.stdout).toMatch(/~ phase 2: description\n/);
      expect(refused.stdout).toMatch(/\+ phase 3: Phase 3\n/);
      expect(refused.stdout).toContain("--accept-plan-change");
      expect(agent.notes("start")).toHaveLength(2);
      const resumed = await maestro(project, ["resume", "--yes", "--accept-plan-change", ...quick], agent.env());
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(agent.notes("start").map((note) => note.phase)).toEqual(["1", "2", "2", "3"]);
      expect(project.list(".gemini/plans/archive").filter((name) => name.endsWith(".superseded"))).toHaveLength(1);
    }));
});

describe("a plan that was deleted", () => {
  test.concurrent("is reported, and the session is resumed with its recorded plan when the user agrees", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["hang"]]), played(2, [], { blocked_by: [1] })]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("phase 1 runs", () => agent.notes("start").length === 1);
      engine.child.kill("SIGTERM");
      await engine.ended;
      rmSync(join(project.path, planPath));
      const refused = await maestro(project, ["resume", "--yes", ...quick], agent.env());
      expect([refused.code, refused.stdout]).toEqual([4, expect.stringContaining("--accept-plan-change")]);
      const resumed = await maestro(project, ["resume", "--yes", "--accept-plan-change", ...quick], agent.env());
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(agent.notes("start").map((note) => note.phase)).toEqual(["1", "1", "2"]);
    }));
});

describe("a full disk (F5, P1, P11)", () => {
  const command = `timeout 30 '${process.execPath}' '${maestroPath}'`;

  test("ends the run with the path and the reason, agents stopped, state intact; once there is space, the session can be resumed", async (context) => {
    await withProcesses(async (project) => {
      const fill = "test -e filled || { touch filled; head -c 4000000 /dev/zero >.gemini/fill; true; }";
      const agent = prepare(project, [
        played(1, [], { validation: [fill] }),
        played(2, [["hang"]]),
        // The prompt of this phase no longer fits on the disk, or the record before it.
        played(3, [], { blocked_by: [1] }),
      ]);
      const script = `cp -r .gemini/plans .plans && mount -t tmpfs -o size=400k,mode=700 tmpfs .gemini && mv .plans .gemini/plans || exit 99
        ${command} run ${planPath} --grace 300ms; echo "code $?"
        kill -0 $(sed -n 's/.*"phase":"2".*"pid":\\([0-9]*\\).*/\\1/p' .bin/starts.jsonl) 2>/dev/null || echo "agent gone"
        rm .gemini/fill
        ${command} doctor >/dev/null; echo "doctor $?"
        ${command} skip 2 >/dev/null
        ${command} resume --yes --grace 300ms >/dev/null; echo "resumed $?"`;
      const words = ["--user", "--map-root-user", "--mount", "sh", "-c", script];
      const run = await spawned(project, "unshare", words, agent.env()).ended;
      if (/unshare:|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
      expect(run.stdout, run.stderr).toContain("code 1\n");
      expect(run.stderr).toMatch(/ERROR: .*\.gemini\/.*no space left on device \(ENOSPC\)/);
      expect(run.stderr).not.toContain("defect in Maestro");
      expect(run.stdout).toContain("agent gone\ndoctor 0\n");
      expect(run.stdout, run.stderr).toMatch(/resumed 0\n$/);
      expect(agent.notes("start").filter((note) => note.phase === "1")).toHaveLength(1);
    });
  });

  test("or a limit on file sizes ends the run with the path and the reason", async (context) => {
    await withProcesses(async (project) => {
      const agent = prepare(project, [played(1, []), played(2, [], { blocked_by: [1] })]);
      const words = ["--fsize=6000", process.execPath, maestroPath, "run", planPath, ...quick];
      if (!existsSync("/usr/bin/prlimit")) context.skip("prlimit is not available here");
      const run = await spawned(project, "prlimit", words, agent.env()).ended;
      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(/ERROR: .*\.gemini\/.*file size limit exceeded \(EFBIG\)/);
      await allGone(project);
      const resumed = await maestro(project, ["resume", "--yes", ...quick], agent.env());
      expect(resumed.code, resumed.stderr).toBe(0);
    });
  });
});

describe("a state directory that disappears (F20, P11)", () => {
  const words = "Attempt 1 failed with status 429. Retrying with backoff";
  test.concurrent.each<[string, Steps]>([
    ["at work", [["sleep", 500]]],
    [
      "that tells of quota trouble",
      [
        ["stderr", words],
        ["sleep", 500],
      ],
    ],
  ])("under an agent %s ends the run with an error, and is not created again", (_, steps) =>
    withProcesses(async (project) => {
      // In one step: `rm` alone fails when the engine writes beside it.
      const remove = ["sh", "-c", "mv .gemini/state gone && rm -rf gone"];
      const { run } = await runPlan(project, [played(1, [["command", remove], ...steps])]);
      expect(run.code).toBe(3);
      expect(run.stderr).toMatch(/^ERROR: The (?:state directory|journal) has disappeared: \.gemini\/state/m);
      expect(run.stderr).not.toMatch(/^\s+at /m);
      expect(project.exists(".gemini/state")).toBe(false);
      expect(processesOf(project)).toEqual([]);
    }),
  );
});
