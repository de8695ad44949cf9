import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { LOCK_FILE } from "../../src/disk/lock.ts";
import {
  complete,
  contextOf,
  delegated,
  faultsOf,
  finished,
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
  succeed,
  whileHolding,
} from "../support/hooks.ts";
import { journalOf } from "../support/processes.ts";
import { type PhaseSpec, Project, root } from "../support/project.ts";
import { TIMED } from "../support/timed.ts";

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

function expectDoctorContent(project: Project): void {
  const { findings } = JSON.parse(project.maestro(["doctor", "--json"]).stdout);
  const ours = findings.filter(({ check }: { check: string }) => check === "session");
  expect(ours).toEqual([expect.objectContaining({ level: "ok" })]);
}

describe("the hand-off gate: BeforeTool of complete_task", () => {
  const bad = "I am done.";

  test("sends a report back once for each delegation, with exactly what is missing", () => {
    const project = inSession(wide);
    const prompt = delegated(project, "coder", "Phase: 1");
    const reply = complete(project, report({ context: null }).replace(/- Files Modified.*\n/, ""));
    expect(reply).toEqual({ decision: "deny", reason: expect.stringContaining("Files Modified") });
    expect(reply.reason).toContain("complete_task");
    expect(reply.reason).not.toMatch(/Files Created|Status|Downstream Context/);
    expect(complete(project, bad)).toEqual({ decision: "allow" });
    handBack(project, "coder", prompt, report());
    delegated(project, "coder", "Phase: 2");
    expect(complete(project, bad).decision).toBe("deny");
    expect(complete(project, bad).decision).toBe("allow");
  });

  test("lets a complete report pass, and one of failure that has its parts", () => {
    const project = inSession();
    delegated(project, "coder", "Phase: 1");
    expect(complete(project, report())).toEqual({ decision: "allow" });
    expect(complete(project, report({ status: "failure" }))).toEqual({ decision: "allow" });
    expect(complete(project, report({ context: null })).reason).toContain("Downstream Context");
  });

  test("asks for a Downstream Context only when a phase waits for it, also with two delegations at once", () => {
    const project = inSession(wide, "parallel");
    delegated(project, "coder", "Phase: 1");
    delegated(project, "coder", "Phase: 2");
    expect(complete(project, report({ context: null }))).toEqual({ decision: "allow" });
    const outside = emptyProject();
    delegated(outside, "coder", "Do it.");
    expect(complete(outside, report({ context: null })).decision).toBe("deny");
  });

  test("sends back as many reports as there are delegations", () => {
    const project = inSession(wide, "parallel");
    const first = delegated(project, "coder", "Phase: 1");
    delegated(project, "coder", "Phase: 2");
    expect([1, 2, 3].map(() => complete(project, bad).decision)).toEqual(["deny", "deny", "allow"]);
    handBack(project, "coder", first, bad);
    expect(complete(project, bad).decision).toBe("allow");
    delegated(project, "tester", "Phase: 3");
    expect(complete(project, bad).decision).toBe("deny");
  });

  test("judges no report while a foreign agent works beside a Maestro agent, nor without a Maestro agent", () => {
    const project = inSession(wide);
    expect(complete(project, bad).decision).toBe("allow");
    invoke(project, "generalist", "Look around.");
    expect(complete(project, bad).decision).toBe("allow");
    delegated(project, "coder", "Phase: 1");
    expect(complete(project, bad).decision).toBe("allow");
    handBack(project, "generalist", "Look around.", "Nothing.");
    expect(complete(project, bad).decision).toBe("deny");
  });

  test.each(["BeforeAgent", "SessionStart", "SessionEnd"])("forgets at %s what was running", (event) => {
    const project = inSession(wide);
    delegated(project, "coder", "Phase: 1");
    hook(project, event, { prompt: "x" });
    expect(complete(project, bad).decision).toBe("allow");
  });

  test("keeps conversations apart", () => {
    const project = inSession(wide);
    delegated(project, "coder", "Phase: 1");
    const other = { session_id: "another-conversation", tool_name: "complete_task", tool_input: { result: bad } };
    expect(hook(project, "BeforeTool", other).reply.decision).toBe("allow");
    expect(complete(project, bad).decision).toBe("deny");
  });

  test.each<[string, (path: string, project: Project) => void]>([
    ["noise", (path, project) => void project.write(path, 'null\n[]\n7\n{"did"\n{"did":"x"}\n\n')],
    ["a FIFO", (path, project) => void project.run("mkfifo", [path])],
    ["a directory", (path, project) => mkdirSync(join(project.path, path))],
  ])("lets every report pass when its memory is %s, without a delay", (_, damage) => {
    const project = inSession(wide);
    delegated(project, "coder", "Phase: 1");
    const [name] = readdirSync(join(project.path, ".gemini/state/delegations"));
    const path = `.gemini/state/delegations/${name}`;
    project.run("rm", [path]);
    damage(path, project);
    expect(complete(project, bad)).toEqual({ decision: "allow" });
    expect(invoke(project, "coder", "Phase: 2").decision).toBe("allow");
  });

  test.each([undefined, 7, { status: "success" }, ["x"]])("leaves a result of another form alone: %j", (result) => {
    const project = inSession(wide);
    delegated(project, "coder", "Phase: 1");
    expect(complete(project, result)).toEqual({ decision: "allow" });
  });
});

