// The real Gemini CLI as an agent of the Agent Client Protocol, with a scripted model.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { maestroWithGemini, writeSettings } from "../support/gemini.ts";
import { byWords, startModel } from "../support/model.ts";
import { journalOf, processesOf, until } from "../support/processes.ts";
import { Project, planPath, planText } from "../support/project.ts";

const LIMIT_MS = 120_000;
const written = (path: string) => ({
  parts: [{ functionCall: { name: "write_file", args: { file_path: path, content: "hello over the protocol\n" } } }],
});
const report = (created: string) => ({
  parts: [
    {
      text: `## Task Report
- Status: success
- Objective Achieved: yes
- Files Created: ${created}
- Files Modified: none
- Files Deleted: none
- Validation: pass
- Summary: done

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

test("Gemini CLI completes phases over the protocol: a coder writes, an architect may not", {
  timeout: LIMIT_MS,
}, async () => {
  const project = new Project();
  writeSettings(project);
  const phases = [
    { id: 1, title: "Greet", files_created: ["hello.txt"] },
    { id: 2, title: "Survey", agent: "architect", blocked_by: [1] },
  ];
  project.write(planPath, planText(phases));
  const at = (name: string) => join(project.path, name);
  const model = await startModel(
    byWords({
      "# Task: Greet\n": [{ ...written(at("hello.txt")), usage: { prompt: 100, candidates: 5 } }, report("hello.txt")],
      "# Task: Survey\n": [written(at("stolen.txt")), report("none")],
    }),
  );
  try {
    const words = [
      "--runtime",
      "acp:gemini --acp -m gemini-2.5-flash",
      "--allow-unheld",
      "--isolation",
      "none",
      "--mode",
      "sequential",
    ];
    const run = await maestroWithGemini(project, model.url, ["run", planPath, ...words]).ended;
    expect(run.code, run.stderr).toBe(0);
    expect(readFileSync(at("hello.txt"), "utf8")).toBe("hello over the protocol\n");
    expect(existsSync(at("stolen.txt"))).toBe(false);
    const ends = journalOf(project).filter(({ type }) => type === "attempt.finished");
    expect(ends.map(({ outcome }) => outcome)).toEqual(["success", "success"]);
    expect(ends[0]).toMatchObject({ usage: [{ input: expect.any(Number) }] });
    await until("no process is left", () => processesOf(project).length === 0);
  } finally {
    await model.close();
    project.remove();
  }
});
