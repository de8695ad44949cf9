// Hooks, guard and policies in the real Gemini CLI: a scripted model tries what must not happen, as TechLead and as agent, with every
// tool call approved. Shims replace programs that could do harm, so that a failure of this test does no harm.

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { haveExtension, headless, startGemini } from "../support/gemini.ts";
import { type Answer, type ModelRequest, type Part, type ScriptedModel, startModel } from "../support/model.ts";
import { journalOf } from "../support/processes.ts";
import { Project, planText, type Run } from "../support/project.ts";
import { status } from "../support/status.ts";

const LIMIT_MS = 180_000;
const planPath = ".gemini/plans/2026-02-14-greeting-impl-plan.md";

const project = new Project();
const shell = (command: string): Part => ({ functionCall: { name: "run_shell_command", args: { command } } });
const write = (file: string): Part => ({
  functionCall: { name: "write_file", args: { file_path: join(project.path, file), content: "x\n" } },
});
const invoke = (agent_name: string, prompt: string): Part => ({
  functionCall: { name: "invoke_agent", args: { agent_name, prompt } },
});
const complete = (result: string): Part => ({ functionCall: { name: "complete_task", args: { result } } });

const forbidden: [what: string, part: Part][] = [
  ["a shell write", shell("echo 'export const x = 1' > src/x.ts")],
  ["a heredoc", shell("cat <<'EOF' > src/y.ts\nhello\nEOF")],
  ["rm -rf ~", shell("rm -rf ~")],
  ["a force push", shell("git push --force origin main")],
  ["a hard reset", shell("git reset --hard HEAD~1")],
  ["a write to .env.local", write(".env.local")],
  ["a write to .gemini/settings.json", write(".gemini/settings.json")],
  ["a write to the journal", write(".gemini/state/progress.jsonl")],
];
const fine: [what: string, part: Part][] = [
  ["output into nowhere", shell("npm test > /dev/null 2>&1 | tail")],
  ["an ordinary file", write("src/fine.ts")],
];
const attempts = [...forbidden, ...fine].map(([, part]) => part);

