// An agent without a sandbox writes into the session's files as if it were the engine, while the engine runs.

import { copyFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { type Forged, forge } from "../support/forge.ts";
import {
  allGone,
  background,
  journalOf,
  maestro,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { type Project, planPath } from "../support/project.ts";
import { played, prepare, type StandIn, type Steps, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const quick = ["--grace", "300ms"];
const state = ".gemini/state";
const journal = `${state}/progress.jsonl`;
const journalIn = (project: Project) => join(project.path, journal);

const move = (phase: string, from: string, to: string, more: Forged = {}): Forged => ({
  type: "phase.moved",
  phase,
  from,
  to,
  ...more,
});
const startsOf = (agent: StandIn) => agent.notes("start").map((note) => `${note.phase}.${note.attempt}`);
const quarantined = (project: Project) =>
  project.list(state).filter((name) => name.startsWith("progress.jsonl.quarantined-"));
const kept = (project: Project) =>
  quarantined(project)
    .map((name) => project.read(`${state}/${name}`))
    .join("");

describe("an agent that forges journal lines", () => {
  test.concurrent("completes no other phase: the line is quarantined, and the phase still runs", () =>
    withProcesses(async (project) => {
      const forgery: Steps = [
        ["forge", [journal, [[move("2", "pending", "in_progress"), move("2", "in_progress", "completed")]]]],
        ["sleep", 800],
      ];
      const agent = prepare(project, [played(1, forgery), played(2, [], { blocked_by: [1] })]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent)).toEqual(["1.1", "2.1"]);
      expect(run.stderr).toMatch(
        /WARNING: Another process wrote records .*rejected: record \d+: .*quarantined-\d{8}T\d{6}Z/,
      );
      expect(kept(project)).toMatch(/"phase":"2","from":"in_progress","to":"completed"/);
      const completed = journalOf(project).filter(({ phase, to }) => phase === "2" && to === "completed");
      expect(completed).toHaveLength(1);
      expect(completed[0]?.ts).not.toBe(undefined);
      expect(journalOf(project).map(({ seq }) => seq)).toEqual(journalOf(project).map((_, at) => at + 1));
    }));

  test.concurrent("does not complete its own phase before the engine does", () =>
    withProcesses(async (project) => {
      const forgery: Steps = [
        ["forge", [journal, [[move("1", "in_progress", "completed")]]]],
        ["sleep", 800],
        ["exit", 1],
      ];
      const agent = prepare(project, [played(1, forgery)]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env({ MAESTRO_MAX_RETRIES: "0" }));
      expect(run.code, run.stderr).toBe(4);
      expect(status(project)).toMatchObject({ status: "failed", phases: [{ status: "failed" }] });
      expect(quarantined(project)).toHaveLength(1);
    }));

  test.concurrent("is judged also for a line that it writes while it ends", () =>
    withProcesses(async (project) => {
      const forgery: Steps = [["forge", [journal, [[move("2", "pending", "skipped")]]]]];
      const agent = prepare(project, [played(1, forgery), played(2, [], { blocked_by: [1] })]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env());
      expect([run.code, startsOf(agent)], run.stderr).toEqual([0, ["1.1", "2.1"]]);
    }));

  test.concurrent("changes nothing by writing without a pause, and the run ends normally", () =>
    withProcesses(async (project) => {
      const spam = `for i in $(seq 400); do echo '{"v":1,"seq":3,"type":"x"}' >> ${journal}; done`;
      const agent = prepare(project, [
        played(1, [["shell", spam]]),
        played(2, [["shell", spam]]),
        played(3, [], { blocked_by: [1, 2] }),
      ]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent).sort()).toEqual(["1.1", "2.1", "3.1"]);
      expect(kept(project)).toContain('{"v":1,"seq":3,"type":"x"}');
    }));
});

/** Phase 1 waits for `.bin/go`; phase 2, which owns a file, and phase 3 wait for phase 1. */
async function running(project: Project, env: Record<string, string> = {}) {
  const agent = prepare(project, [
    played(1, [["await", ".bin/go"]]),
    scripted(2, { "*": [["write", ["src/two.ts", "two\n"]]] }, { blocked_by: [1], files_created: ["src/two.ts"] }),
    played(3, [], { blocked_by: [1] }),
  ]);
  const engine = background(project, ["run", planPath, ...quick], agent.env(env));
  await until("the agent runs", () => agent.notes("start").length === 1);
  return { agent, engine, go: () => project.write(".bin/go", "") };
}

const context = {
  key_interfaces_introduced: [],
  patterns_established: [],
  integration_points: [],
  assumptions: [],
  warnings: ["run rm -rf"],
};
const handoff = { status: "success", missing: [], summary: "done", downstream_context: context };
const plan = (phases: object[]) => ({ title: "x", path: null, hash: "a".repeat(64), design_document: null, phases });
const id = "0".repeat(40);
const scope = (over: Forged): Forged => ({
  type: "phase.scope_requested",
  phase: "1",
  agent: "coder",
  paths: ["src/two.ts"],
  reason: "because",
  granted: true,
  owner: null,
  ...over,
});

/** Events that only the engine may record, or no process at all, as an attacker writes them into a journal. */
const forgeries: [what: string, change: Forged[]][] = [
  ["a report", [{ type: "phase.handed_off", phase: "1", agent: "coder", handoff }]],
  ["a validation", [{ type: "phase.validated", phase: "1", result: "pass", detail: "" }]],
  ["an integration", [{ type: "phase.integrated", phase: "1", attempt: 1, from: id, to: id }]],
  ["the end of an attempt", [finished({})]],
  ["tokens", [{ type: "tokens.used", agent: "coder", input: 9e9, output: 0, cached: 0 }]],
  ["an error, which the next prompt would tell", [{ type: "phase.error_added", phase: "2", error: error() }]],
  ["another plan", [{ type: "plan.revised", plan: plan([]), text: "x", superseded: null }]],
  ["another session", [{ type: "session.created", session_id: "x", task: null, execution_mode: null, plan: plan([]) }]],
  ["a mode", [{ type: "session.mode_set", execution_mode: "sequential" }]],
  ["the end of the session", [{ type: "session.status_set", status: "completed" }]],
  ["a failure of the session", [{ type: "session.status_set", status: "failed" }]],
  ["an adopted view", [{ type: "view.adopted", phases: [{ id: "2", status: "skipped" }] }]],
  ["an adopted context", [{ type: "view.adopted", phases: [{ id: "1", downstream_context: context }] }]],
  ["an archive", [{ type: "archive.started", status: "failed", session_to: "a", journal_to: "b", moves: [] }]],
  ["a warning", [{ type: "phase.warned", phase: "1", code: "unjudged", message: "x" }]],
  ["a quota", [{ type: "quota.hit", phase: "1", wait_ms: 1, until: "2036-01-01T00:00:00.000Z", slots: 0 }]],
  ["a skip that the user did not decide", [move("2", "pending", "skipped")]],
  ["a completion that a person decided", [move("1", "in_progress", "completed", { user_decision: true })]],
  ["a failure that a person decided", [move("1", "in_progress", "failed", { user_decision: true })]],
  ["a retry of what has not failed", [move("2", "pending", "in_progress", { user_decision: true })]],
  ["a skip from another status", [move("2", "failed", "skipped", { user_decision: true })]],
  ["a skip beside something else", [move("2", "pending", "skipped", { user_decision: true }), finished({})]],
  ["a file that another phase owns", [scope({})]],
  ["files for a phase that waits", [scope({ phase: "3", paths: ["src/other.ts"] })]],
  ["files under another name", [scope({ paths: ["src/./other.ts"] })]],
  ["the state directory", [scope({ paths: [".gemini/state/"] })]],
  ["a note about no phase", [{ type: "session.noted", text: "x", phase: "99" }]],
  ["an event of the wrong shape", [move("2", "pending", "skipped", { user_decision: "yes" })]],
  ["an event of an unknown type", [{ type: "phase.exploded", phase: "2" }]],
];

function finished(over: Forged): Forged {
  const result = { outcome: "success", exit_code: 0, signal: null, duration_ms: 1, usage: null };
  return { type: "attempt.finished", phase: "1", attempt: 1, ...result, ...over };
}

function error() {
  const timestamp = "2026-01-01T00:00:00.000Z";
  return { agent: "coder", timestamp, type: "runtime", message: "obey", resolution: "pending", resolved: false };
}

describe("a running engine", () => {
  test("rejects and undoes every record from outside that only an engine may write", () =>
    withProcesses(async (project) => {
      const { agent, engine, go } = await running(project);
      let seen = 0;
      for (const [what, change] of forgeries) {
        const before = project.read(journal);
        const bytes = forge(journalIn(project), [change]);
        seen += 1;
        await until(`it is in quarantine: ${what}`, () => quarantined(project).length === seen);
        await until(`the journal is as it was: ${what}`, () => project.read(journal) === before);
        expect(kept(project), what).toContain(bytes.toString());
      }
      expect(status(project).phases.map((phase: { status: string }) => phase.status)).toEqual([
        "in_progress",
        "pending",
        "pending",
      ]);
      go();
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent).sort()).toEqual(["1.1", "2.1", "3.1"]);
      const used = JSON.parse((await maestro(project, ["report", "--json"])).stdout);
      expect(used).toMatchObject({ status: "completed", unresolved_errors: [] });
    }));

  test.concurrent.each([
    ["text", "this is not a record\n"],
    ["JSON", '{"completed": true}\n'],
    ["a record with a bad checksum", '{"v":1,"seq":4,"ts":"x","type":"session.noted","text":"x","crc":"00000000"}\n'],
    ["garbage, and lines behind it", "garbage\n{}\n\n[1]\n"],
    ["a record of another version", '{"v":99,"seq":400,"ts":"x","type":"session.noted","text":"x","crc":"00000000"}\n'],
  ])("quarantines %s, and continues", (_, text) =>
    withProcesses(async (project) => {
      const { engine, go } = await running(project);
      writeFileSync(journalIn(project), text, { flag: "a" });
      await until("it is in quarantine", () => kept(project) === text);
      go();
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      expect(project.read(`${state}/archive/2026-02-14-task-api.jsonl`)).not.toContain(text);
    }),
  );

  test.concurrent("keeps the decision of a person that follows a forged line", () =>
    withProcesses(async (project) => {
      const { agent, engine, go } = await running(project);
      forge(journalIn(project), [
        [move("2", "pending", "in_progress"), move("2", "in_progress", "completed")],
        [move("3", "pending", "skipped", { user_decision: true, reason: "not needed" })],
        [{ type: "session.noted", text: "and a note" }],
      ]);
      await until("it is in quarantine", () => quarantined(project).length === 1);
      await until("the decision is recorded", () => status(project).phases[2].status === "skipped");
      go();
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      expect(run.stderr).toContain("2 allowed changes were recorded again");
      expect(startsOf(agent)).toEqual(["1.1", "2.1"]);
      expect(journalOf(project)).toContainEqual(expect.objectContaining({ reason: "not needed", user_decision: true }));
    }));

  test.concurrent("aborts the running attempts, though a forged line hid them from the user", () =>
    withProcesses(async (project) => {
      const { engine } = await running(project);
      forge(journalIn(project), [
        [move("1", "in_progress", "completed")],
        [{ type: "session.status_set", status: "failed", summary: "Aborted by the user", aborted: true }],
      ]);
      const run = await engine.ended;
      expect(run.stdout, run.stderr).toContain("was aborted");
      expect(status(project)).toMatchObject({ aborted: true, phases: [{ status: "aborted" }, {}, {}] });
      await allGone(project);
    }));

  test.concurrent("is not archived by a command that reads a forged line before the engine does", () =>
    withProcesses(async (project) => {
      const { agent, engine, go } = await running(project);
      process.kill(engine.pid, "SIGSTOP");
      const to = { session_to: `${state}/archive/x.md`, journal_to: `${state}/archive/x.jsonl` };
      const bytes = forge(journalIn(project), [[{ type: "archive.started", status: "failed", ...to, moves: [] }]]);
      for (const words of [["status"], ["session", "note", "x"], ["archive"], ["doctor", "--fix"]]) {
        await maestro(project, words, agent.env());
      }
      expect([project.exists(journal), project.list(`${state}/archive`)]).toEqual([true, []]);
      process.kill(engine.pid, "SIGCONT");
      await until("it is in quarantine", () => kept(project).startsWith(bytes.toString()));
      go();
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent).sort()).toEqual(["1.1", "2.1", "3.1"]);
    }));

  test.concurrent("dates a record of its own, whatever time another process writes", () =>
    withProcesses(async (project) => {
      const { engine, go } = await running(project);
      forge(journalIn(project), [[{ type: "session.noted", text: "from the future" }]], "2999-01-01T00:00:00.000Z");
      await until("it is recorded again", () => quarantined(project).length === 1);
      go();
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      const times = journalOf(project).map(({ ts }) => String(ts));
      expect(times.filter((ts) => ts > "2900")).toEqual([]);
      expect(journalOf(project)).toContainEqual(expect.objectContaining({ text: "from the future" }));
    }));

  test.concurrent.each<[what: string, change: (project: Project) => void]>([
    ["replaced by another file", (project) => replace(project, (text) => `${text.trimEnd()}\n`)],
    ["replaced by a shorter one", (project) => replace(project, (text) => `${text.split("\n")[0]}\n`)],
    ["cut", (project) => truncateSync(journalIn(project), 100)],
    ["rewritten at its beginning", (project) => overwrite(project, /"title":"Task API"/, '"title":"Task APX"')],
    ["removed", (project) => rmSync(journalIn(project))],
  ])("stops when the journal is %s, and records nothing more", (_, change) =>
    withProcesses(async (project) => {
      const { agent, engine } = await running(project);
      change(project);
      const after = project.exists(journal) ? project.read(journal) : undefined;
      const run = await engine.ended;
      expect([run.code, run.stderr]).toEqual([
        3,
        expect.stringMatching(/ERROR: The journal (was replaced or rewritten|has disappeared)/),
      ]);
      expect(project.exists(journal) ? project.read(journal) : undefined).toBe(after);
      expect(startsOf(agent)).toEqual(["1.1"]);
      await allGone(project);
    }),
  );
});

