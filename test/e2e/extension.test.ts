// The extension in the real Gemini CLI, with a scripted TechLead: from a command to an archived session. A start of the CLI costs
// seconds: the cases share runs.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { initRepository } from "../support/empty-repository.ts";
import { haveExtension, headless, installExtension, launches, startGemini } from "../support/gemini.ts";
import { type Answer, type ModelRequest, type ScriptedModel, startModel } from "../support/model.ts";
import { processesOf, until } from "../support/processes.ts";
import { Project, planText, type Run } from "../support/project.ts";
import { status } from "../support/status.ts";

const LIMIT_MS = 180_000;
const planPath = ".gemini/plans/2026-02-14-greeting-impl-plan.md";
const phases = [
  { id: 1, agent: "coder", files_created: ["a.txt"], description: "Write a." },
  { id: 2, agent: "technical-writer", files_created: ["b.txt"], description: "Write b." },
  { id: 3, agent: "tester", blocked_by: [1, 2], files_created: ["c.txt"], description: "Write c." },
];

const call = (name: string, args: Record<string, unknown>): Answer => ({ parts: [{ functionCall: { name, args } }] });
const tool = (name: string, args: Record<string, unknown>) => call(`mcp_maestro_maestro_${name}`, args);
const say = (text: string): Answer => ({ parts: [{ text }] });

