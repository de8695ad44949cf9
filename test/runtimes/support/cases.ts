// The cases that every runtime passes with its real program and a scripted model. Written once, for all of them. A program takes seconds to
// start, so cases share runs: each phase of a run is a case, and the model knows it by a word of the phase's description.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runtimeNamed } from "../../../src/runtimes/runtime-table.ts";
import { bubblewrap } from "../../support/bubblewrap.ts";
import { initRepository } from "../../support/empty-repository.ts";
import { allGone, type Background, background, journalOf, processesOf, until } from "../../support/processes.ts";
import { type PhaseSpec, Project, planPath, planText, type Run } from "../../support/project.ts";
import { environmentOf, type LateCase, type RealRuntime, removeAll } from "./real-runtime.ts";
import { type Reply, type Scripted, startScripted } from "./scripted.ts";
import type { Heard } from "./wire.ts";

/** A run waits for others of the machine, and some programs take their time to give up. */
const LIMIT_MS = 240_000;
const ATTEMPT_LIMIT = "100s";
/** Long enough for every program to ask its model, on a machine that is not busy. */
const SHORT_LIMIT = "9s";

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

const HELLO = "hello from the model";
const READER = "architect";

type Counted = { input: number; output: number; cached: number };
type Attempted = { phase: string; outcome: string; reason?: string; usage: Counted[] | null };

/** The results of a finished run. */
interface Played {
  run: Run;
  /** The ends of the attempts of a phase, in order. */
  ends: (phase: string) => Attempted[];
  told: string;
  files: string[];
  hello: string | null;
  model: Scripted;
}

interface Scene {
  phases: PhaseSpec[];
  words?: string[];
  retries?: number;
  /** Makes the project a repository with a commit. */
  isRepository?: boolean;
  act?: (running: Background, model: Scripted, project: Project) => Promise<void>;
}

const refusals: Record<string, Reply> = {
  "429": { status: 429, message: "Rate limit exceeded, retry in 600s", retryAfter: 1 },
  "500": { status: 500, message: "Internal server error" },
  "401": { status: 401, message: "Invalid API key provided" },
  garbage: { garbage: "\u0001<html>not an event</html>\n{{{\n" },
  hangs: { hang: true },
  killed: { hang: true },
};

/** The word of a phase by which the model knows its case. */
const wordOf = (id: string) => `case-${id}-case`;
const phaseOf = (id: string, more: Partial<PhaseSpec> = {}): PhaseSpec => ({
  ...{ id, description: `Do what ${wordOf(id)} asks for.`, ...more },
});

/** What the model does in each case. */
function replyTo(runtime: RealRuntime, heard: Heard, { path }: Project): Reply {
  const { said, results, tools } = heard;
  const id = ["works", "boxed", "looks", ...Object.keys(refusals)].find((one) => said.includes(wordOf(one)));
  if (id === "works") {
    if (results.length === 0) return { call: runtime.write(`${path}/hello.txt`, HELLO, tools) };
    return { text: said.includes("The hand-off is incomplete") ? report("hello.txt") : "Done!" };
  }
  if (id === "boxed") {
    return results.length === 0
      ? { call: runtime.shell("cp seed.txt hello.txt", tools) }
      : { text: report("hello.txt") };
  }
  if (id === "looks") {
    // It tries what the program does not offer, as a model can; in a worktree of its own the path is another one.
    const tries = [
      () => runtime.write(`${path}/stolen.txt`, "x", tools),
      () => runtime.shell(`echo x > '${path}/stolen.txt'; echo x > stolen.txt`, tools),
    ];
    const next = tries[results.length];
    return next === undefined ? { text: report() } : { call: next() };
  }
  return refusals[id ?? ""] ?? { text: report() };
}