describe("the hand-back: AfterTool of invoke_agent", () => {
  const validated: PhaseSpec[] = [
    { id: 1, validation: ["true"] },
    { id: 2, agent: "tester", blocked_by: [1] },
  ];

  /** Phase 1 delegated, and `text` brought back. */
  function bring(project: Project, text: string, env: Record<string, string> = {}): string {
    const prompt = delegated(project, "coder", "Phase: 1", env);
    return contextOf(handBack(project, "coder", prompt, text, env));
  }

  test("completes the phase, with what was handed over, and says what comes next (K143, K154, K155)", () => {
    const project = inSession();
    project.write("src/a.ts", "export {};\n");
    const full = join(project.path, "src/a.ts");
    const said = bring(project, finished("coder", report({ created: full, context: "`A`", summary: "Made it." })));
    expect(said).toContain("phase 1 as completed");
    expect(said).toContain("Ready: 2 Phase 2 (tester)");
    expect(phaseOf(project)).toMatchObject({
      status: "completed",
      files_created: ["src/a.ts"],
      downstream_context: { key_interfaces_introduced: ["`A`"] },
      errors: [],
    });
    expect(faultsOf(project)).toEqual([]);
  });

  test("leaves a phase with validation commands in progress, and says how to run them", () => {
    const project = inSession(validated);
    const said = bring(project, finished("coder", report()));
    expect(said).toContain(`node "${join(root, "dist/maestro.js")}" verify 1`);
    expect(said).not.toContain("completed");
    expect(phaseOf(project)?.status).toBe("in_progress");
    expect(journalOf(project).at(-1)).toMatchObject({ type: "phase.handed_off", handoff: { status: "success" } });
    expect(faultsOf(project)).toEqual([]);
  });

  test.each([
    ["partial", "runtime"],
    ["failure", "runtime"],
  ])("records a report of %s as an error, and fails the phase (K144, K157)", (reported, type) => {
    const project = inSession();
    const said = bring(project, finished("coder", report({ status: reported, summary: "The disk is full." })));
    expect(said).toMatch(/phase 1 as failed \(0 of 2 retries used\).*The disk is full\..*Delegate it again/);
    expect(phaseOf(project)).toMatchObject({
      status: "failed",
      errors: [{ type, agent: "coder", resolved: false, message: expect.stringContaining("The disk is full.") }],
    });
    expect(faultsOf(project)).toEqual([]);
  });

  test("records what a report lacks, and does not complete such a phase", () => {
    const project = inSession();
    bring(project, finished("coder", report({ context: null }).replace(/- Status.*\n/, "")));
    expect(journalOf(project).find(({ type }) => type === "handoff.malformed")).toMatchObject({
      phase: "1",
      agent: "coder",
      missing: expect.arrayContaining(["status", "downstream_context"]),
    });
    expect(phaseOf(project)).toMatchObject({ status: "failed", errors: [{ type: "validation" }] });
    expect(faultsOf(project)).toEqual([]);
  });

  test("fails a phase whose agent returned nothing", () => {
    const project = inSession();
    bring(project, "");
    expect(phaseOf(project)?.status).toBe("failed");
    expect(faultsOf(project)).toEqual([]);
  });

  test.each<[string, string, object]>([
    ["MAX_TURNS", finished("coder", report(), "MAX_TURNS"), { type: "runtime" }],
    ["TIMEOUT", finished("coder", "", "TIMEOUT"), { type: "timeout" }],
    ["ERROR_NO_COMPLETE_TASK_CALL", finished("coder", "x", "ERROR_NO_COMPLETE_TASK_CALL"), { type: "runtime" }],
    [
      "failed. Error:",
      `Subagent 'coder' failed. Error: {"code":429,"message":"quota exceeded"}`,
      { type: "quota", message: expect.stringContaining("quota exceeded") },
    ],
  ])("fails a phase whose agent did not finish (%s), in the CLI's own words", (words, text, error) => {
    const project = inSession();
    bring(project, text);
    expect(phaseOf(project)).toMatchObject({
      status: "failed",
      errors: [{ message: expect.stringContaining(words), ...error }],
    });
    expect(journalOf(project).some(({ type }) => type === "handoff.malformed")).toBe(false);
    expect(faultsOf(project)).toEqual([]);
  });

  test("does not count a note of the CLI behind the result as part of it", () => {
    const project = inSession();
    const note = "[System] Tool input parameters (prompt) were modified by a hook before execution.";
    bring(project, `${finished("coder", report())}\n\n${note}`);
    expect(phaseOf(project)?.status).toBe("completed");
    expect(project.read(journal)).not.toContain("were modified by a hook");
  });

  test("reads the result in every form the CLI gives it", () => {
    for (const tool_response of [
      { llmContent: report() },
      { llmContent: [report()] },
      { llmContent: [{ text: "Subagent 'coder' finished.\nTermination Reason: GOAL\nResult:" }, { text: report() }] },
    ]) {
      const project = inSession();
      const tool_input = { agent_name: "coder", prompt: delegated(project, "coder", "Phase: 1") };
      hook(project, "AfterTool", { tool_name: "invoke_agent", tool_input, tool_response });
      expect(phaseOf(project)?.status).toBe("completed");
    }
  });

  test.each<[string, (prompt: string) => string]>([
    ["of another session", (prompt) => prompt.replace(`Session: ${id}`, "Session: 2020-01-01-old")],
    ["of an unknown phase", (prompt) => prompt.replaceAll("Phase: 1", "Phase: 17")],
    ["without a header", () => "Do it."],
  ])("records nothing of a prompt %s", (_, change) => {
    const project = inSession();
    const prompt = change(delegated(project, "coder", "Phase: 1"));
    const before = project.read(journal);
    expect(handBack(project, "coder", prompt, report())).toEqual({ continue: true });
    expect(project.read(journal)).toBe(before);
  });

  test.each<[string, (prompt: string) => string, RegExp]>([
    [
      "of a phase that is not in progress",
      (prompt) => prompt.replace("Phase: 1", "Phase: 2"),
      /phase 2 is pending already/,
    ],
    ["whose phase could not be begun", (prompt) => `x\n${prompt}`, /could not record the report of phase 1/],
  ])("says that it records nothing of a prompt %s", (_, change, said) => {
    const project = inSession();
    const prompt = change(delegated(project, "coder", "Phase: 1"));
    const before = project.read(journal);
    expect(contextOf(handBack(project, "coder", prompt, report()))).toMatch(said);
    expect(project.read(journal)).toBe(before);
  });

  test("records one result once, and none of a phase that the user has closed", () => {
    const project = inSession();
    const prompt = delegated(project, "coder", "Phase: 1");
    handBack(project, "coder", prompt, report());
    const after = project.read(journal);
    const again = handBack(project, "coder", prompt, report({ status: "failure" }));
    expect(contextOf(again)).toContain("has not recorded this report: phase 1 is completed already");
    expect(project.read(journal)).toBe(after);
    const other = delegated(project, "tester", "Phase: 2");
    move(project, "2", "skipped");
    handBack(project, "tester", other, report());
    expect(phaseOf(project, 1)?.status).toBe("skipped");
  });

  test("attributes results that come back in another order, or at the same time, by their headers", async () => {
    const project = inSession(wide, "parallel");
    const prompts = ["1", "2"].map((phase) => delegated(project, "coder", `Phase: ${phase}`));
    const answers = [report({ status: "failure", summary: "first" }), report({ summary: "second" })];
    await Promise.all(
      [1, 0].map((index) => {
        const tool_input = { agent_name: "coder", prompt: prompts[index] };
        const tool_response = { llmContent: [{ text: finished("coder", answers[index] ?? "") }] };
        const input = hookInput(project, "AfterTool", { tool_name: "invoke_agent", tool_input, tool_response });
        return startHook(project, "AfterTool", { input });
      }),
    );
    expect(phaseOf(project, 0)).toMatchObject({
      status: "failed",
      errors: [{ message: expect.stringContaining("first") }],
    });
    expect(phaseOf(project, 1)?.status).toBe("completed");
    expect(faultsOf(project)).toEqual([]);
  });

  test("counts another delegation of a failed phase as a retry, and resolves its errors when it succeeds (K145)", () => {
    const project = inSession();
    bring(project, report({ status: "failure" }));
    const prompt = delegated(project, "coder", "Do it differently.");
    expect(phaseOf(project)).toMatchObject({ status: "in_progress", retry_count: 1 });
    handBack(project, "coder", prompt, report());
    expect(phaseOf(project)).toMatchObject({ status: "completed", retry_count: 1, errors: [{ resolved: true }] });
    expect(faultsOf(project)).toEqual([]);
  });

  test("takes secrets out of what it records: of the environment, of .env, and of known shapes", () => {
    const project = inSession();
    project.write(".env", "SERVICE_PASSWORD=from-the-file-1234\n");
    const secrets = ["hunter2-hunter2-99", "from-the-file-1234", `ghp_${"a1".repeat(18)}`];
    const env = { DEPLOY_TOKEN: "hunter2-hunter2-99" };
    bring(
      project,
      report({ status: "failure", summary: `Used ${secrets.join(" ")}`, context: secrets.join(" ") }),
      env,
    );
    bring(project, `Subagent 'coder' failed. Error: bad key ${secrets.join(" ")}`, env);
    const files = [journal, ".gemini/state/active-session.md"].map((path) => project.read(path));
    for (const secret of secrets) for (const file of files) expect(file).not.toContain(secret);
    expect(files[0]).toContain("[redacted]");
  });

  test("reports to the TechLead when the session could not be changed, and records nothing by half", async () => {
    const project = inSession();
    const prompt = delegated(project, "coder", "Phase: 1");
    const before = project.read(journal);
    const said = await whileHolding(project, LOCK_FILE, () => contextOf(handBack(project, "coder", prompt, report())));
    expect(said).toMatch(/could not record the report of phase 1: State is locked by process \d+/);
    expect(project.read(journal)).toBe(before);
    expect(contextOf(handBack(project, "coder", prompt, report()))).toContain("phase 1 as completed");
  });

  test("leaves an edit of the view alone, for the next command to adopt", () => {
    const project = inSession([{ id: 1 }, { id: 2 }]);
    const view = ".gemini/state/active-session.md";
    const edited = project.read(view).replace(/(- id: 2\n.*\n {4}status: )"pending"/, '$1"in_progress"');
    expect(edited).not.toBe(project.read(view));
    project.write(view, edited);
    bring(project, report());
    expect(project.read(view)).toBe(edited);
    succeed(project, ["status"]);
    expect(statusesOf(project)).toEqual(["completed", "in_progress"]);
  });

  test("survives a report of many files, and of files that are not in the project", () => {
    const project = inSession();
    const paths = ["/etc/passwd", "../outside", "a".repeat(900), ...Array.from({ length: 500 }, (_, n) => `f${n}.ts`)];
    bring(project, report({ created: paths.map((path) => `\`${path}\``).join(", ") }));
    expect(phaseOf(project)?.status).toBe("completed");
    expect(faultsOf(project)).toEqual([]);
  });
});

