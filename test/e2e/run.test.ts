// `maestro run` and `dispatch` with the real Gemini CLI and a scripted model. A start of the CLI costs seconds: the cases share runs.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launches, maestroWithGemini, writeSettings } from "../support/gemini.ts";
import { byWords, type ModelRequest, type Rules, type ScriptedModel, startModel } from "../support/model.ts";
import { type Background, journalOf, processesOf, until } from "../support/processes.ts";
import { Project, planPath, planText, type Run } from "../support/project.ts";
import { status } from "../support/status.ts";

const LIMIT_MS = 120_000;
/** In the CLI's settings: it does not try again by itself. */
const once = { general: { maxAttempts: 1 } };
const refused = { status: 429, message: "You exceeded your quota." };
const broken = { status: 500, message: "An internal error has occurred." };

const phase = (id: number, title: string, over: object = {}) => ({ id, title, ...over });
const task = (title: string) => `# Task: ${title}\n`;
const isAbout = (title: string) => (request: ModelRequest) => request.texts.some((text) => text.includes(task(title)));
const promptOf = (request: ModelRequest | undefined) =>
  request?.texts.find((text) => text.startsWith("PROJECT ROOT: ")) ?? "";
const outcomes = ({ attempts }: { attempts: { result: { outcome: string } | null }[] }) =>
  attempts.map(({ result }) => result?.outcome ?? "running");
const call = (name: string, args: Record<string, unknown>) => ({ parts: [{ functionCall: { name, args } }] });

