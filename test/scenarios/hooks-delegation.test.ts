import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import {
  contextOf,
  delegated,
  faultsOf,
  handBack,
  hook,
  hookInput,
  invoke,
  move,
  phasesOf,
  report,
  Shelf,
  sessionProject,
  startHook,
  statusesOf,
  whileHolding,
} from "../support/hooks.ts";
import { journalOf } from "../support/processes.ts";
import { type PhaseSpec, Project } from "../support/project.ts";

const id = "2026-02-14-task-api";
const journal = ".gemini/state/progress.jsonl";
const two: PhaseSpec[] = [{ id: 1 }, { id: 2, agent: "tester", blocked_by: [1] }];
const wide: PhaseSpec[] = [{ id: 1 }, { id: 2 }, { id: 3, agent: "tester" }];

const shelf = new Shelf();
afterEach(() => shelf.clear());

const emptyProject = () => shelf.keep(new Project());
const inSession = (phases = two, mode: "sequential" | "parallel" | null = "sequential") =>
  shelf.keep(sessionProject(phases, mode));
const phaseOf = (project: Project, index = 0) => phasesOf(project)[index];
const count = (text: string, part: string) => text.split(part).length - 1;

describe("delegating without a session", () => {
  test.each(["codebase_investigator", "generalist", "someone-else", "coder2", ""])(
    "does not change the call of %j, which is not an agent of Maestro",
    (agent) => {
      expect(invoke(emptyProject(), agent, "Look around.")).toEqual({ decision: "allow" });
    },
  );

  test.each(["generalist", "coder"])(
    "accepts the result of %s without a message, and leaves nothing behind",
    (agent) => {
      const project = emptyProject();
      expect(handBack(project, agent, "Look around.", report())).toEqual({ continue: true });
      expect(project.exists(".gemini")).toBe(false);
      hook(project, "SessionStart", {});
      expect(handBack(project, agent, "Look around.", report())).toEqual({ continue: true });
      expect(project.exists(".gemini/state/delegations")).toBe(false);
    },
  );

  test("counts a foreign agent from start to end, since its report looks like one of a Maestro agent", () => {
    const project = emptyProject();
    delegated(project, "coder", "Do it.");
    const handOver = { tool_name: "complete_task", tool_input: { result: "bad" } };
    invoke(project, "generalist", "Look around.");
    expect(hook(project, "BeforeTool", handOver).reply.decision).toBe("allow");
    handBack(project, "generalist", "Look around.", "Done.");
    expect(hook(project, "BeforeTool", handOver).reply.decision).toBe("deny");
  });

  test("gives a Maestro agent its name, the root, both protocols and the caller's text, in that order (N190)", () => {
    const project = emptyProject();
    const prompt = delegated(project, "data_engineer", "Look at $HOME and $& here.\n");
    const places = [
      "Agent: data-engineer\n\nPROJECT ROOT: ",
      `PROJECT ROOT: ${project.path}\n`,
      "# Agent Base Protocol",
      "# Filesystem Safety Protocol",
      "# Task\n\nLook at $HOME and $& here.",
    ].map((part) => prompt.indexOf(part));
    expect(places[0]).toBe(0);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(prompt).not.toMatch(/^(Phase|Session): /m);
  });

  test("never adds the header twice", () => {
    const project = emptyProject();
    const once = delegated(project, "coder", "Do it.");
    expect(delegated(project, "coder", once)).toBe(once);
  });

  test("keeps every other argument of the call", () => {
    const reply = invoke(emptyProject(), "coder", "Do it.", {}, { wait_for_previous: true, other: { deep: [1] } });
    expect(reply.hookSpecificOutput).toEqual({
      hookEventName: "BeforeTool",
      tool_input: {
        agent_name: "coder",
        prompt: expect.stringContaining("Do it."),
        wait_for_previous: true,
        other: { deep: [1] },
      },
    });
  });

  test("refuses an agent that is disabled, with those that are not", () => {
    const project = emptyProject();
    project.write(".env", "MAESTRO_DISABLED_AGENTS=Coder, api_designer\n");
    const reply = invoke(project, "coder", "Do it.");
    expect(reply.decision).toBe("deny");
    expect(reply.reason).toMatch(/coder is disabled by MAESTRO_DISABLED_AGENTS.*Available agents: architect, code-rev/);
    expect(reply.reason).toMatch(/tester/);
    expect(reply.reason).not.toMatch(/Available.*(api-designer|\bcoder\b)/);
    expect(invoke(project, "tester", "Do it.").decision).toBe("allow");
    expect(invoke(project, "generalist", "Do it.").decision).toBe("allow");
  });
});

