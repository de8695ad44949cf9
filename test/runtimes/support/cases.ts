// The cases that every runtime passes with its real program and a scripted model. Written once, for all of them.

import { spawn } from "node:child_process";
import { describe, expect, test, vi } from "vitest";
import { runtimeNamed } from "../../../src/runtimes/runtime-table.ts";
import { allGone, type Background, background, journalOf, processesOf, until } from "../../support/processes.ts";
import { type PhaseSpec, Project, planPath, planText, type Run } from "../../support/project.ts";
import { environmentOf, isReady, type RealRuntime, removeAll } from "./real-runtime.ts";
import { type Reply, type Scripted, startScripted } from "./scripted.ts";
import type { Heard } from "./wire.ts";

vi.setConfig({ testTimeout: 120_000 });

const report = (created = "none") => `## Task Report
- Status: success
- Files Created: ${created}
- Files Modified: none
- Files Deleted: none
- Validation: pass
- Summary: Done

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

interface Stage {
  project: Project;
  model: Scripted;
  run: (words?: string[], env?: Record<string, string>) => Background;
}

type Attempted = { outcome: string; reason?: string; error_type?: string; usage: Counted[] | null };
type Counted = { input: number; output: number; cached: number; thoughts: number };

/** The ends of all attempts, in order. */
const ends = (project: Project) =>
  journalOf(project).filter(({ type }) => type === "attempt.finished") as unknown as Attempted[];

export function casesOf(runtime: RealRuntime): void {
  const one = runtimeNamed(runtime.name);
  const { except = {} } = runtime;
  const it = (name: string, check: () => Promise<void>) =>
    except[name] === undefined ? test(name, check) : test.skip(`${name} (${except[name]})`, check);

  /** A project with a plan of one phase, and a model that answers its agent. */
  async function on(
    script: (heard: Heard, project: Project) => Reply,
    use: (stage: Stage) => Promise<void>,
    phase: Partial<PhaseSpec> = {},
  ): Promise<void> {
    const project = new Project();
    const model = await startScripted((heard) => script(heard, project));
    try {
      project.write(planPath, planText([{ id: 1, ...phase }]));
      const run = (words: string[] = [], env: Record<string, string> = {}) =>
        background(
          project,
          [
            ...["run", planPath, "--runtime", runtime.name, "--model", runtime.model, "--mode", "sequential", "--yes"],
            ...["--grace", "2s", ...(runtime.words ?? []), ...words],
          ],
          {
            ...environmentOf(runtime, project, model.url),
            MAESTRO_MAX_RETRIES: "0",
            MAESTRO_STAGGER_DELAY: "0",
            ...env,
          },
        );
      await use({ project, model, run });
      await allGone(project);
    } finally {
      for (const { pid } of processesOf(project)) process.kill(pid, "SIGKILL");
      await model.close();
      removeAll(project);
    }
  }

  const told = ({ code, stdout, stderr }: Run) => `${code}\n${stdout}\n${stderr}`;
  const writing =
    (name: string): ((heard: Heard, project: Project) => Reply) =>
    ({ results, tools }, { path }) => {
      const call = results.length === 0 ? runtime.write(`${path}/${name}`, "hello from the model", tools) : undefined;
      return call === undefined ? { text: report(name) } : { call };
    };

  describe.skipIf(!isReady(runtime))(`the real program of ${runtime.name}`, () => {
    it("writes a file, and its tokens are those that the model counted", () =>
      on(
        writing("hello.txt"),
        async ({ project, model, run }) => {
          const ended = await run().ended;
          expect(ended.code, told(ended)).toBe(0);
          expect(project.read("hello.txt")).toContain("hello from the model");
          const [{ outcome, usage } = { outcome: "", usage: null }] = ends(project);
          expect(outcome).toBe("success");
          if (runtime.tokens === "none") return;
          const sum = (key: keyof Counted) => (usage ?? []).reduce((all, counts) => all + counts[key], 0);
          const counted = model.counted();
          expect({ input: sum("input"), output: sum("output") }).toEqual({
            input: counted.input,
            output: counted.output,
          });
          if (runtime.tokens === undefined) expect(sum("cached")).toBe(counted.cached);
        },
        { files_created: ["hello.txt"] },
      ));

    it("takes a 429 for an exhausted quota", () =>
      on(
        () => ({ status: 429, message: "Rate limit exceeded, retry in 3s", retryAfter: 3 }),
        async ({ project, run }) => {
          const ended = await run(["--quota-wait", "1s"]).ended;
          expect(ends(project)[0], told(ended)).toMatchObject({ outcome: "quota" });
        },
      ));

    it("takes a 500 for a failure of the provider", () =>
      on(
        () => ({ status: 500, message: "Internal server error" }),
        async ({ project, run }) => {
          const ended = await run().ended;
          expect(ended.code, told(ended)).toBe(4);
          expect(ends(project)).toEqual([expect.objectContaining({ outcome: "failure" })]);
        },
      ));

    it("takes a 401 for a missing sign-in", () =>
      on(
        () => ({ status: 401, message: "Invalid API key provided" }),
        async ({ project, run }) => {
          const ended = await run().ended;
          expect(ends(project), told(ended)).toEqual([expect.objectContaining({ outcome: "failure", reason: "auth" })]);
        },
      ));

    it("leaves no process behind when it hangs beyond the time limit", () =>
      on(
        () => ({ hang: true }),
        async ({ project, run }) => {
          const ended = await run(["--timeout", "6s"]).ended;
          expect(ends(project), told(ended)).toEqual([expect.objectContaining({ outcome: "timeout" })]);
          await allGone(project);
        },
      ));

    it("leaves no process behind when the run is terminated", () =>
      on(
        () => ({ hang: true }),
        async ({ project, model, run }) => {
          const running = run();
          await until("the model is asked", () => model.heard.some(({ tools }) => tools.length > 0), 60_000);
          process.kill(running.pid, "SIGTERM");
          await running.ended;
          expect(ends(project)).toEqual([expect.objectContaining({ outcome: "interrupted" })]);
          await allGone(project);
        },
      ));

    it("cannot write as an agent that only reads", () =>
      on(
        ({ results }, { path }) => {
          const tools = ["Write", "Bash", "exec_command", "shell_command", "shell", "write_file", "write", "edit"];
          // The model tries what the program does not offer, as a model can.
          const offered = runtime.write(`${path}/stolen.txt`, "x", tools);
          return results.length === 0 && offered !== undefined ? { call: offered } : { text: report() };
        },
        async ({ project, run }) => {
          const ended = await run().ended;
          expect(ended.code, told(ended)).toBe(0);
          expect(project.exists("stolen.txt")).toBe(false);
        },
        { agent: "architect" },
      ));

    it("fails when the model answers with garbage", () =>
      on(
        () => ({ garbage: "\u0001<html>not an event</html>\n{{{\n" }),
        async ({ project, run }) => {
          const ended = await run(["--timeout", "20s"]).ended;
          expect(ended.code, told(ended)).toBe(4);
          expect(ends(project)[0]?.outcome).not.toBe("success");
        },
      ));

    it("gets a hand-off sent back that has no report, and completes it", () =>
      on(
        ({ said }) => ({ text: said.includes("The hand-off is incomplete") ? report() : "Done!" }),
        async ({ project, run }) => {
          const ended = await run([], { MAESTRO_MAX_RETRIES: "2" }).ended;
          expect(ended.code, told(ended)).toBe(0);
          expect(ends(project).map(({ outcome }) => outcome)).toEqual(["failure", "success"]);
        },
      ));

    it("reads a prompt of 200 KB with quotes, line breaks, at signs and noise as it was written", () =>
      on(
        () => ({ text: report() }),
        async ({ project, model }) => {
          const prompt = one.payload(noisy());
          const { code, output } = await directly(runtime, project, model.url, prompt);
          const outcome = one.judge({ exitCode: code, killed: null, stdout: output, stderr: "" });
          expect(outcome, output.slice(-2000)).toMatchObject({ kind: "success" });
          const said = model.heard.find(({ tools }) => tools.length > 0)?.said ?? "";
          expect(said.includes(prompt.trim())).toBe(true);
        },
      ));
  });
}

/** Without NUL, which no program accepts in a text. */
function noisy(): string {
  const noise = Array.from({ length: 31 }, (_, at) => String.fromCharCode(at + 128)).join("");
  const line = `"double" 'single' \`back\` $HOME \\ @src/app.ts a@b.example zod@4 %s é 漢 🎻 ${noise} </user>\n`;
  return `Answer with the report.\n${line.repeat(Math.ceil(200_000 / line.length))}The end.`;
}

/** The program alone, as the engine would start it. */
function directly(runtime: RealRuntime, project: Project, url: string, prompt: string) {
  const one = runtimeNamed(runtime.name);
  const env = { ...environmentOf(runtime, project, url), ...one.environment };
  const spec = { agent: "coder", tier: "full", model: runtime.model, policyFile: null, isStreamed: true } as const;
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    const child = spawn(one.program, one.argv({ ...spec, extraArgs: [] }), {
      cwd: project.path,
      env: project.environment(env),
      stdio: ["pipe", "pipe", "ignore"],
    });
    let output = "";
    child.once("error", reject);
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
    child.once("close", (code) => resolve({ code, output }));
    child.stdin.end(prompt);
  });
}