function report(summary: string, { created = "none", interfaces = "none" } = {}): { parts: { text: string }[] } {
  const text = `## Task Report
- Status: success
- Files Created: ${created}
- Files Modified: none
- Files Deleted: none
- Validation: pass
- Summary: ${summary}

## Downstream Context
- Key Interfaces Introduced: ${interfaces}
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;
  return { parts: [{ text }] };
}

/** A project with a plan, and the model that plays its agents. */
async function prepare(phases: ReturnType<typeof phase>[], settings: object, rules: (root: string) => Rules) {
  const project = new Project();
  writeSettings(project, settings);
  if (phases.length > 0) project.write(planPath, planText(phases));
  const model = await startModel(byWords(rules(project.path)));
  return { project, model };
}

describe("a plan that the real Gemini CLI runs", () => {
  let project: Project;
  let model: ScriptedModel;
  let run: Run;
  beforeAll(async () => {
    const phases = [
      phase(1, "Write the greeting", {
        description: "Put @Get() on it, with zod@4.",
        files_created: ["src/hello.txt"],
        validation: ["grep -q hello src/hello.txt"],
      }),
      phase(2, "Survey the code", { agent: "architect" }),
      phase(3, "Join both", { agent: "tester", blocked_by: [1, 2] }),
    ];
    ({ project, model } = await prepare(phases, {}, (root) => ({
      [task("Write the greeting")]: [
        {
          ...call("write_file", { file_path: `${root}/src/hello.txt`, content: "hello from the model\n" }),
          usage: { prompt: 1000, cached: 300, candidates: 50, thoughts: 7 },
        },
        {
          ...report("Greeted", { created: "src/hello.txt", interfaces: "greet(name) in src/hello.txt" }),
          usage: { prompt: 2000, cached: 900, candidates: 70, thoughts: 11 },
        },
      ],
      [task("Survey the code")]: [
        {
          ...call("write_file", { file_path: `${root}/stolen.txt`, content: "x" }),
          usage: { prompt: 500, cached: 0, candidates: 7, thoughts: 0 },
        },
        {
          ...report("Surveyed", { interfaces: "layers: cli over engine" }),
          usage: { prompt: 600, cached: 450, candidates: 33, thoughts: 0 },
        },
      ],
      [task("Join both")]: [
        { parts: [{ text: "I joined them!" }], usage: { prompt: 700, cached: 1, candidates: 9, thoughts: 2 } },
        { ...report("Joined"), usage: { prompt: 800, cached: 2, candidates: 11, thoughts: 3 } },
      ],
    })));
    project.write("src/getUser.ts", "export const user = 4;\n");
    run = await maestroWithGemini(project, model.url, ["run", planPath, "--task", "Greet the world"], {
      MAESTRO_AUTO_ARCHIVE: "false",
    }).ended;
  }, LIMIT_MS);
  afterAll(async () => {
    await model.close();
    project.remove();
  });
  const asked = (title: string) => model.requests.filter(isAbout(title));

  test("ends with exit code 0, its phases completed and verified, the file really in the project", () => {
    expect(run.code).toBe(0);
    expect(project.read("src/hello.txt")).toBe("hello from the model\n");
    const session = status(project);
    expect(session.status).toBe("completed");
    expect(session.phases).toMatchObject([
      { status: "completed", verified: true, files_created: ["src/hello.txt"], validation: { result: "pass" } },
      { status: "completed", verified: true, files_created: [], retry_count: 0, errors: [] },
      { status: "completed", verified: true, retry_count: 1, errors: [{ type: "validation", resolved: true }] },
    ]);
  });

  test("leaves a stream of what each agent did, which `logs` shows without the prompt (C57)", () => {
    const { stdout } = project.maestro(["logs", "1"]);
    expect(stdout).toMatch(/^> write_file \S*src\/hello\.txt\n## Task Report$/m);
    expect(stdout).toContain("- Summary: Greeted");
    expect(stdout).not.toMatch(/PROJECT ROOT|"type"/);
    const events = project.maestro(["logs", "1", "--raw"]).stdout.trim().split("\n");
    expect(events.map((line) => JSON.parse(line).type)).toEqual(
      expect.arrayContaining(["init", "message", "tool_use", "tool_result", "result"]),
    );
  });

  test("reports exactly the tokens that the model counted, by agent, with the thoughts apart", () => {
    const { tokens, phases } = JSON.parse(project.maestro(["report", "--json"]).stdout);
    expect(tokens).toMatchObject({ input: 5600, cached: 1653, output: 180, thoughts: 23, attempts: 4, unreported: 0 });
    expect(tokens.by_agent).toMatchObject([
      { agent: "coder", tokens: 3120 },
      { agent: "tester", tokens: 1520 },
      { agent: "architect", tokens: 1140 },
    ]);
    expect(phases).toMatchObject([{ tokens: 3120 }, { tokens: 1140 }, { tokens: 1520 }]);
    expect(status(project).token_usage).toEqual({
      total_input: 5600,
      total_output: 180,
      total_cached: 1653,
      by_agent: {
        coder: { input: 3000, output: 120, cached: 1200 },
        architect: { input: 1100, output: 40, cached: 450 },
        tester: { input: 1500, output: 20, cached: 3 },
      },
    });
  });

  test("sends the project root first, then protocols, persona and task, all of it over stdin and nothing in argv", () => {
    const prompt = promptOf(asked("Write the greeting")[0]);
    const positions = [
      `PROJECT ROOT: ${project.path}\n`,
      "# Agent Base Protocol\n",
      "# Filesystem Safety Protocol\n",
      "# Role: coder\n\nMake the smallest change",
      task("Write the greeting"),
      "Put \\@Get() on it, with zod\\@4.",
      "Greet the world",
      "- src/hello.txt",
      "- grep -q hello src/hello.txt",
    ].map((words) => prompt.indexOf(words));
    expect(positions[0]).toBe(0);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    const line = "--approval-mode=yolo --output-format stream-json -m gemini-2.5-flash --skip-trust";
    const withoutPolicy = launches(project).map((one) => one.replace(/ --policy \S+\.toml --policy \S+/, ""));
    expect(withoutPolicy).toEqual([line, line, line, line]);
  });

  test("sends the words of the plan as they are: the CLI would put a file for whatever follows an at sign", () => {
    const [context, prompt, ...rest] = asked("Write the greeting")[0]?.texts ?? [];
    expect(context).toContain("<session_context>");
    expect(prompt).toContain("Put \\@Get() on it, with zod\\@4.");
    expect(prompt).toMatch(/`\\@` stands for/);
    expect(rest).toEqual([]);
  });

  test("offers a read-only agent nothing that writes, although everything is approved", () => {
    const [first, second] = asked("Survey the code");
    expect(first?.tools).toContain("read_file");
    for (const tool of ["write_file", "replace", "run_shell_command"]) {
      expect(first?.tools).not.toContain(tool);
      expect(asked("Write the greeting")[0]?.tools).toContain(tool);
    }
    expect(second?.results).toMatch(/write_file.* not found/);
    expect(project.exists("stolen.txt")).toBe(false);
  });

  test("runs independent phases side by side, and hands the context of both to the phase that waits for them", () => {
    const begunAndEnded = journalOf(project).filter(({ type }) => /^attempt\.(?:started|finished)$/.test(String(type)));
    expect(begunAndEnded.slice(0, 2)).toMatchObject([
      { type: "attempt.started", phase: "1" },
      { type: "attempt.started", phase: "2" },
    ]);
    const prompt = promptOf(asked("Join both")[0]);
    const [, one, two] = prompt.slice(prompt.indexOf("# Context from earlier phases")).split("\n## ");
    expect(one).toMatch(/^Phase 1: Write the greeting \(coder, completed\)\n/);
    expect(one).toContain("greet(name) in src/hello.txt");
    expect(two).toMatch(/^Phase 2: Survey the code \(architect, completed\)\n/);
    expect(two).toContain("layers: cli over engine");
  });

  test("counts an answer without a report as a failed attempt, and the next prompt says what was missing", () => {
    const [joining] = status(project).phases.slice(2);
    expect(outcomes(joining)).toEqual(["failure", "success"]);
    expect(joining.attempts[0].result).toMatchObject({ exit_code: 0, reason: "handoff_incomplete" });
    const [before, after] = asked("Join both").map(promptOf);
    expect(before).not.toContain("# Previous attempts");
    expect(after).toContain("This is retry 1 of 2.");
    expect(after).toContain('Missing at the end of the answer: the section "## Task Report"');
  });
});

describe("a provider that refuses, fails and falls silent", () => {
  let project: Project;
  let model: ScriptedModel;
  let run: Run;
  beforeAll(async () => {
    const phases = [phase(1, "Refused once"), phase(2, "Broken provider"), phase(3, "Silent at first")];
    ({ project, model } = await prepare(phases, once, () => ({
      [task("Refused once")]: [{ ...refused, retryDelay: "0.3s" }, report("Done")],
      [task("Broken provider")]: [broken, broken],
      [task("Silent at first")]: [{ parts: [] }, report("Done")],
    })));
    run = await maestroWithGemini(project, model.url, ["run", planPath, "--keep-going"], {
      MAESTRO_MAX_RETRIES: "1",
      MAESTRO_QUOTA_DELAY: "200ms",
    }).ended;
  }, LIMIT_MS);
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  test("makes the engine wait as long as it asks for when the quota is used up, without a failed attempt", () => {
    const [one] = status(project).phases;
    expect(one).toMatchObject({ status: "completed", retry_count: 0, errors: [] });
    expect(outcomes(one)).toEqual(["quota", "success"]);
    const [first, second] = one.attempts;
    expect(first.result).toMatchObject({ exit_code: 173, usage: null });
    expect(first.result.message).toContain("You exceeded your quota.");
    const hits = journalOf(project).filter(({ type }) => type === "quota.hit");
    expect(hits).toMatchObject([{ phase: "1", wait_ms: 300, slots: 1 }]);
    expect(second.started >= String(hits[0]?.until)).toBe(true);
    expect(run.stderr).toMatch(/quota/i);
  });

  test("is retried after an error, then the engine asks a person what to do and exits with 4", () => {
    const [, two] = status(project).phases;
    expect(two).toMatchObject({ status: "failed", retry_count: 1 });
    expect(outcomes(two)).toEqual(["failure", "failure"]);
    expect(two.attempts[1].result).toMatchObject({ exit_code: 244, reason: "server_error", error_type: "runtime" });
    expect(run.code).toBe(4);
    expect(run.stdout).toContain("Phase Execution Failed: Broken provider\n");
    expect(run.stdout).toContain("An internal error has occurred. (INTERNAL)");
    expect(run.stdout).toContain('/dist/maestro.js" retry 2\n');
    expect(status(project).status).toBe("failed");
  });

  test("fails an attempt with an empty answer, although the CLI exits with 0", () => {
    const [, , three] = status(project).phases;
    expect(three).toMatchObject({ status: "completed", retry_count: 1 });
    expect(three.attempts[0].result).toMatchObject({ outcome: "failure", exit_code: 0, reason: "empty_response" });
    const [, second] = model.requests.filter(isAbout("Silent at first")).map(promptOf);
    expect(second).toContain("The model gave an empty response");
  });
});

describe("a run that is stopped while its agents wait for the model", () => {
  let project: Project;
  let model: ScriptedModel;
  const env = { MAESTRO_QUOTA_DELAY: "200ms", MAESTRO_AUTO_ARCHIVE: "false" };
  beforeAll(async () => {
    const phases = [phase(1, "Endless refusal"), phase(2, "Slow model")];
    ({ project, model } = await prepare(phases, {}, () => ({
      [task("Endless refusal")]: refused,
      [task("Slow model")]: { ...report("Too late"), delayMs: LIMIT_MS },
    })));
  });
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  test(
    "sees the quota trouble while the CLI still tries again by itself, and ends every attempt, uncounted, on SIGTERM",
    async () => {
      const running = maestroWithGemini(project, model.url, ["run", planPath, "--json"], env);
      await until("quota.hit", () => running.stdout().includes('"type":"quota.hit"'), LIMIT_MS);
      await until("a request that waits", () => model.requests.find(isAbout("Slow model")), LIMIT_MS);
      expect(running.stdout()).not.toContain('"type":"attempt.finished"');
      running.child.kill("SIGTERM");
      expect((await running.ended).code).toBe(143);
      expect(processesOf(project)).toEqual([]);
      const session = status(project);
      expect(session).toMatchObject({ status: "interrupted", errors: [] });
      for (const one of session.phases) {
        expect(one).toMatchObject({ status: "in_progress", retry_count: 0 });
        expect(outcomes(one)).toEqual(["interrupted"]);
      }
    },
    LIMIT_MS,
  );

  test(
    "is resumed later and succeeds",
    async () => {
      const willing = await startModel(byWords({ "# Task: ": report("Done") }));
      const run = await maestroWithGemini(project, willing.url, ["resume"], env).ended;
      await willing.close();
      expect(run.code).toBe(0);
      for (const one of status(project).phases) {
        expect(one).toMatchObject({ status: "completed", verified: true, retry_count: 0 });
        expect(outcomes(one)).toEqual(["interrupted", "success"]);
      }
    },
    LIMIT_MS,
  );
});

describe("while a model never answers", () => {
  let project: Project;
  let model: ScriptedModel;
  let hanging: Background;
  const others: { project: Project; model: ScriptedModel }[] = [];
  beforeAll(async () => {
    ({ project, model } = await prepare([phase(1, "Hang")], {}, () => ({ "# Task: ": { hang: true } })));
    hanging = maestroWithGemini(project, model.url, ["run", planPath, "--timeout", "8s"], { MAESTRO_MAX_RETRIES: "0" });
  });
  afterAll(async () => {
    for (const each of [{ project, model }, ...others]) {
      await each.model.close();
      each.project.remove();
    }
  });

  test(
    "an agent of another project that cannot sign in is escalated at once, without a retry",
    async () => {
      const elsewhere = await prepare([phase(1, "Sign in")], { security: {} }, () => ({}));
      others.push(elsewhere);
      const run = await maestroWithGemini(elsewhere.project, elsewhere.model.url, ["run", planPath]).ended;
      expect(run.code).toBe(4);
      const [one] = status(elsewhere.project).phases;
      expect(one).toMatchObject({ status: "failed", retry_count: 0, errors: [{ type: "runtime", resolved: false }] });
      expect(one.attempts).toMatchObject([{ result: { exit_code: 41, reason: "auth", error_type: "runtime" } }]);
      expect(run.stdout).toContain("set GEMINI_API_KEY");
      expect(elsewhere.model.requests).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    "a batch of another project leaves answers, exit codes, logs and a summary",
    async () => {
      const elsewhere = await prepare([], once, (root) => ({
        "Say hello": [
          call("write_file", { file_path: `${root}/hello.txt`, content: "hello\n" }),
          { parts: [{ text: "Said." }] },
        ],
        "Draw it": [broken],
      }));
      others.push(elsewhere);
      const { project: batch } = elsewhere;
      batch.write("batch/prompts/coder.a.txt", "Say hello\n");
      batch.write("batch/prompts/architect.txt", "Draw it\n");
      const run = await maestroWithGemini(batch, elsewhere.model.url, ["dispatch", "batch"], {
        MAESTRO_MAX_CONCURRENT: "1",
      }).ended;
      expect(run.code).toBe(1);
      expect(JSON.parse(batch.read("batch/results/summary.json"))).toMatchObject({
        batch_status: "partial_failure",
        total_agents: 2,
        succeeded: 1,
        failed: 1,
        agents: [
          { name: "architect", agent: "architect", exit_code: 244, status: "failed" },
          { name: "coder.a", agent: "coder", exit_code: 0, status: "success" },
        ],
      });
      expect(JSON.parse(batch.read("batch/results/coder.a.json"))).toMatchObject({ response: "Said." });
      expect(batch.read("batch/results/coder.a.exit").trim()).toBe("0");
      expect(batch.read("hello.txt")).toBe("hello\n");
      expect(batch.read("batch/results/architect.json")).toBe("");
      expect(batch.read("batch/results/architect.exit").trim()).toBe("244");
      expect(batch.read("batch/results/architect.log")).toContain("An internal error has occurred.");
      const [drawing, saying] = elsewhere.model.requests;
      expect(drawing?.tools).not.toContain("write_file");
      expect(promptOf(saying)).toMatch(/^PROJECT ROOT: .+\n(.+\n){3}\nSay hello\n$/);
    },
    LIMIT_MS,
  );

  test(
    "the engine kills its agent at the time limit, with everything that the agent started, and escalates",
    async () => {
      const run = await hanging.ended;
      expect(run.code).toBe(4);
      expect(run.stdout).toContain("Agent Timeout");
      expect(processesOf(project)).toEqual([]);
      const [one] = status(project).phases;
      expect(one).toMatchObject({ status: "failed", errors: [{ type: "timeout", resolved: false }] });
      expect(one.attempts).toMatchObject([{ result: { outcome: "timeout", exit_code: 124, usage: null } }]);
      expect(one.attempts[0].result.duration_ms).toBeGreaterThanOrEqual(8000);
      expect(one.attempts[0].result.duration_ms).toBeLessThan(15_000);
    },
    LIMIT_MS,
  );
});