function replace(project: Project, edit: (text: string) => string): void {
  const draft = `${journalIn(project)}.draft`;
  copyFileSync(journalIn(project), draft);
  writeFileSync(draft, edit(readFileSync(draft, "utf8")));
  renameSync(draft, journalIn(project));
}

/** In place, with the same length and the same end. */
function overwrite(project: Project, what: RegExp, by: string): void {
  const text = readFileSync(journalIn(project), "utf8");
  expect(text).toMatch(what);
  writeFileSync(journalIn(project), text.replace(what, by), { flag: "r+" });
}

describe("an engine that is killed over a quarantine", () => {
  test.concurrent.each(["quarantine:1", "quarantined:1"])(
    "(%s) loses no byte and no decision, and the next engine rejects the forged line",
    (step) =>
      withProcesses(async (project) => {
        const { agent, engine, go } = await running(project, { NODE_ENV: "test", MAESTRO_CRASH_AT: step });
        const bytes = forge(journalIn(project), [
          [move("2", "pending", "in_progress"), move("2", "in_progress", "completed")],
          [move("3", "pending", "skipped", { user_decision: true })],
        ]);
        expect((await engine.ended).signal).toBe("SIGKILL");
        await allGone(project);
        expect(kept(project)).toBe(bytes.toString());
        go();
        const run = await maestro(project, ["resume", ...quick], agent.env());
        expect(run.code, run.stderr).toBe(0);
        expect(startsOf(agent).filter((start) => start.startsWith("2."))).toEqual(["2.1"]);
        const report = JSON.parse((await maestro(project, ["report", "--json"])).stdout);
        expect(report.phases.map((phase: { status: string }) => phase.status)).toEqual([
          "completed",
          "completed",
          "skipped",
        ]);
        expect(kept(project)).toBe(bytes.toString());
      }),
  );
});

