import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../test/support/project.ts";
import { readHandoff } from "../handoff/handoff.ts";

const base = readFileSync(join(root, "protocols/agent-base-protocol.md"), "utf8");
const safety = readFileSync(join(root, "protocols/filesystem-safety-protocol.md"), "utf8");
const documented = readFileSync(join(root, "docs/file-formats.md"), "utf8");

/** The text under a heading, up to the next heading of its level. */
function section(text: string, heading: string): string {
  const [, after = ""] = text.split(`\n${heading}\n`);
  return after.split(/\n##? /)[0] ?? "";
}

describe("the base protocol", () => {
  test("has its sections in the order of the design documents (N180)", () => {
    const headings = [...base.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title);
    expect(headings).toEqual([
      "Agent Base Protocol",
      "Pre-Flight Protocol",
      "Step 1: Context",
      "Step 2: Scope Verification",
      "File Writing Protocol",
      "Output Handoff Contract",
      "Task Report",
      "Downstream Context",
    ]);
  });

  test("does not check in Step 2 what the safety protocol lets an agent create: the parents of new files (N187)", () => {
    const [, step2 = ""] = section(base, "## Pre-Flight Protocol").split("### Step 2: Scope Verification");
    expect(step2).toMatch(/If one of these fails, stop/);
    expect(step2).not.toMatch(/parent director/);
    expect(safety).toMatch(/create it with `mkdir -p`[\s\S]*A missing parent directory is not a reason to stop\./);
  });

  test.each([
    [
      "no content through the shell (N181)",
      /^- NEVER use `run_shell_command` to create or write file content: no `cat`, `printf`, `echo`, heredocs/m,
    ],
    ["the writing tools (N182)", /^- ALWAYS use `write_file` .*`replace`/m],
    [
      "what to do without them (N183)",
      /^- If `write_file` is not among your tools, report the limitation; do not attempt shell workarounds\.$/m,
    ],
    ["no exceptions (N184)", /^- No exceptions\.$/m],
  ])("rules about writing files: %s", (_rule, words) => {
    expect(section(base, "## File Writing Protocol")).toMatch(words);
  });

  test("costs less than 600 tokens", () => {
    expect(base.length / 4).toBeLessThan(600);
  });
});

describe("the form of the handoff (N192)", () => {
  const form = base.slice(base.indexOf("## Task Report"));
  const values: Record<string, string> = {
    Status: "success",
    "Files Created": "src/a.ts, src/b.ts",
    "Files Modified": "none",
    "Files Deleted": "none",
    Validation: "pass; npm test",
    Summary: "Did it.",
    "Key Interfaces Introduced": "`a()` in src/a.ts",
    "Patterns Established": "one function a file",
    "Integration Points": "src/b.ts calls `a()`",
    Assumptions: "none",
    Warnings: "none",
  };
  const fill = (over: Record<string, string> = {}) =>
    form.replace(/^- ([^:]+): <.*>$/gm, (_line, name: string) => `- ${name}: ${{ ...values, ...over }[name]}`);

  test("has the labels of docs/file-formats.md, in that order", () => {
    const labels = (text: string) =>
      [...text.matchAll(/^(?:## |- )([A-Z][A-Za-z ]+?)(?::|$)/gm)].map(([, label]) => label);
    const example = /```markdown\n(## Task Report\n[\s\S]*?)```/.exec(documented)?.[1] ?? "";
    expect(labels(example)).toHaveLength(13);
    expect(labels(form)).toEqual(labels(example));
  });

  test("is valid when filled in", () => {
    const { check, summary, validation } = readHandoff(`Done.\n\n${fill()}`);
    expect(check).toMatchObject({
      valid: true,
      missing: [],
      status: "success",
      files_created: ["src/a.ts", "src/b.ts"],
      files_modified: [],
      files_deleted: [],
      downstream_context: { key_interfaces_introduced: ["`a()` in src/a.ts"], assumptions: [], warnings: [] },
    });
    expect(summary).toBe("Did it.");
    expect(validation).toBe("pass");
  });

  test.each(["success", "partial", "failure"])("accepts the status %s", (status) => {
    expect(readHandoff(fill({ Status: status })).check).toMatchObject({ valid: true, status });
  });

  test.each([
    ["the form alone", form],
    ["the whole protocol", base],
    ["both protocols and a promise", `${base}\n${safety}\nI will do that.`],
  ])("is not valid unfilled: %s", (_what, text) => {
    expect(readHandoff(text).check).toMatchObject({ valid: false, status: null });
  });
});

describe("the filesystem safety protocol", () => {
  const rules = safety.split("\n\n").slice(1);

  test("has five rules in order (N185, N188)", () => {
    expect(rules.map((rule) => /^\*\*(.*?)\.\*\*/.exec(rule)?.[1])).toEqual([
      "Rule 1 - Ensure Before Write",
      "Rule 2 - Silent Success, Clear Failure",
      "Rule 3 - Never Assume Directory State",
      "Rule 4 - Path Construction",
      "Rule 5 - Scope",
    ]);
  });

  test("lets an agent create missing parent directories (N186)", () => {
    expect(rules[0]).toContain("mkdir -p");
    expect(rules[0]).toContain("not a reason to stop");
  });

  test("costs at most 300 tokens (N189)", () => {
    expect(safety.length / 4).toBeLessThan(300);
  });
});