async function play(runtime: RealRuntime, scene: Scene): Promise<Played> {
  const project = new Project();
  const model = await startScripted((heard) => replyTo(runtime, heard, project));
  try {
    if (scene.isRepository) initRepository(project.path);
    project.write(planPath, planText(scene.phases));
    if (scene.isRepository) {
      project.write("seed.txt", `${HELLO}\n`);
      commitAll(project);
    }
    const passed = Object.keys(runtime.passed?.(model.url) ?? {});
    const running = background(
      project,
      [
        ...["run", planPath, "--runtime", runtime.name, "--model", runtime.model, "--mode", "parallel", "--yes"],
        ...["--keep-open", "--keep-going", "--grace", "2s", "--timeout", ATTEMPT_LIMIT],
        ...(passed.length === 0 ? [] : ["--pass-env", passed.join(",")]),
        ...(scene.isRepository ? [] : ["--isolation", "none"]),
        ...(scene.words ?? []),
      ],
      {
        // A sandbox shows what is on PATH, and not where the launcher of the tests leads.
        ...environmentOf(scene.isRepository ? { ...runtime, isScript: false } : runtime, project, model.url),
        ...{ MAESTRO_MAX_RETRIES: String(scene.retries ?? 0), MAESTRO_STAGGER_DELAY: runtime.staggerSeconds ?? "0" },
      },
    );
    await scene.act?.(running, model, project);
    const run = await running.ended;
    await allGone(project);
    expect(workingIn(project)).toEqual([]);
    const finished = endsIn(project);
    return {
      run,
      ends: (phase) => finished.filter((one) => one.phase === phase),
      told: `${run.code}\n${run.stdout}\n${run.stderr}\n${JSON.stringify(finished)}`,
      files: project.list(),
      hello: project.exists("hello.txt") ? project.read("hello.txt") : null,
      model,
    };
  } finally {
    for (const { pid } of processesOf(project)) process.kill(pid, "SIGKILL");
    await model.close();
    removeAll(project);
  }
}