describe("delegating a phase", () => {
  test("names agent, phase and session in the first lines, and the phase is in progress with its files' hashes", () => {
    const project = inSession([{ id: 1, files_modified: ["src/a.ts"], files_created: ["src/b.ts"] }]);
    project.write("src/a.ts", "export {};\n");
    const prompt = delegated(project, "coder", "Phase: 1\nWrite it.");
    expect(prompt.split("\n", 5)).toEqual([
      "Agent: coder",
      "Phase: 1",
      `Session: ${id}`,
      "",
      `PROJECT ROOT: ${project.path}`,
    ]);
    for (const part of ["# Agent Base Protocol", "# Filesystem Safety Protocol", "# Context from earlier phases"])
      expect(count(prompt, part)).toBe(1);
    expect(prompt).toMatch(/You may create:\n- src\/b\.ts\n[\s\S]*# Notes from the lead\n\nWrite it\.\n$/);
    expect(phaseOf(project)?.status).toBe("in_progress");
    const hash = createHash("sha256").update("export {};\n").digest("hex");
    expect(journalOf(project).at(-2)).toMatchObject({
      type: "phase.moved",
      phase: "1",
      from: "pending",
      to: "in_progress",
      hashes: { "src/a.ts": hash, "src/b.ts": null },
    });
    expect(faultsOf(project)).toEqual([]);
  });

  test.each([
    "Phase: 1",
    "**Phase:** 1",
    "- Phase: `1`",
    "### Phase: 1.",
    '> phase: "1"',
    "Do this.\n\nPhase: 1\n\nThanks",
  ])("takes the phase from the line %j", (text) => {
    expect(delegated(inSession(wide), "coder", text)).toContain("\nPhase: 1\nSession: ");
  });

  test("means the one phase that is ready for the agent when none is named", () => {
    const project = inSession(wide);
    expect(delegated(project, "tester", "Test it.")).toContain("\nPhase: 3\nSession: ");
    expect(phaseOf(project, 2)?.status).toBe("in_progress");
    expect(phaseOf(project)?.status).toBe("pending");
  });

  test.each<[string, string, string, RegExp]>([
    [
      "several phases are ready",
      "coder",
      "Do it.",
      /2 phases are ready for coder: .*"Phase: <id>".*1 "Phase 1" \(coder\); 2 /,
    ],
    ["none is ready", "architect", "Do it.", /no phase is ready for architect\. Phases that can be delegated: 1 /],
    ["there is no such phase", "coder", "Phase: 17", /the plan has no phase "17".*can be delegated: 1 /],
    ["it is another agent's", "tester", "Phase: 2", /phase 2 belongs to coder, not to tester/],
    ["a writer's work is none of the plan's", "coder", "Phase: none", /coder writes files, so its work needs a phase/],
  ])("is refused when %s, with what to do", (_, agent, text, reason) => {
    const project = inSession(wide);
    const before = project.read(journal);
    const reply = invoke(project, agent, text);
    expect(reply.decision).toBe("deny");
    expect(reply.reason).toMatch(reason);
    expect(reply.hookSpecificOutput).toBeUndefined();
    expect(project.read(journal)).toBe(before);
  });

  test("is refused when the phase waits for another one", () => {
    const project = inSession();
    expect(invoke(project, "tester", "Phase: 2").reason).toMatch(/waits for phase 1\. .*can be delegated: 1 /);
    expect(invoke(project, "tester", "Test it.").reason).toContain("no phase is ready for tester");
  });

  test("is refused when the phase is done", () => {
    const project = inSession();
    move(project, "1", "in_progress");
    move(project, "1", "completed");
    expect(invoke(project, "coder", "Phase: 1").reason).toMatch(/phase 1 from completed.*can be delegated: 2 /);
  });

  test("lets a reading agent work outside the plan", () => {
    for (const agent of ["code-reviewer", "debugger"]) {
      const project = inSession(wide);
      const prompt = delegated(project, agent, "Phase: none\nReview it.");
      expect(prompt).toMatch(new RegExp(`^Agent: ${agent}\n\nPROJECT ROOT: `));
      expect(statusesOf(project)).toEqual(Array(3).fill("pending"));
    }
  });

  test("is refused until an execution mode is chosen, or preset (O196)", () => {
    const project = inSession(two, null);
    const reply = invoke(project, "coder", "Phase: 1");
    expect(reply.decision).toBe("deny");
    expect(reply.reason).toMatch(/no execution mode.*Ask the user.*set_mode/);
    expect(invoke(project, "coder", "Phase: 1", { MAESTRO_EXECUTION_MODE: "ask" }).decision).toBe("deny");
    expect(delegated(project, "coder", "Phase: 1", { MAESTRO_EXECUTION_MODE: "parallel" })).toContain("Phase: 1\n");
    expect(journalOf(project).filter(({ type }) => type === "session.mode_set")).toEqual([
      expect.objectContaining({ execution_mode: "parallel" }),
    ]);
  });

  test("is refused while an engine runs the session", async () => {
    const project = inSession();
    await whileHolding(project, ".engine", () => {
      const reply = invoke(project, "coder", "Phase: 1");
      expect(reply.reason).toMatch(new RegExp(`process ${process.pid}.*maestro_progress.*stop`));
    });
    expect(invoke(project, "coder", "Phase: 1").decision).toBe("allow");
  });

  test("is refused when its retries are used up, and a person has to decide", () => {
    const project = inSession();
    project.write(".env", "MAESTRO_MAX_RETRIES=1\n");
    const fail = () => handBack(project, "coder", delegated(project, "coder", "Do it."), report({ status: "failure" }));
    fail();
    expect(contextOf(fail())).toContain("1 of 1 retries used");
    const reply = invoke(project, "coder", "Phase: 1");
    expect(reply.reason).toMatch(/phase 1 has used up its 1 retries.*maestro_decide/);
    expect(invoke(project, "coder", "Do it.").reason).toContain("no phase is ready for coder");
  });

  test("is for one delegation of a conversation at a time", () => {
    const project = inSession();
    const prompt = delegated(project, "coder", "Phase: 1");
    expect(invoke(project, "coder", "Phase: 1").reason).toContain("phase 1 is being worked on by another delegation");
    expect(invoke(project, "coder", "Do it.").decision).toBe("deny");
    handBack(project, "coder", prompt, report({ status: "partial" }));
    expect(invoke(project, "coder", "Phase: 1").decision).toBe("allow");
  });

  test("is not held up by a delegation that was declined before it began", () => {
    const project = inSession();
    delegated(project, "coder", "Phase: 1");
    const [name] = project.list(".gemini/state/delegations");
    const memory = `.gemini/state/delegations/${name}`;
    project.write(memory, project.read(memory).replace(/"at":"[^"]*"/, '"at":"2026-02-14T22:58:00.000Z"'));
    expect(invoke(project, "coder", "Phase: 1").decision).toBe("allow");
  });

  test("is refused while the report of the phase waits for its verification", () => {
    const project = inSession([{ id: 1, validation: ["true"] }, { id: 2 }]);
    handBack(project, "coder", delegated(project, "coder", "Phase: 1"), report());
    expect(invoke(project, "coder", "Phase: 1").reason).toMatch(/phase 1 is reported but not verified.*verify 1/);
    expect(delegated(project, "coder", "Go on.")).toContain("Phase: 2\n");
  });

  test.each(["BeforeAgent", "SessionStart"])("begins an interrupted phase anew after %s, uncounted", (event) => {
    const project = inSession();
    delegated(project, "coder", "Phase: 1");
    hook(project, event, { prompt: "Go on." });
    expect(delegated(project, "coder", "Do it.")).toContain("Phase: 1\n");
    expect(phaseOf(project)).toMatchObject({ status: "in_progress", retry_count: 0 });
    expect(faultsOf(project)).toEqual([]);
  });

  test("succeeds for exactly one of two calls for the same phase at the same time", async () => {
    for (const interrupted of [false, true]) {
      const project = inSession([{ id: 1 }]);
      if (interrupted) move(project, "1", "in_progress");
      const input = hookInput(project, "BeforeTool", {
        tool_name: "invoke_agent",
        tool_input: { agent_name: "coder", prompt: "Do it." },
      });
      const runs = await Promise.all([1, 2, 3, 4].map(() => startHook(project, "BeforeTool", { input })));
      const decisions = runs.map(({ reply }) => (reply.hookSpecificOutput === undefined ? reply.decision : "begun"));
      expect(decisions.sort()).toEqual(["begun", "deny", "deny", "deny"]);
    }
  });

  test("adds the context of its predecessors, and says what is missing (N191)", () => {
    const project = inSession([
      { id: 1, files_created: ["src/a.ts"] },
      { id: 2 },
      { id: 3, agent: "tester", blocked_by: [1, 2] },
    ]);
    const first = delegated(project, "coder", "Phase: 1");
    project.write("src/a.ts", "export const makeTask = () => 1;\n");
    handBack(project, "coder", first, report({ created: "src/a.ts", context: "`makeTask()` in src/a.ts" }));
    move(project, "2", "skipped");
    const prompt = delegated(project, "tester", "Test it.");
    expect(prompt).toMatch(
      /## Phase 1: Phase 1 \(coder, completed\)[\s\S]*src\/a\.ts[\s\S]*`makeTask\(\)` in src\/a\.ts/,
    );
    expect(prompt).toContain("MISSING CONTEXT: phase 2 is skipped");
    expect(prompt.indexOf("MISSING CONTEXT")).toBeLessThan(prompt.indexOf("\n# Task: "));
  });

  test("ignores a header that names another session", () => {
    const project = inSession();
    const stale = `Agent: tester\nPhase: 1\nSession: 2020-01-01-old\n\nPROJECT ROOT: /old\n\n# Task\n\nDo it.\n`;
    const prompt = delegated(project, "coder", stale);
    expect(prompt.startsWith(`Agent: coder\nPhase: 1\nSession: ${id}\n\nPROJECT ROOT: `)).toBe(true);
    handBack(project, "coder", prompt, report());
    expect(phaseOf(project)?.status).toBe("completed");
  });

  test("is outside the plan once all of it is done", () => {
    const project = inSession([{ id: 1 }]);
    move(project, "1", "in_progress");
    move(project, "1", "completed");
    expect(delegated(project, "coder", "Polish it.")).toMatch(/^Agent: coder\n\nPROJECT ROOT: /);
  });
});
