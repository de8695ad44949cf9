// An agent that tries to decide about its own session: as it was started, and with everything taken away that names it an attempt.

import { describe, expect, test, vi } from "vitest";
import { type Verb, verbName } from "../../src/cli/verb.ts";
import { verbs as verbTable } from "../../src/cli/verb-table.ts";
import { background, journalOf, maestro, TEST_TIMEOUT_MS, until, withProcesses } from "../support/processes.ts";
import { maestroPath, type Project, planPath, planText } from "../support/project.ts";
import { played, prepare, type StandIn, type Steps } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const quick = ["--grace", "300ms"];
const command = `'${process.execPath}' '${maestroPath}'`;
const names = "MAESTRO_RUN MAESTRO_ATTEMPT MAESTRO_SESSION MAESTRO_PHASE MAESTRO_AGENT";
const bare = 'env -i PATH="$PATH" HOME="$HOME"';

/** How the agent calls a command, and what it does to its environment before. */
const disguises: [what: string, line: (words: string) => string][] = [
  ["as it is", (words) => `${command} ${words}`],
  ["with its markers unset", (words) => `unset ${names}; ${command} ${words}`],
  ["with empty markers", (words) => `MAESTRO_RUN= MAESTRO_ATTEMPT= ${command} ${words}`],
  ["with an empty environment", (words) => `${bare} ${command} ${words}`],
  ["through shells of empty environments", (words) => `sh .bin/bare sh .bin/bare ${command} ${words}`],
  ["in a session of its own", (words) => `setsid -w ${bare} ${command} ${words}`],
  [
    "from a process whose parent has ended",
    (words) =>
      `rm -f code; (${bare} sh -c "sleep 0.2; ${command} ${words} 2>err; echo \\$? >code" &); until [ -s code ]; do sleep 0.05; done; cat err >&2; exit $(cat code)`,
  ],
];

const verbs = [
  "skip 2",
  "stop",
  "stop --force",
  "abort",
  "setup",
  "retry 2",
  "approve 1",
  "reject 1 --guidance x",
  "reopen 1",
  "archive",
  "apply 1",
  "revert 1",
  "doctor --fix",
  "session transition 2 skipped --user-decision",
  "session complete",
  "session requirement REQ-1 met --evidence it",
  `validate ${planPath} --baseline --yes`,
  "session mode parallel",
  "resume",
  `run ${planPath}`,
  "verify 1",
];

/** Tried by the agent as it was started only: all verbs refuse in one place, before their own code. */
const triedOnce = [
  `session create ${planPath}`,
  "session files 1 --created a",
  "session error 1 broken",
  "session revise",
  "agents install-policies",
];

/** The verbs for which the user decides, whatever their options: "skip", "session complete". */
const decidingVerbs = (below: readonly Verb[]): string[] =>
  below.flatMap((verb) => [
    ...(verb.isDecision === true ? [verbName(verb)] : []),
    ...decidingVerbs(verb.verbs ?? []).map((name) => `${verbName(verb)} ${name}`),
  ]);

const startsOf = (agent: StandIn) => agent.notes("start").map((note) => `${note.phase}.${note.attempt}`);
const runs = (line: string): Steps[number] => ["command", ["sh", "-c", line]];

