// Attempts in worktrees with the real Gemini CLI, the installed extension and a scripted model.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { haveExtension, maestroWithGemini } from "../support/gemini.ts";
import { IsolatedProject } from "../support/isolated.ts";
import { type Answer, type ModelRequest, type ScriptedModel, startModel } from "../support/model.ts";
import { planPath, type Run } from "../support/project.ts";
import { status } from "../support/status.ts";

const LIMIT_MS = 120_000;

const call = (name: string, args: Record<string, unknown>): Answer => ({ parts: [{ functionCall: { name, args } }] });

const report = (created: string): Answer => ({
  parts: [
    {
      text: `## Task Report
- Status: success
- Files Created: ${created}
- Files Modified: none
- Files Deleted: none
- Validation: pass
- Summary: Done.

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`,
    },
  ],
});

/** Each agent's moves, given the root that its prompt names. */
const moves: Record<string, (root: string) => Answer[]> = {
  Parser: (root) => [
    call("write_file", { file_path: `${root}/src/parser.txt`, content: "parser\n" }),
    call("mcp_maestro_maestro_request_scope", { paths: [`${root}/docs/parser.md`], reason: "the parser needs a page" }),
    call("write_file", { file_path: `${root}/docs/parser.md`, content: "# Parser\n" }),
    report("src/parser.txt, docs/parser.md"),
  ],
  Printer: (root) => [
    call("mcp_maestro_maestro_request_scope", { paths: [".git/config"], reason: "I would like to" }),
    call("run_shell_command", { command: "git status --short && git log --oneline -1 && pwd" }),
    call("write_file", { file_path: `${root}/src/printer.txt`, content: "printer\n" }),
    report("src/printer.txt"),
  ],
};

describe("a run in worktrees with the real Gemini CLI", () => {
  const phases = Object.keys(moves).map((title) => ({
    id: title.toLowerCase(),
    title,
    files_created: [`src/${title.toLowerCase()}.txt`],
    validation: [`test "$(cat src/${title.toLowerCase()}.txt)" = ${title.toLowerCase()}`],
  }));
  let project: IsolatedProject;
  let model: ScriptedModel;
  let run: Run;
  const roots = new Map<string, string>();

  beforeAll(async () => {
    project = new IsolatedProject({ "README.md": "hello\n", ".gitignore": ".checkout\n.tmp\n" }, phases);
    const left = new Map<string, Answer[]>();
    model = await startModel(({ texts }) => {
      const said = texts.join("\n");
      const title = Object.keys(moves).find((name) => said.includes(`# Task: ${name}\n`)) ?? "";
      const root = /PROJECT ROOT: (.*)/.exec(said)?.[1] ?? "";
      roots.set(title, root);
      const answers = left.get(title) ?? moves[title]?.(root) ?? [];
      left.set(title, answers);
      return answers.shift() ?? { status: 400, message: "the script has no answer left" };
    });
    await haveExtension(project, model.url);
    const args = ["run", planPath, "--mode", "parallel", "--keep-open", "--stagger", "0s"];
    run = await maestroWithGemini(project, model.url, args).ended;
  }, LIMIT_MS);

  afterAll(async () => {
    await model.close();
    project.remove();
  });

  const about = (title: string) => (request: ModelRequest) => request.texts.join("\n").includes(`# Task: ${title}\n`);
  const resultsOf = (title: string) => model.requests.filter(about(title)).map(({ results }) => results);

  test("gives each agent a worktree as its project, outside the user's, and integrates both changes", () => {
    expect(run).toMatchObject({ code: 0 });
    for (const root of roots.values()) expect(root.startsWith(project.cache)).toBe(true);
    expect(new Set(roots.values()).size).toBe(2);
    expect(project.read("src/parser.txt")).toBe("parser\n");
    expect(project.read("src/printer.txt")).toBe("printer\n");
    expect(project.worktrees()).toEqual([]);
    expect(project.git("status", "--short").split("\n").sort()).toEqual(["?? docs/", "?? src/"]);
  });

  test("lets an agent ask for more through the MCP server, which knows the project's session from inside the worktree", () => {
    expect(project.read("docs/parser.md")).toBe("# Parser\n");
    expect(resultsOf("Printer").join("\n")).toContain("no phase may own it");
    const asked = project.events("phase.scope_requested").toSorted((a, b) => Number(b.granted) - Number(a.granted));
    expect(asked).toMatchObject([
      { phase: "parser", paths: ["docs/parser.md"], granted: true },
      { phase: "printer", paths: [".git/config"], granted: false },
    ]);
  });

  test("has a git that works in the worktree", () => {
    expect(resultsOf("Printer").join("\n")).toContain(roots.get("Printer"));
    expect(resultsOf("Printer").join("\n")).toMatch(/[0-9a-f]{7} begin\\n/);
  });

  test("records what changed and what was proved, on which tree", () => {
    const session = status(project);
    expect(session.phases).toMatchObject([
      { status: "completed", verified: true, files_created: ["docs/parser.md", "src/parser.txt"] },
      { status: "completed", verified: true, files_created: ["src/printer.txt"] },
    ]);
    for (const event of project.events("phase.validated")) {
      expect(event).toMatchObject({ result: "pass", evidence: { tree: expect.stringMatching(/^[0-9a-f]{40}$/) } });
    }
  });
});
