// A journal from elsewhere cannot harm a terminal, and no secret is left in the state directory.

import { existsSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import type { SessionEvent } from "../../src/session/events.ts";
import { encodeChange } from "../../src/store/journal/record.ts";
import { hook } from "../support/hooks.ts";
import { maestro, TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { createSession, maestroPath, type Project, planPath, planText, withProject } from "../support/project.ts";
import { frozenPhase, frozenPlan } from "../support/session.ts";
import { played, prepare } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const journal = ".gemini/state/progress.jsonl";
const evil =
  "A\u001b]0;owned\u0007\u001b[2J\u001b[8mB\u001b]52;c;aGk=\u0007\u009b31mC\u202egnp.exe\u2066\u200b\u{e0041}\ufdd4D\ufdd6\u001b[?1049h\rE";
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const unseen = /\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}/u;

/** A session in whose journal every text is hostile, with checksums as they should be. */
function hostileSession(project: Project): void {
  createSession(project);
  const agent = "coder";
  const context = {
    key_interfaces_introduced: [evil],
    patterns_established: [evil],
    integration_points: [evil],
    assumptions: [evil],
    warnings: [evil],
  };
  const text = { title: evil, description: evil, validation_criteria: [evil], validation: [evil] };
  const started = { phase: "1", attempt: 1, agent, run: "r", runtime: "gemini", model: "gemini-2.5-pro" };
  const files = { batch: "b", name: "coder.p1-1", prompt_bytes: 1, timeout_ms: 1 };
  const error = {
    agent,
    timestamp: "2026-02-14T22:58:00.000Z",
    type: "runtime" as const,
    message: evil,
    resolution: evil,
  };
  const command = { command: evil, exit_code: 1, duration_ms: 1, output: evil };
  const events: SessionEvent[] = [
    {
      type: "session.created",
      session_id: "2026-02-14-task-api",
      task: evil,
      execution_mode: "sequential",
      plan: { ...frozenPlan([frozenPhase("1", text), frozenPhase("2", { ...text, blocked_by: ["1"] })]), title: evil },
    },
    { type: "session.noted", text: evil },
    { type: "phase.moved", phase: "1", from: "pending", to: "in_progress", reason: evil },
    { type: "attempt.started", ...started, ...files },
    {
      type: "phase.handed_off",
      phase: "1",
      agent,
      handoff: { status: "failure", missing: [evil], summary: evil, downstream_context: context },
    },
    {
      type: "phase.validated",
      phase: "1",
      result: "fail",
      detail: evil,
      evidence: { tree: null, commands: [command] },
    },
    { type: "phase.warned", phase: "1", code: "left_out", message: evil },
    {
      type: "attempt.finished",
      phase: "1",
      attempt: 1,
      outcome: "failure",
      exit_code: 1,
      signal: null,
      duration_ms: 1,
      message: evil,
      usage: null,
    },
    { type: "phase.error_added", phase: "1", error: { ...error, resolved: false } },
    { type: "phase.moved", phase: "1", from: "in_progress", to: "failed", reason: evil },
    { type: "session.status_set", status: "failed", summary: evil },
  ];
  const { bytes } = encodeChange({ seq: 0, crc: "" }, "2026-02-14T22:58:00.000Z", events);
  project.run("rm", [".gemini/state/active-session.md"]);
  project.write(journal, bytes);
}

describe("a journal full of escapes", () => {
  test.each([
    "status",
    "status --json",
    "report",
    "report --json",
    "escalate 1",
    "logs 1",
    "diff 1",
    "session read",
    "doctor",
    "resume --dry-run",
    "skip 1",
    "archive",
  ])("reaches no terminal through maestro %s", (words) =>
    withProject((project) => {
      hostileSession(project);
      const run = project.maestro(words.split(" "));
      const shown = run.stdout + run.stderr;
      expect(shown).not.toBe("");
      expect(shown).not.toMatch(acting);
      expect(shown).not.toMatch(unseen);
    }),
  );

  test("shows what is hidden in a title", () =>
    withProject((project) => {
      hostileSession(project);
      expect(project.maestro(["status"]).stdout).toContain("\\u202egnp.exe\\u2066\\u200b\\u{e0041}");
    }));

  test.each(["SessionStart", "BeforeAgent", "PreCompress", "SessionEnd"])(
    "reaches no terminal through the hook %s",
    (event) =>
      withProject((project) => {
        hostileSession(project);
        const { reply, stdout, stderr } = hook(project, event, { prompt: "/maestro:status" });
        expect(stdout + stderr).not.toMatch(acting);
        expect(stdout + stderr).not.toMatch(unseen);
        expect(`${reply.systemMessage ?? ""}${reply.reason ?? ""}`).not.toMatch(acting);
        expect(`${reply.systemMessage ?? ""}${reply.reason ?? ""}`).not.toMatch(unseen);
      }),
  );

  test.skipIf(!existsSync("/usr/bin/script")).each(["status", "report"])(
    "brings no colour of its own to the terminal of maestro %s",
    (verb) =>
      withProject((project) => {
        hostileSession(project);
        const command = `env -u NO_COLOR '${process.execPath}' '${maestroPath}' ${verb}`;
        const { stdout } = project.run("script", ["-qefc", command, "/dev/null"], {
          env: { TERM: "xterm" },
        });
        const own = /\u001b\[(?:1|2|22|3[1236]|39)m/g;
        expect(stdout).toMatch(own);
        expect(stdout.replace(own, "").replaceAll("\r\n", "\n")).not.toMatch(acting);
        expect(stdout).not.toMatch(unseen);
      }),
  );
});

const password = "Tr0ub4dor-and-3";
const secrets = {
  title: `hf_${"aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbC"}`,
  address: `postgres://app:${password}@db.example.org/app`,
  webhook: `https://hooks.slack.com/services/T00000000/B00000000/${"aB3dE5gH7jK9mN1pQ2rS4tU6"}`,
};

/** All text that Maestro keeps, except the plan that the user wrote. */
function keptOf(project: Project): string {
  return project.run("grep", ["-raF", "--exclude-dir=plans", "", ".gemini"]).stdout;
}

function expectNoSecret(text: string): void {
  for (const part of [password, secrets.title, secrets.webhook.slice(-24)]) expect(text).not.toContain(part);
}

describe("a plan with secrets in it", () => {
  const plan = planText(
    [
      {
        id: 1,
        description: `Connect to ${secrets.address} and tell ${secrets.webhook}.`,
        validation: ["touch first", `PGPASSWORD=${password} touch ran`],
      },
    ],
    `Use ${secrets.title}`,
  );

  test("is recorded without them, and the validator names phase and field", () =>
    withProject((project) => {
      project.write(planPath, plan);
      const checked = JSON.parse(project.maestro(["validate", planPath, "--json"]).stdout);
      const found = checked.warnings.filter(({ code }: { code: string }) => code === "secret_in_plan");
      expect(found.map(({ message }: { message: string }) => /^(.*? )?"(\w+)"/.exec(message)?.[0])).toEqual([
        'The plan: "title"',
        'Phase 1: "description"',
        'Phase 1: "validation"',
      ]);
      expect(checked.valid).toBe(true);
      const run = project.maestro(["session", "create", planPath, "--task", `Look at ${secrets.address}`]);
      expect(run.code, run.stderr).toBe(0);
      project.maestro(["session", "note", `seen ${secrets.webhook}`]);
      expectNoSecret(keptOf(project));
      expect(project.read(journal)).toContain("postgres://app:[redacted]@db.example.org/app");
      expect(project.read(planPath)).toBe(plan);
      expect(JSON.parse(project.maestro(["status", "--json"]).stdout).conflicts ?? []).toEqual([]);
    }));

  test("is revised without them: the file that is written has the hash that is recorded", () =>
    withProject((project) => {
      createSession(project);
      project.write("next.md", plan);
      const run = project.maestro(["session", "revise", "next.md"]);
      expect(run.code, run.stderr).toBe(0);
      expectNoSecret(project.run("grep", ["-raF", "", ".gemini"]).stdout);
      expect(project.maestro(["status"]).stdout).not.toContain("The plan has changed");
    }));

  test("runs no command that had a secret in it, and says what to do", () =>
    withProcesses(async (project) => {
      const validation = ["touch first", `PGPASSWORD=${password} touch ran`];
      const agent = prepare(project, [played(1, [], { validation })]);
      const run = await maestro(
        project,
        ["run", planPath, "--grace", "300ms"],
        agent.env({ MAESTRO_MAX_RETRIES: "0" }),
      );
      expect(run.code).not.toBe(0);
      expect(project.exists("ran")).toBe(false);
      const report = (await maestro(project, ["status", "--json"])).stdout;
      expect(report).toContain("not run: the command contained a secret");
      expect(report).toContain("--pass-env");
      expectNoSecret(keptOf(project) + run.stdout + run.stderr);
    }));

  test("leaves nothing of what an agent prints in its results", () =>
    withProcesses(async (project) => {
      const said = `connected to ${secrets.address}, told ${secrets.webhook}`;
      const agent = prepare(project, [played(1, [["leak", "SAID"]])]);
      const run = await maestro(
        project,
        ["run", planPath, "--grace", "300ms", "--pass-env", "SAID"],
        agent.env({ SAID: said }),
      );
      expect(run.code, run.stderr).toBe(0);
      expect(project.read(".gemini/parallel/2026-02-14-task-api/results/coder.p1-1.log")).toContain("key=connected to");
      expectNoSecret(keptOf(project) + run.stdout + run.stderr);
    }));
});

describe("a session file of 4 MB that is not a session", () => {
  test.each([
    ["quotes", '"'],
    ["brackets", "["],
    ["backslashes", "\\"],
    ["dashes", "- "],
    ["anchors", "&a *a "],
    ["line breaks", "\r\n"],
  ])("costs the hook %s little", (_what, fill) =>
    withProject((project) => {
      project.write(".gemini/state/active-session.md", `---\n${fill.repeat(3_990_000 / fill.length)}\n---\n`);
      const started = performance.now();
      const { reply } = hook(project, "SessionStart");
      expect(performance.now() - started).toBeLessThan(3000);
      expect(reply.systemMessage).toContain("cannot be read");
    }),
  );

  test("an .env of 50 MB costs a hook little, and its first lines count", () =>
    withProject((project) => {
      project.write(".env", `MAESTRO_STATE_DIR=.state\n${'A="x\n'.repeat(10_000_000)}`);
      const started = performance.now();
      const { reply } = hook(project, "SessionStart");
      expect(performance.now() - started).toBeLessThan(3000);
      expect(reply.systemMessage).toContain(".state");
    }));
});