function commitAll(project: Project): void {
  for (const args of [
    ["add", "-A"],
    ["commit", "-q", "-m", "begin"],
  ]) {
    const { code, stderr } = project.run("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args]);
    if (code !== 0) throw new Error(stderr);
  }
}

/** The ends of all attempts so far; none before the first. */
function endsIn(project: Project): Attempted[] {
  if (!project.exists(".gemini/state/progress.jsonl")) return [];
  return journalOf(project).filter(({ type }) => type === "attempt.finished") as unknown as Attempted[];
}

/** Processes whose working directory is in the project, also those that have hidden where they come from. */
function workingIn({ path }: Project): string[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return numbers.filter((name) => orNothing(() => readlinkSync(`/proc/${name}/cwd`))?.startsWith(path));
}

/** Terminates the program of one phase, and not the shell in which Maestro records how it ended. */
function terminateProgram(project: Project, phase: string): void {
  const isOfPhase = (pid: number) =>
    orNothing(() => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0"))?.includes(`MAESTRO_PHASE=${phase}`);
  for (const { pid, command } of processesOf(project)) {
    if (!command.startsWith("/bin/sh -c") && isOfPhase(pid)) orNothing(() => process.kill(pid, "SIGTERM"));
  }
}

/** Undefined for a process that has exited in between. */
function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

const asked = ({ heard }: Scripted, id: string) => heard.some(({ said }) => said.includes(wordOf(id)));

/** The runs of a runtime. Waiting costs nothing, so those that wait run beside those that work. */
function scenesOf(runtime: RealRuntime) {
  const { late = [] } = runtime;
  const isLate = (id: string) => late.includes(id as LateCase);
  const holds = runtimeNamed(runtime.name).capabilities.tiers.includes("read-only");
  const reader = phaseOf("looks", { agent: READER });
  const works: Scene = { phases: [phaseOf("works", { files_created: ["hello.txt"] })], retries: 1 };
  const refused = ["500", "401", "garbage"].filter((id) => !isLate(id));
  const fails: Scene = { phases: [...(holds ? [reader] : []), ...refused.map((id) => phaseOf(id))] };
  const quota: Scene = { phases: [phaseOf("429")], words: ["--quota-wait", "1s"] };
  const silent = ["hangs", ...late].map((id) => phaseOf(id));
  const slow: Scene = { phases: silent, words: ["--timeout", SHORT_LIMIT] };
  const ended: Scene = {
    phases: [phaseOf("killed"), phaseOf("hangs")],
    act: async (running, model, project) => {
      const bothAsked = () => {
        // The program has failed before its request, and the other one would wait forever.
        expect(endsIn(project)).toEqual([]);
        return asked(model, "killed") && asked(model, "hangs");
      };
      await until("both are asked", bothAsked, 120_000);
      terminateProgram(project, "killed");
      await until("the killed one is recorded", () => endsIn(project).length > 0, 60_000);
      process.kill(running.pid, "SIGTERM");
    },
  };
  const unheld: Scene = { phases: [reader] };
  const boxed = phaseOf("boxed", { files_created: ["hello.txt"] });
  const confined: Scene = { phases: [boxed, ...(holds ? [] : [reader])], isRepository: true, words: ["--sandbox"] };
  return { works, fails, quota, slow, ended, unheld, confined, isLate, holds };
}

export function casesOf(runtime: RealRuntime): void {
  const { isLate, holds, ...scenes } = scenesOf(runtime);
  const one = runtimeNamed(runtime.name);
  const runs = new Map<Scene, Promise<Played>>();
  const played = (scene: Scene) => {
    const known = runs.get(scene) ?? play(runtime, scene);
    runs.set(scene, known);
    return known;
  };
  const it = (name: string, check: () => Promise<void>) => test(name, { timeout: LIMIT_MS }, check);

  describe(`the real program of ${runtime.name}`, () => {
    beforeAll(() => {
      const isWaiting = [scenes.slow, ...(isLate("429") ? [] : [scenes.quota])];
      // The test that waits for the run reports a failure.
      const settled = (scene: Scene) =>
        played(scene).then(
          () => undefined,
          () => undefined,
        );
      for (const scene of isWaiting) void settled(scene);
      void settled(scenes.works)
        .then(() => settled(scenes.fails))
        .then(() => settled(scenes.ended));
    });
    afterAll(() => Promise.allSettled(runs.values()), LIMIT_MS);

    it("writes a file, and gets a hand-off without a report sent back", async () => {
      const { run, ends, hello, told } = await played(scenes.works);
      expect([run.code, hello?.trim()], told).toEqual([0, HELLO]);
      expect(ends("works").map(({ outcome, reason }) => [outcome, reason])).toEqual([
        ["failure", "handoff_incomplete"],
        ["success", undefined],
      ]);
    });

    it("reports the tokens that the model counted", async () => {
      const { ends, model, told } = await played(scenes.works);
      const usages = ends("works").map(({ usage }) => usage);
      if (runtime.tokens === "none") return expect(usages).toEqual([null, null]);
      const sum = (key: keyof Counted) => usages.flat().reduce((all, counts) => all + (counts?.[key] ?? 0), 0);
      const { input, output, cached } = model.counted(wordOf("works"));
      expect(input).toBeGreaterThan(0);
      expect({ input: sum("input"), output: sum("output"), cached: sum("cached") }, told).toEqual({
        ...{ input, output, cached: runtime.tokens === "without cached" ? 0 : cached },
      });
    });

    it("takes a 429 for an exhausted quota, or reports nothing until its time is up", async () => {
      const { ends, told } = await played(isLate("429") ? scenes.slow : scenes.quota);
      const outcomes = new Set(ends("429").map(({ outcome }) => outcome));
      expect([...outcomes], told).toEqual([isLate("429") ? "timeout" : "quota"]);
    });

    test.for<[string, object]>([
      ["500", { outcome: "failure", reason: "server_error" }],
      ["401", { outcome: "failure", reason: "auth" }],
      ["garbage", { outcome: "failure" }],
    ])(
      "takes an answer %s for what it is, or tells nothing until its time is up",
      { timeout: LIMIT_MS },
      async ([id, expected]) => {
        const { run, ends, told } = await played(isLate(id) ? scenes.slow : scenes.fails);
        expect(run.code, told).toBe(4);
        expect(ends(id), told).toEqual([expect.objectContaining(isLate(id) ? { outcome: "timeout" } : expected)]);
      },
    );

    it("leaves no process behind when it hangs beyond the time limit", async () => {
      const { ends, told } = await played(scenes.slow);
      expect(ends("hangs"), told).toEqual([expect.objectContaining({ outcome: "timeout" })]);
    });

    it("has not succeeded when it is terminated, and ends with the engine when that is", async () => {
      const { ends, told } = await played(scenes.ended);
      expect(ends("killed"), told).toEqual([expect.objectContaining({ outcome: "failure" })]);
      expect(ends("hangs"), told).toEqual([expect.objectContaining({ outcome: "interrupted" })]);
    });

    test("works in a sandbox, where it sees its own settings", { timeout: LIMIT_MS }, async (context) => {
      bubblewrap(context);
      const { ends, hello, told } = await played(scenes.confined);
      expect(ends("boxed"), told).toEqual([expect.objectContaining({ outcome: "success" })]);
      expect(hello?.trim()).toBe(HELLO);
    });

    if (holds) {
      it("cannot write as an agent that only reads", async () => {
        const { ends, files, told } = await played(scenes.fails);
        expect(ends("looks"), told).toEqual([expect.objectContaining({ outcome: "success" })]);
        expect(files).not.toContain("stolen.txt");
      });
    } else {
      it("is refused for an agent that only reads", async () => {
        const { run, model, told } = await played(scenes.unheld);
        expect(run.code, told).toBe(2);
        expect(run.stderr).toContain(`cannot enforce the tier of agent ${READER} (read-only)`);
        expect(model.heard).toEqual([]);
      });

      test("cannot change the project as an agent that only reads, in a sandbox", {
        timeout: LIMIT_MS,
      }, async (context) => {
        bubblewrap(context);
        const { ends, files, model, told } = await played(scenes.confined);
        expect(asked(model, "looks"), told).toBe(true);
        expect(ends("looks"), told).toHaveLength(1);
        expect(files).not.toContain("stolen.txt");
      });
    }

    it("reads a prompt of 200 KB with quotes, line breaks, at signs and noise as it was written", async () => {
      const project = new Project();
      const model = await startScripted(() => ({ text: report() }));
      try {
        const prompt = one.payload(noisy());
        const { code, stdout, stderr } = await directly(runtime, project, model.url, prompt);
        const outcome = one.judge({ exitCode: code, killed: null, stdout, stderr: "" });
        const told = `exit ${code}: ${stdout.slice(-500)}\n${stderr.slice(-2000)}`;
        expect(outcome, told).toMatchObject({ kind: "success" });
        const said = model.heard.find(({ tools }) => tools.length > 0)?.said ?? "";
        expect(said.includes(prompt.trim())).toBe(true);
      } finally {
        await model.close();
        removeAll(project);
      }
    });
  });
}

/** Without NUL, which no program accepts in a text. */
function noisy(): string {
  const noise = Array.from({ length: 31 }, (_, at) => String.fromCharCode(at + 128)).join("");
  const line = `"double" 'single' \`back\` $HOME \\ @src/app.ts a@b.example zod@4 %s \u0001\u001b é 漢 🎻 ${noise} </user>\n`;
  // Not all of it is noise: a program counts more tokens for that than a model takes.
  return `Answer with the report.\n${line.repeat(100)}${"plain words\n".repeat(16_000)}The end.`;
}

/** The program alone, as the engine would start it. */
function directly(runtime: RealRuntime, project: Project, url: string, prompt: string) {
  const one = runtimeNamed(runtime.name);
  const env = { ...environmentOf(runtime, project, url), ...one.environment };
  const file = one.startFile && project.write(`start.${one.startFile.ending}`, one.startFile.text);
  const spec = { agent: "coder", tier: "full", model: runtime.model, isStreamed: true, extraArgs: [] } as const;
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    const { PATH } = env;
    const program = `${PATH?.split(":")[0]}/${one.program}`;
    const child = spawn(program, one.argv({ ...spec, policyFile: file ?? null }), {
      cwd: project.path,
      env: project.environment(env),
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.once("error", reject);
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(prompt);
  });
}
