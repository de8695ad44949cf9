// Real programs, the built engine and a scripted model. `npm run test:runtimes` has all programs, the gate one of them.

import { spawn, spawnSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runtimeNamed } from "../../src/runtimes/runtime-table.ts";
import { maestroPath, type PhaseSpec, type Project, planText, withProject } from "../support/project.ts";
import { type ChatAnswer, type ChatRequest, startChatModel } from "./chat-model.ts";
import { type CaseName, type ChatProgram, chatPrograms, installed } from "./chat-programs.ts";

const LIMIT_MS = 180_000;

const report = `## Task Report
- Status: success
- Files Created: out.txt
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

interface Played {
  code: number | null;
  project: Project;
  finished: Record<string, unknown>[];
  requests: ChatRequest[];
}

interface Play {
  answer: (request: ChatRequest, project: Project) => ChatAnswer;
  phase?: Partial<PhaseSpec>;
  timeout?: string;
  retries?: number;
  /** Terminates the engine after the first request. */
  isTerminated?: boolean;
}

/** Runs a plan of one phase; nothing that the program started may be left. */
async function play(program: ChatProgram, project: Project, directory: string, of: Play): Promise<Played> {
  let terminate: (() => void) | undefined;
  const model = await startChatModel((request) => {
    terminate?.();
    return of.answer(request, project);
  });
  const { own, passed } = program.signIn(project, model.url);
  const path = [directory, dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { ...own, ...passed, PATH: path, MAESTRO_MAX_RETRIES: String(of.retries ?? 0) };
  project.write("README.md", "x\n");
  project.run("git", ["init", "-q"]);
  project.write(
    "plan.md",
    planText([{ id: 1, description: "Write out.txt.", files_created: ["out.txt"], ...of.phase }]),
  );
  const named = Object.keys(passed);
  const child = project.start(
    process.execPath,
    [
      ...[maestroPath, "run", "plan.md", "--yes", "--keep-open", "--runtime", program.name, "--model", program.model],
      ...["--isolation", "none", "--grace", "3s", "--quota-wait", "2s", "--timeout", of.timeout ?? "90s"],
      ...(named.length === 0 ? [] : ["--pass-env", named.join(",")]),
    ],
    env,
  );
  if (of.isTerminated) terminate = () => void child.kill("SIGTERM");
  child.stdout.resume();
  child.stderr.resume();
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  model.close();
  expect(startedFrom(directory)).toEqual([]);
  const journal = project.exists(".gemini/state/progress.jsonl") ? project.read(".gemini/state/progress.jsonl") : "";
  const events: Record<string, unknown>[] = journal
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const finished = events.filter(({ type }) => type === "attempt.finished");
  return { code, project, finished, requests: model.requests };
}

function startedFrom(directory: string): string[] {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.includes(dirname(directory)));
}

const present = chatPrograms.filter((program) => installed(program) !== null);

describe.each(present.map((program) => [program.name, program] as const))("%s, the real program,", (name, program) => {
  const directory = installed(program) ?? "";
  const target = (project: Project) => join(project.path, "out.txt");
  const works = ({ hasResult }: ChatRequest, project: Project): ChatAnswer =>
    hasResult ? { text: report } : program.write(target(project));
  const played = (of: Play, check: (result: Played) => void) =>
    withProject(async (project) => check(await play(program, project, directory, of)));
  const holdsReadOnly = runtimeNamed(name).capabilities.tiers.includes("read-only");

  test("writes a file, and its tokens are those that are billed", { timeout: LIMIT_MS }, () =>
    played({ answer: works }, ({ code, project, finished }) => {
      expect([code, project.read("out.txt"), finished[0]?.outcome]).toEqual([0, "hello\n", "success"]);
      expect(finished[0]?.usage ?? null).toEqual(program.usage && [expect.objectContaining(program.usage)]);
    }),
  );

  test.for<[CaseName | "auth", ChatAnswer, object]>([
    ["quota", { status: 429, message: "Rate limit reached, please retry in 600s" }, { outcome: "quota" }],
    ["e500", { status: 500, message: "The server had an error" }, { outcome: "failure", reason: "server_error" }],
    ["auth", { status: 401, message: "Incorrect API key provided" }, { outcome: "failure", reason: "auth" }],
    ["garbage", "garbage", { outcome: "failure" }],
  ])("ends with what happened: %s", { timeout: LIMIT_MS }, ([what, answer, expected]) => {
    const isLate = program.late.some((one) => one === what);
    return played({ answer: () => answer, timeout: isLate ? "15s" : "90s" }, ({ code, finished }) => {
      expect(code).not.toBe(0);
      expect(finished).toEqual([expect.objectContaining(isLate ? { outcome: "timeout" } : expected)]);
    });
  });

  test("that hangs is stopped at its time limit, with everything that it started", { timeout: LIMIT_MS }, () =>
    played({ answer: () => "hang", timeout: "8s" }, ({ finished }) => {
      expect(finished).toEqual([expect.objectContaining({ outcome: "timeout" })]);
    }),
  );

  test("ends with the engine when that is terminated", { timeout: LIMIT_MS }, () =>
    played({ answer: () => "hang", isTerminated: true }, ({ finished }) => {
      expect(finished).toEqual([expect.objectContaining({ outcome: "interrupted" })]);
    }),
  );

  test("is asked again when its report is missing", { timeout: LIMIT_MS }, () => {
    let asked = 0;
    const answer = (request: ChatRequest, project: Project) => {
      if (request.hasResult) asked += 1;
      return request.hasResult && asked === 1 ? { text: "I am done." } : works(request, project);
    };
    return played({ answer, retries: 1 }, ({ code, finished }) => {
      expect([code, ...finished.map(({ outcome }) => outcome)]).toEqual([0, "failure", "success"]);
    });
  });

  test.for(["write", "shell"] as const)(
    "cannot change a file as a read-only agent: %s",
    { timeout: LIMIT_MS },
    (tool) => {
      const call = (project: Project) =>
        tool === "write" ? program.write(target(project)) : program.shell(`echo hi > ${target(project)}`);
      const answer = (request: ChatRequest, project: Project) =>
        request.hasResult ? { text: report.replace("out.txt", "none") } : call(project);
      const phase = { agent: "code-reviewer", files_created: [] };
      return played({ answer, phase }, ({ code, project, requests }) => {
        expect(project.exists("out.txt")).toBe(false);
        // A program that cannot hold the tier is not started at all.
        expect([code, requests.length > 1]).toEqual(holdsReadOnly ? [0, true] : [2, false]);
      });
    },
  );

  test("reads 200 kB of quotes, at signs and noise as they are", { timeout: LIMIT_MS }, () =>
    withProject(async (project) => {
      const prompt = `"a" 'b' \`c\` $HOME \\ \na@b.c @x.txt\n\u0001\u001b\u0080\u009f \u{1f600}\n${"word ".repeat(40_000)}end`;
      const model = await startChatModel(() => ({ text: "All done." }));
      const { own, passed } = program.signIn(project, model.url);
      const runtime = runtimeNamed(name);
      const file = runtime.startFile && project.write(`start.${runtime.startFile.ending}`, runtime.startFile.text);
      const spec = { agent: "coder", tier: "full" as const, model: program.model, isStreamed: true, extraArgs: [] };
      const child = spawn(join(directory, name), runtime.argv({ ...spec, policyFile: file ?? null }), {
        cwd: project.path,
        env: project.environment({ ...runtime.environment, ...own, ...passed }),
        stdio: ["pipe", "ignore", "ignore"],
      });
      child.stdin.end(runtime.payload(prompt));
      await new Promise((resolve) => child.on("close", resolve));
      model.close();
      const sent = JSON.stringify(runtime.payload(prompt).trimEnd()).slice(1, -1);
      const whole = (body: string) => JSON.stringify(JSON.parse(body));
      expect(model.requests.some(({ body }) => whole(body).includes(sent))).toBe(true);
    }),
  );
});