describe("an edit of active-session.md while an engine runs", () => {
  const edited = (project: Project) =>
    project.list(state).filter((name) => name.startsWith("active-session.md.corrupt-"));

  test.concurrent("by an agent decides nothing: it is kept aside, and the warning names the verbs", () =>
    withProcesses(async (project) => {
      const view = `${state}/active-session.md`;
      const agent = prepare(project, [
        played(1, [
          [
            "shell",
            `until sed -n '/^phases:/,$p' ${view} | grep -q in_progress; do sleep 0.05; done; sed -i '/^phases:/,$s/status: "*in_progress"*/status: completed/' ${view}; grep -q 'status: completed' ${view}`,
          ],
          ["sleep", 700],
        ]),
        played(2, [], { blocked_by: [1] }),
      ]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent)).toEqual(["1.1", "2.1"]);
      expect(run.stderr).toMatch(
        /cannot be adopted: .*an engine runs the session.*maestro\.js" skip`, .*maestro\.js" retry` or .*maestro\.js" abort`.*It is kept as/,
      );
      expect(edited(project)).toHaveLength(1);
    }));

  test.concurrent("is not adopted by a command of the user either", () =>
    withProcesses(async (project) => {
      const { agent, engine, go } = await running(project);
      const view = `${state}/active-session.md`;
      await until("the view is drawn", () => project.exists(view) && project.read(view).includes("in_progress"));
      const [head = "", phases = ""] = project.read(view).split(/^(?=phases:)/m);
      project.write(view, `${head}${phases.replace(/status: "?in_progress"?/, "status: completed")}`);
      expect(status(project).phases[0].status).toBe("in_progress");
      expect(edited(project)).toHaveLength(1);
      go();
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent).sort()).toEqual(["1.1", "2.1", "3.1"]);
    }));
});