const report = `## Task Report
- Status: success
- Files Created: none
- Files Modified: none
- Files Deleted: none
- Validation: skipped
- Summary: Tried it all.
`;
const context = `
## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

interface Result {
  name: string;
  response: { output?: string; error?: string };
}
/** A conversation in a project of its own, in which Maestro has nothing to do. */
async function idleConversation(): Promise<Result[]> {
  const quiet = new Project();
  let results: Result[] = [];
  const model = await startModel((request) => {
    results = results.length > 0 ? results : resultsOf(request);
    const secret = {
      functionCall: { name: "write_file", args: { file_path: join(quiet.path, ".env"), content: "x\n" } },
    };
    const tried = [shell("cat > notes.txt <<'EOF'\nhello\nEOF"), shell("git reset --hard HEAD~1"), secret];
    return { parts: results.length === 0 ? tried : [{ text: "done" }] };
  });
  try {
    await haveExtension(quiet, model.url);
    const run = await startGemini(quiet, model.url, headless("Take a note.")).ended;
    expect(run.code, run.stderr).toBe(0);
    expect(quiet.read("notes.txt")).toBe("hello\n");
    return results;
  } finally {
    await model.close();
    quiet.remove();
  }
}

const resultsOf = (request: ModelRequest): Result[] => JSON.parse(request.results);

describe("the guard in the real Gemini CLI under yolo", () => {
  let model: ScriptedModel;
  let run: Run;
  const seen: Record<string, Result[]> = {};

  beforeAll(async () => {
    for (const name of ["rm", "git", "npm"]) {
      chmodSync(project.write(`.bin/${name}`, `#!/bin/sh\necho "${name} $*" >>'${project.path}/ran'\n`), 0o755);
    }
    project.write(
      planPath,
      planText(
        [
          { id: 1, agent: "coder" },
          { id: 2, agent: "architect", blocked_by: [1] },
        ],
        "Greeting",
      ),
    );
    let turn = 0;
    const main = (request: ModelRequest): Answer => {
      turn += 1;
      if (turn === 1) return { parts: attempts };
      if (turn === 2) {
        seen.main = resultsOf(request);
        return { parts: [invoke("coder", "Phase: 1\nTry it all.")] };
      }
      if (turn === 3) {
        seen.coder = resultsOf(request);
        return { parts: [invoke("architect", "Phase: 2\nWrite a file.")] };
      }
      seen.architect = resultsOf(request);
      return { parts: [{ text: "done" }] };
    };
    const coder = (request: ModelRequest): Answer => {
      const results = resultsOf(request);
      if (results.length === 0) return { parts: attempts };
      if (results.length > 1) {
        seen.insideCoder = results;
        return { parts: [complete("I am done.")] };
      }
      seen.gate = [...(seen.gate ?? []), ...results];
      return { parts: [complete(report + context)] };
    };
    const architect = (request: ModelRequest): Answer => {
      const results = resultsOf(request);
      if (results.length === 0) return { parts: [write("src/design.ts"), shell("npm test")] };
      seen.insideArchitect ??= results;
      return { parts: [complete(report)] };
    };
    model = await startModel((request) => {
      const said = request.texts.join("\n");
      if (said.includes("Agent: coder\n")) return coder(request);
      return said.includes("Agent: architect\n") ? architect(request) : main(request);
    });
    await haveExtension(project, model.url);
    seen.idle = await idleConversation();
    project.maestro(["session", "create", planPath, "--mode", "sequential"]);
    run = await startGemini(project, model.url, headless("Try what you can.")).ended;
  }, LIMIT_MS);
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  test("is not noticed in a project without a session, except when it prevents damage (C47)", () => {
    const [heredoc, removal, secret] = (seen.idle ?? []).map(({ response }) => response.error);
    expect(heredoc).toBeUndefined();
    expect(removal).toMatch(/Tool execution (blocked|denied)/i);
    expect(secret).toMatch(/Tool execution (blocked|denied)|not in workspace/i);
  });

  for (const [who, where] of [
    ["the TechLead", "main"],
    ["a delegated agent", "insideCoder"],
  ] as const) {
    test(`denies ${who} what must not happen, with what to do instead (T1, S239, Y286-Y290)`, () => {
      forbidden.forEach(([what], index) => {
        const { error = "" } = seen[where]?.[index]?.response ?? {};
        expect(error, what).toMatch(/Tool execution (blocked|denied)|not in workspace/i);
      });
      expect(seen[where]?.[0]?.response.error).toContain("write_file");
    });

    test(`leaves ordinary work of ${who} alone (S240)`, () => {
      fine.forEach(([what], index) => {
        expect(seen[where]?.[forbidden.length + index]?.response.error, what).toBeUndefined();
      });
    });
  }

  test("runs nothing that it denied", () => {
    expect(run.code, run.stderr).toBe(0);
    // The CLI asks git where it is, and hooks ask it for the state of the project.
    const ran = project.read("ran").trim().split("\n");
    const asked = /^git (?:rev-parse|-c core\.hooksPath=\/dev\/null )/;
    expect([...new Set(ran.filter((line) => !asked.test(line)))]).toEqual(["npm test"]);
    expect(project.list("src")).toEqual(["fine.ts"]);
    expect(project.exists(".env.local")).toBe(false);
    expect(project.exists(".gemini/settings.json")).toBe(false);
  });

  test("gives an architect neither write_file nor a shell (P215, Y291)", () => {
    expect(seen.insideArchitect).toHaveLength(2);
    for (const { response } of seen.insideArchitect ?? [])
      expect(response.error).toMatch(/denied by policy|not found|not available to this agent/);
  });

  test("sends a report without its sections back once, with what is missing (V246-V250)", () => {
    expect(seen.gate).toHaveLength(1);
    expect(seen.gate?.[0]?.response.error).toContain('the section "## Task Report"');
    const [handoff] = journalOf(project).filter(({ type }) => type === "phase.handed_off");
    expect(handoff).toMatchObject({
      phase: "1",
      agent: "coder",
      handoff: { status: "success", summary: "Tried it all." },
    });
  });

  test("records a report without the model's help, and needs no Downstream Context when no phase waits for it (V247)", () => {
    expect(status(project).phases.map(({ status: each }: { status: string }) => each)).toEqual([
      "completed",
      "completed",
    ]);
    expect(seen.coder?.[0]?.response.output).toContain("Maestro recorded phase 1 as completed");
  });
});