const report = (created: string) => `## Task Report
- Status: success
- Files Created: ${created}
- Files Modified: none
- Files Deleted: none
- Validation: skipped
- Summary: Wrote ${created}.

## Downstream Context
- Key Interfaces Introduced: ${created} holds a greeting
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

/** What every agent of this test does: its file with write_file, then its report. */
function specialist(project: Project, request: ModelRequest, file: string, isDelegated: boolean): Answer {
  const hasWritten = request.results.includes("write_file");
  if (!hasWritten) return call("write_file", { file_path: join(project.path, file), content: "hello\n" });
  return isDelegated ? call("complete_task", { result: report(file) }) : say(report(file));
}

const saysIn = (request: ModelRequest, words: string) => request.texts.some((text) => text.includes(words));
const isMain = (request: ModelRequest) => request.texts[0]?.startsWith("<session_context>") === true;

/** Plays all agents: the TechLead by its list of steps, each agent by its phase. */
function cast(project: Project, steps: ((request: ModelRequest) => Answer | undefined)[]) {
  let at = 0;
  const techLead = (request: ModelRequest): Answer => {
    for (; at < steps.length; at += 1) {
      const answer = steps[at]?.(request);
      if (answer !== undefined) return answer;
    }
    return say("Everything is done.");
  };
  return (request: ModelRequest): Answer => {
    if (saysIn(request, "Agent: coder\nPhase: 1\n")) return specialist(project, request, "a.txt", false);
    if (saysIn(request, "Agent: technical-writer\nPhase: 2\n")) return specialist(project, request, "b.txt", false);
    if (saysIn(request, "Agent: tester\nPhase: 3\n")) return specialist(project, request, "c.txt", true);
    if (saysIn(request, "Agent: code-reviewer\n")) return call("complete_task", { result: report("none") });
    return isMain(request) ? techLead(request) : say("I was not asked.");
  };
}

/** A step that is taken once, whatever its result is. */
function once(answer: (request: ModelRequest) => Answer): (request: ModelRequest) => Answer | undefined {
  let taken = false;
  return (request) => {
    if (taken) return undefined;
    taken = true;
    return answer(request);
  };
}

/** The words with which hooks say how to start Maestro. */
function commandLine(request: ModelRequest): string {
  const told = /Maestro's command line: (node .*maestro\.js(?:"|&quot;))/.exec(request.texts.join("\n"))?.[1] ?? "";
  return told.replaceAll("&quot;", '"');
}

describe(
  "/maestro:status in the real Gemini CLI",
  () => {
    const project = new Project();
    let model: ScriptedModel;
    beforeAll(async () => {
      model = await startModel(() => say("Here it is."));
      const installed = await installExtension(project, model.url);
      expect(installed.stderr).toContain("installed successfully");
    }, LIMIT_MS);
    afterAll(async () => {
      await model.close();
      project.remove();
    });

    const asked = () => model.requests.at(-1)?.texts.join("\n") ?? "";

    test("says in default mode, where it has no tools, that there is no session (O212)", async () => {
      const run = await startGemini(project, model.url, headless("/maestro:status", "default")).ended;
      expect(run.code).toBe(0);
      expect(asked()).toContain("[maestro:status]");
      expect(asked()).toContain("no active session in this project");
      expect(model.requests.at(-1)?.tools.filter((name) => name.startsWith("mcp_"))).toEqual([]);
      expect(run.stderr).not.toMatch(/error|invalid|skipp/i);
    });

    test("mentions Maestro in one sentence of an ordinary conversation, without the lead's instructions (O208)", async () => {
      await startGemini(project, model.url, headless("What is a monad?", "default")).ended;
      const request = model.requests.at(-1);
      const whole = `${request?.system}\n${request?.texts.join("\n")}`;
      expect(whole).toContain("Maestro is installed: ");
      expect(whole).not.toContain("TechLead");
      expect(request?.texts.join("\n")).not.toContain("hook_context");
    });

    test("shows every phase of the session to a model without tools, also from a state directory of its own (O213, E47)", async () => {
      project.write("state-here/plans/2026-02-14-greeting-impl-plan.md", planText(phases));
      const env = { MAESTRO_STATE_DIR: "state-here" };
      project.maestro(["session", "create", "state-here/plans/2026-02-14-greeting-impl-plan.md"], { env });
      await startGemini(project, model.url, headless("/maestro:status", "default"), env).ended;
      expect(asked()).toMatch(/Maestro status:[\s\S]*Phase 1 +coder +ready[\s\S]*Phase 3 +tester +waits for 1, 2/);
    });

    test("runs every command headless in default mode, where the model has neither tools nor skills (O211)", async () => {
      const commands = "orchestrate execute resume archive review debug security-audit perf-check".split(" ");
      const fresh = model.requests.length;
      for (const some of [commands.slice(0, 3), commands.slice(3, 6), commands.slice(6)]) {
        const prompts = some.map((command) => headless(`/maestro:${command} the parser`, "default"));
        const runs = await Promise.all(prompts.map((args) => startGemini(project, model.url, args).ended));
        expect(runs.map(({ code }) => code)).toEqual(some.map(() => 0));
      }
      const told = model.requests.slice(fresh).map(({ texts }) => texts.join("\n"));
      for (const command of commands) {
        const asked = told.find((text) => text.includes(`[maestro:${command}]`)) ?? "";
        expect(asked, command).toContain("Maestro's command line: node ");
        expect(asked, command).toContain("Maestro: no active session");
      }
    });

    test("offers skills, commands and all tools in yolo mode", async () => {
      await startGemini(project, model.url, headless("/maestro:status")).ended;
      const request = model.requests.at(-1);
      expect(request?.tools).toEqual(
        expect.arrayContaining(["activate_skill", "mcp_maestro_maestro_session_read", "mcp_maestro_maestro_decide"]),
      );
      for (const skill of [
        "design-dialogue",
        "implementation-planning",
        "execution",
        "delegation",
        "session-management",
      ]) {
        expect(request?.system, skill).toContain(skill);
      }
    });
  },
  LIMIT_MS,
);

describe("/maestro:orchestrate in the real Gemini CLI", () => {
  const project = new Project();
  let model: ScriptedModel;
  let run: Run;
  const answers: string[] = [];

  beforeAll(async () => {
    let commands = "";
    const steps = [
      once((request) => {
        commands = commandLine(request);
        return call("activate_skill", { name: "implementation-planning" });
      }),
      once(() =>
        call("write_file", { file_path: join(project.path, planPath), content: planText(phases, "Greeting") }),
      ),
      once(() => tool("validate_plan", { plan_path: planPath })),
      once(() => tool("session_write", { action: "create", plan_path: planPath, task: "Greet the world." })),
      // No execution mode is chosen yet.
      once(() => call("invoke_agent", { agent_name: "coder", prompt: "Phase: 1\nWrite a." })),
      once(() => tool("session_write", { action: "set_mode", execution_mode: "parallel" })),
      once(() =>
        call("run_shell_command", {
          command: `${commands} resume --mode parallel --detach --keep-open --phases 1,2 --stagger 0s --model gemini-2.5-flash`,
        }),
      ),
      (request: ModelRequest) => {
        if (/"?(2 of 3|completed[^0-9]{1,6}2)/.test(request.results)) return undefined;
        if (request.results.includes("run_shell_command")) return tool("session_read", {});
        return call("run_shell_command", { command: "sleep 1" });
      },
      once(() => call("invoke_agent", { agent_name: "tester", prompt: "Phase: 3\nWrite c, as a and b are." })),
      once(() => call("invoke_agent", { agent_name: "code-reviewer", prompt: "Review a, b and c." })),
      once(() => tool("session_write", { action: "complete", summary: "The world is greeted." })),
    ];
    const play = cast(project, steps);
    model = await startModel((request) => {
      if (isMain(request)) answers.push(request.results);
      return play(request);
    });
    await haveExtension(project, model.url);
    run = await startGemini(project, model.url, headless("/maestro:orchestrate Greet the world.")).ended;
  }, LIMIT_MS);
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  const archived = () => project.read(".gemini/state/archive/2026-02-14-greeting.md");
  const resultOf = (name: string) => answers.filter((answer) => answer.includes(`"name":"${name}"`));

  test("ends with an archived session of completed phases and all files (K139, L160)", () => {
    expect(run.code, run.stderr).toBe(0);
    expect(project.list(".gemini/state/archive")).toEqual(["2026-02-14-greeting.jsonl", "2026-02-14-greeting.md"]);
    expect(project.exists(".gemini/state/active-session.md")).toBe(false);
    expect(archived().match(/status: "completed"/g)).toHaveLength(4);
    expect(["a.txt", "b.txt", "c.txt"].map((file) => project.read(file))).toEqual(["hello\n", "hello\n", "hello\n"]);
  });

  test("runs two phases as processes of the CLI, and the third as a native delegation", () => {
    expect(launches(project)).toHaveLength(2);
    const journal = project.read(".gemini/state/archive/2026-02-14-greeting.jsonl");
    expect(journal.match(/"type":"attempt.started"/g)).toHaveLength(3);
    expect(journal.match(/"runtime":"native"/g)).toHaveLength(1);
    expect(journal).toMatch(/"type":"phase.handed_off","phase":"3","agent":"tester"/);
  });

  test("does not delegate before the user has chosen the execution mode (O195)", () => {
    expect(resultOf("invoke_agent")[0]).toContain("no execution mode has been chosen");
  });

  test("gives the instructions of the lead to the lead, and to no agent, of the engine or delegated (O208)", () => {
    const told = (request: ModelRequest) => `${request.system}\n${request.texts.join("\n")}`;
    const agents = ["coder", "technical-writer", "tester", "code-reviewer"].map((agent) => `Agent: ${agent}\n`);
    const leads = model.requests.filter(isMain).filter((request) => saysIn(request, "[maestro:orchestrate]"));
    expect(leads.length).toBeGreaterThan(5);
    for (const request of leads) expect(told(request)).toContain("## Startup Checks");
    for (const agent of agents) {
      const asked = model.requests.filter((request) => saysIn(request, agent) && !leads.includes(request));
      expect(asked.length, agent).toBeGreaterThan(0);
      for (const request of asked) expect(told(request), agent).not.toMatch(/TechLead|Startup Checks/);
    }
  });

  test("gives the delegated agent header, root, protocols and context, though the caller wrote none of it (N190, N191)", () => {
    const prompt =
      model.requests.flatMap(({ texts }) => texts).find((text) => text.startsWith("Agent: tester\n")) ?? "";
    const parts = [
      "Agent: tester\nPhase: 3\nSession: 2026-02-14-greeting\n",
      `PROJECT ROOT: ${project.path}\n`,
      "# Agent Base Protocol",
      "# Filesystem Safety Protocol",
      "# Context from earlier phases",
      "a.txt holds a greeting",
      "# Task: ",
      "# Notes from the lead\n\nWrite c, as a and b are.",
    ].map((part) => prompt.indexOf(part));
    expect(parts).not.toContain(-1);
    expect(parts).toEqual([...parts].sort((a, b) => a - b));
  });

  test("lets the review happen outside the plan, and reports to the TechLead what was recorded", () => {
    const [, tester, reviewer] = resultOf("invoke_agent");
    expect(tester).toContain("Maestro recorded phase 3 as completed");
    expect(reviewer).toContain("Subagent 'code-reviewer' finished");
  });

  test("leaves no process behind", () => {
    expect(processesOf(project)).toEqual([]);
  });
});

describe("a conversation that is killed in the middle of a delegation", () => {
  const project = new Project();
  let model: ScriptedModel;
  let hangs = true;
  const git = (...args: string[]) => expect(project.run("git", args).code).toBe(0);
  const told = (...args: string[]) => {
    const { code, stdout, stderr } = project.maestro(args);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  beforeAll(async () => {
    initRepository(project.path);
    project.write(".gitignore", ".home/\n.bin/\n.tmp/\n.gemini/\n");
    project.write(planPath, planText([{ id: 3, agent: "tester", files_created: ["c.txt"] }], "Greeting"));
    git("add", ".gitignore");
    git("commit", "-q", "-m", "begin");
    const play = cast(project, [
      // At its next start the CLI deletes the transcripts of a conversation in which the model has said nothing.
      once(() => ({
        parts: [
          { text: "Phase 3 is next." },
          { functionCall: { name: "invoke_agent", args: { agent_name: "tester", prompt: "Phase: 3\nWrite c." } } },
        ],
      })),
      once(() => call("invoke_agent", { agent_name: "tester", prompt: "Phase: 3\nWrite c, this time to the end." })),
      once(() => tool("session_write", { action: "complete" })),
    ]);
    model = await startModel((request) => {
      if (!hangs || !saysIn(request, "Agent: tester\n")) return play(request);
      if (request.results.includes("write_file")) return { hang: true };
      const usage = { prompt: 1000, cached: 300, candidates: 50, thoughts: 7 };
      return { ...call("write_file", { file_path: join(project.path, "draft.txt"), content: "half\n" }), usage };
    });
    await haveExtension(project, model.url);
    project.maestro(["session", "create", planPath, "--mode", "sequential"]);
  }, LIMIT_MS);
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  test(
    "is resumed by /maestro:resume in a new conversation, and loses nothing (L167)",
    async () => {
      const first = startGemini(project, model.url, headless("/maestro:resume"));
      const isWaiting = (request: ModelRequest) =>
        saysIn(request, "Agent: tester\n") && request.results.includes("write_file");
      await until("the agent has written", () => model.requests.some(isWaiting), 60_000);
      expect(told("status")).toContain("Running: phase 3");
      first.child.kill("SIGKILL");
      await first.ended;
      expect(status(project).phases[0].status).toBe("in_progress");
      expect(told("status")).toContain("Stopped: phase 3");
      hangs = false;
      const second = await startGemini(project, model.url, headless("/maestro:resume")).ended;
      expect(second.code, second.stderr).toBe(0);
      expect(model.requests.some((request) => saysIn(request, "Phase 3 "))).toBe(true);
      expect(project.list(".gemini/state/archive")).toContain("2026-02-14-greeting.md");
      expect(project.read("c.txt")).toBe("hello\n");
    },
    LIMIT_MS,
  );

  test("leaves both tries in diff, logs and report, with their tokens (C49, M178)", () => {
    expect(told("diff", "3", "--attempt", "1")).toMatch(/draft\.txt[\s\S]*\+half/);
    expect(told("diff", "3", "--attempt", "2")).toMatch(/c\.txt[\s\S]*\+hello/);
    expect(told("diff", "3", "--attempt", "2")).not.toContain("draft.txt");
    expect(told("logs", "3", "--attempt", "2")).toContain("Summary: Wrote c.txt.");
    const { phases, tokens } = JSON.parse(told("report", "--json"));
    expect(phases[0]).toMatchObject({
      status: "completed",
      retries: 0,
      attempts: [
        { attempt: 1, outcome: "interrupted" },
        { attempt: 2, outcome: "success" },
      ],
      changes: { attempt: 2, files: [{ path: "c.txt", kind: "created", added: 1 }] },
      earlier_changes: [{ attempt: 1, files: [{ path: "draft.txt", kind: "created", added: 1 }] }],
    });
    // One answer before the kill; afterwards the file and the report, as the script counts by default.
    expect(tokens).toMatchObject({ input: 1000 + 2 * 100, output: 50 + 2 * 20, cached: 300 + 2 * 40, unreported: 0 });
    expect(told("report")).toMatch(/tester +completed +2/);
  });
});