describe("an agent that decides", () => {
  test("tries every verb that is a decision of the user", () => {
    const deciding = decidingVerbs(verbTable);
    expect(deciding.length).toBeGreaterThan(10);
    expect(
      deciding.filter((name) => ![...verbs, ...triedOnce].some((tried) => `${tried} `.startsWith(`${name} `))),
    ).toEqual([]);
  });

  test.concurrent.each(disguises)("%s is refused by every verb, and the run continues", (what, disguise) =>
    withProcesses(async (project) => {
      const tried = what === "as it is" ? [...verbs, ...triedOnce] : verbs;
      project.write(".bin/bare", `${bare} "$@"; exit $?\n`);
      const agent = prepare(project, [
        played(
          1,
          tried.map((words) => runs(disguise(words))),
        ),
        played(2, [], { blocked_by: [1] }),
      ]);
      const run = await maestro(project, ["run", planPath, "--mode", "parallel", ...quick], agent.env());
      const told = agent
        .notes("command")
        .map(({ code, stderr }, at) => `${tried[at]}: ${code} ${stderr.split("\n")[0]}`);
      const refused = /: 3 ERROR: This is (already )?an attempt of Maestro/;
      expect(told.filter((line) => !refused.test(line))).toEqual([]);
      expect(told).toHaveLength(tried.length);
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent)).toEqual(["1.1", "2.1"]);
      expect(journalOf(project).filter((record) => record.user_decision === true)).toEqual([]);
    }),
  );

  test.concurrent("through a server of its own that knows nothing of the attempt is refused as well (C43)", () =>
    withProcesses(async (project) => {
      const empty = {};
      const calls: [string, object][] = [
        ["maestro_run", { mode: "parallel", review: "end" }],
        ["maestro_wait", { seconds: 1 }],
        ["maestro_decide", { action: "stop" }],
        ["maestro_decide", { action: "skip", phase_id: "2", user_decision: true }],
        ["maestro_decide", { action: "abort", user_decision: true }],
        ["maestro_decide", { action: "approve", phase_id: "1", user_decision: true }],
        [
          "maestro_session_write",
          { action: "update_phase", phase_id: "2", phase_status: "skipped", user_decision: true },
        ],
      ];
      const agent = prepare(project, [
        played(
          1,
          calls.map(([name, args]) => ["tool", [name, args, empty]]),
        ),
        played(2, [], { blocked_by: [1] }),
      ]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      const answers = agent.notes("tool").map((note) => (note as unknown as { answer: object }).answer);
      const refused = { error: "environment", message: expect.stringContaining("an attempt of Maestro") };
      expect(answers).toEqual(calls.map(() => expect.objectContaining(refused)));
      expect(startsOf(agent)).toEqual(["1.1", "2.1"]);
    }));

  test.concurrent("still takes notes, and reads", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [runs(`${command} session note "half way"`), runs(`${command} status`)]),
      ]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(agent.notes("command").map(({ code }) => code)).toEqual([0, 0]);
      expect(journalOf(project)).toContainEqual(expect.objectContaining({ type: "session.noted", text: "half way" }));
    }));
});

/** Phase 1 waits for `.bin/go`, phase 2 has failed, phase 3 waits for phase 1. */
async function running(project: Project) {
  const agent = prepare(project, [
    played(1, [["await", ".bin/go"]]),
    played(2, [["exit", 1]]),
    played(3, [], { blocked_by: [1] }),
  ]);
  const engine = background(project, ["run", planPath, ...quick], agent.env({ MAESTRO_MAX_RETRIES: "0" }));
  await until("phase 2 has failed", () => engine.stderr().includes("failed:"));
  return { agent, engine };
}

describe("a person at another terminal, while the engine runs", () => {
  test.concurrent("can retry, skip and add notes: the engine takes them up and quarantines nothing", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await running(project);
      for (const words of [
        ["retry", "2"],
        ["skip", "3"],
        ["session", "note", "go on"],
      ]) {
        const run = await maestro(project, words, agent.env());
        expect([run.code, run.stderr], words.join(" ")).toEqual([0, ""]);
      }
      await until("phase 2 is tried again", () => startsOf(agent).includes("2.2"));
      project.write(".bin/go", "");
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent).sort()).toEqual(["1.1", "2.1", "2.2"]);
      expect(project.list(".gemini/state").filter((name) => name.includes("quarantined"))).toEqual([]);
    }));

  test.concurrent("can abort the session", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await running(project);
      const abort = await maestro(project, ["abort", "--reason", "enough"], agent.env());
      expect(abort.code, abort.stderr).toBe(0);
      expect((await engine.ended).stdout).toContain("was aborted");
      expect(status(project)).toMatchObject({
        aborted: true,
        phases: [{ status: "aborted" }, { status: "aborted" }, { status: "pending" }],
      });
    }));

  test.concurrent("cannot record what only the engine records: the command says so, and writes nothing", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await running(project);
      project.write("other.md", planText([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]));
      const before = project.read(".gemini/state/progress.jsonl");
      for (const words of [
        ["session", "transition", "1", "completed", "--user-decision"],
        ["session", "transition", "1", "failed"],
        ["session", "files", "1", "--created", "a.ts"],
        ["session", "error", "1", "it fails"],
        ["session", "revise", "other.md"],
        ["session", "complete"],
        ["archive"],
      ]) {
        const run = await maestro(project, words, agent.env());
        expect([run.code, run.stderr], words.join(" ")).toEqual([
          3,
          expect.stringMatching(/^ERROR: .*being run by process \d+ since [\s\S]*(?:maestro\.js" stop|stop it first)/),
        ]);
      }
      expect(project.read(".gemini/state/progress.jsonl")).toBe(before);
      expect((await maestro(project, ["stop"], agent.env())).code).toBe(0);
      expect((await engine.ended).code).toBe(143);
      const late = await maestro(project, ["session", "files", "1", "--created", "a.ts"], agent.env());
      expect(late.code, late.stderr).toBe(0);
    }));
});