describe("sixteen delegations at once", () => {
  test("all begin and all come back, and nothing is lost (P11)", TIMED, async () => {
    const phases = Array.from({ length: 16 }, (_, index) => ({ id: index + 1, files_created: [`f${index + 1}`] }));
    const project = inSession(phases, "parallel");
    const call = (event: string, phase: number, more: object) => {
      const input = hookInput(project, event, { tool_name: "invoke_agent", ...more });
      return startHook(project, event, { input }).then((run) => ({ ...run, phase }));
    };
    // A hook that cannot get the lock in time says so and changes nothing, so it can be called again.
    const begin = (phase: number) =>
      call("BeforeTool", phase, { tool_input: { agent_name: "coder", prompt: `Phase: ${phase}` } });
    const end = ({ phase, reply }: Awaited<ReturnType<typeof begin>>) =>
      call("AfterTool", phase, {
        tool_input: reply.hookSpecificOutput?.tool_input,
        tool_response: { llmContent: [{ text: finished("coder", report({ created: `f${phase}` })) }] },
      });
    const wave = async <T>(all: readonly T[], one: (what: T) => ReturnType<typeof begin>) => {
      const runs = await Promise.all(all.map(one));
      const late = runs.filter(
        ({ stderr }) => stderr.includes("BeforeTool: State is locked") || stderr.includes("AfterTool: State is locked"),
      );
      expect(late.length).toBeLessThan(all.length / 2);
      const again: typeof runs = [];
      for (const { phase } of late) again.push(await one(all[runs.findIndex((run) => run.phase === phase)] as T));
      return [...runs.filter((run) => !late.includes(run)), ...again];
    };
    const begun = await wave(
      phases.map(({ id: phase }) => phase),
      begin,
    );
    expect(begun.filter(({ reply }) => reply.hookSpecificOutput === undefined)).toEqual([]);
    for (const { id: phase } of phases) project.write(`f${phase}`, `${phase}\n`);
    await wave(begun, end);
    expect(statusesOf(project)).toEqual(Array(16).fill("completed"));
    expect(phasesOf(project).map((phase) => phase.files_created)).toEqual(
      phases.map(({ files_created }) => files_created),
    );
    expect(faultsOf(project)).toEqual([]);
    expectDoctorContent(project);
    expect(complete(project, "nothing is left to report").decision).toBe("allow");
  });
});
