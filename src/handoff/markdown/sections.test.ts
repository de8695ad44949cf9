import { describe, expect, test } from "vitest";
import { checkHandoff, readHandoff } from "../handoff.ts";

const fields = `- Status: success
- Files Created: src/a.ts
- Files Modified: none
- Files Deleted: none`;
const context = `- Warnings: mind the gap`;
const report = `## Task Report\n${fields}\n\n## Downstream Context\n${context}\n`;
const failed = report
  .replace("success", "failure")
  .replace("src/a.ts", "src/old.ts")
  .replace("mind the gap", "old gap");

const titles: [form: string, title: string, context: string][] = [
  ["level 1", "# Task Report", "# Downstream Context"],
  ["level 2", "## Task Report", "## Downstream Context"],
  ["level 3", "### Task Report", "### Downstream Context"],
  ["level 4", "#### Task Report", "#### Downstream Context"],
  ["level 5", "##### Task Report", "##### Downstream Context"],
  ["level 6", "###### Task Report", "###### Downstream Context"],
  ["mixed levels", "# Task Report", "### Downstream Context"],
  ["context above the report's level", "### Task Report", "# Downstream Context"],
  ["closing hashes", "## Task Report ##", "## Downstream Context ##"],
  ["three leading spaces", "   ## Task Report", "  ## Downstream Context"],
  ["no space after the hashes", "##Task Report", "##Downstream Context"],
  ["capitals", "## TASK REPORT", "## DOWNSTREAM CONTEXT"],
  ["lower case", "## task report", "## downstream context"],
  ["trailing colon", "## Task Report:", "## Downstream Context:"],
  ["bold in a heading", "## **Task Report**", "## **Downstream Context**"],
  ["bold line", "**Task Report**", "**Downstream Context**"],
  ["bold line with colon", "**Task Report:**", "**Downstream Context**:"],
  ["underscored bold line", "__Task Report__", "__Downstream Context__"],
  ["setext", "Task Report\n===========", "Downstream Context\n------------------"],
  ["numbered", "## 1. Task Report", "## 2. Downstream Context"],
  ["numbered with bracket", "## 1) Task Report", "## 2) Downstream Context"],
  ["parts", "### Part 1: Task Report", "### Part 2: Downstream Context"],
  ["parts with dashes", "## Part 1 — Task Report", "## Part 2 — Downstream Context"],
  ["parts after the title", "## Task Report (Part 1)", "## Downstream Context (Part 2)"],
  ["parts as plain lines", "Part 1 — Task Report", "Part 2 — Downstream Context"],
  ["bold parts", "**Part 1: Task Report**", "**Part 2: Downstream Context**"],
  ["emoji", "## 📋 Task Report", "## 🔗 Downstream Context 🔗"],
  ["keycap emoji", "## 1️⃣ Task Report", "## 2️⃣ Downstream Context"],
  ["decoration", "=== Task Report ===", "=== Downstream Context ==="],
  ["plain capitals", "TASK REPORT", "DOWNSTREAM CONTEXT"],
  ["plain lines with colon", "Task Report:", "Downstream Context:"],
  ["snake case", "task_report:", "downstream_context:"],
  ["subject after a colon", "## Task Report: Phase 3 (schema)", "## Downstream Context - for phase 4"],
  ["two-part numbers", "### 2.1 Task Report", "### 2.2. Downstream Context"],
  ["wider title", "## Handoff Report — Part 1: Task Report", "## Handoff Report — Part 2: Downstream Context"],
];

describe("titles (V246, N192)", () => {
  test.each(titles)("%s: %s", (_, title, contextTitle) => {
    const check = checkHandoff(`I am done.\n\n${title}\n\n${fields}\n\n${contextTitle}\n\n${context}\n`);
    expect(check).toMatchObject({ valid: true, missing: [], status: "success", files_created: ["src/a.ts"] });
    expect(check.downstream_context.warnings).toEqual(["mind the gap"]);
  });

  test.each([
    ["a mention in a sentence", `I will now write a Task Report\n${fields}`],
    ["a mention at the start of a sentence", `Task Report follows below.\n${fields}`],
    ["a heading with more words", `## How I wrote the Task Report\n${fields}`],
    ["an example", `## Example Task Report\n${fields}`],
    ["a template", `## Task Report Template\n${fields}`],
    ["an example after a separator", `## Task Report (example)\n${fields}`],
    ["a format after a colon", `## Task Report: required format\n${fields}`],
    ["a wrapped sentence", `I was asked to write a\nTask Report\n${fields}`],
    ["a list item", `- Task Report\n${fields}`],
    ["a heading in a list item", `- ## Task Report\n${fields}`],
    ["inline code", `\`Task Report\`\n${fields}`],
    ["a quotation", `"Task Report"\n${fields}`],
    ["a table cell", `| Task Report |\n${fields}`],
    ["a value after the bold title", `**Task Report:** see above\n${fields}`],
    ["look-alike letters", `## Tаsk Report\n${fields}`],
    ["an indented heading", `    ## Task Report\n${fields}`],
    ["a heading after a tab", `\t## Task Report\n${fields}`],
    ["seven hashes", `####### A Task Report\n${fields}`],
    ["a heading inside a sentence", `The heading is called ## Task Report\n${fields}`],
    ["a heading in code", `Use \`## Task Report\`\n${fields}`],
    ["nothing", ""],
    ["a question", `Task Report?\n${fields}`],
    ["a sentence of two words", `Task Report.\n${fields}`],
    ["an escaped heading", `\\## Task Report\n${fields}`],
    ["a struck heading", `## ~~Task Report~~\n${fields}`],
    ["prose", "All done, everything works.\nStatus: success"],
  ])("%s is not a report", (_, text) => {
    expect(checkHandoff(`${text}\n`, { format: "text" })).toMatchObject({
      valid: false,
      has_task_report: false,
      status: null,
    });
    expect(checkHandoff(text, { format: "text" }).missing).toContain("task_report");
  });
});

describe("fenced, quoted or hidden text is not a report (F18, T7)", () => {
  test.each([
    ["backticks", `\`\`\`\n${report}\`\`\``],
    ["backticks with a language", `\`\`\`markdown\n${report}\`\`\``],
    ["tildes", `~~~\n${report}~~~`],
    ["a long fence", `\`\`\`\`\`\`\n${report}\`\`\`\`\`\``],
    ["an indented fence", `   \`\`\`\n${report}   \`\`\``],
    ["an unclosed fence", `\`\`\`\n${report}`],
    ["an unclosed tilde fence", `text\n~~~md\n${report}`],
    ["tildes do not close backticks", `\`\`\`\n~~~\n${report}\`\`\``],
    ["backticks do not close tildes", `~~~\n\`\`\`\n${report}~~~`],
    ["a shorter fence does not close", `\`\`\`\`\n\`\`\`\n${report}\`\`\`\``],
    ["a fence with a language does not close", `\`\`\`\n\`\`\`js\n${report}\`\`\``],
    ["an indented fence does not close", `\`\`\`\n    \`\`\`\n${report}\`\`\``],
    ["a fence in a list", `- an example:\n  \`\`\`\n${report.replaceAll(/^/gm, "  ")}\n  \`\`\``],
    ["a deep fence in a list", `- an example:\n\n    \`\`\`\n${report.replaceAll(/^/gm, "    ")}\n    \`\`\``],
    ["a fence that begins in a list item", `- \`\`\`\n${report.replaceAll(/^/gm, "  ")}\n  \`\`\``],
    ["a fence in a numbered item", `1. \`\`\`md\n${report.replaceAll(/^/gm, "   ")}\n   \`\`\``],
    ["a fence closed late", `\`\`\`\n${report}\n\`\`\`\nDone.`],
    ["a block quote", report.replaceAll(/^/gm, "> ")],
    ["a block quote without spaces", report.replaceAll(/^/gm, ">")],
    ["a quote in a list", report.replaceAll(/^/gm, "- > ")],
    ["an HTML comment", `<!--\n${report}\n-->`],
    ["an unclosed HTML comment", `<!-- for example:\n${report}`],
    ["preformatted HTML", `<pre>\n${report}\n</pre>`],
    ["preformatted HTML with attributes", `<PRE class="x">\n${report}`],
    ["indented code", `Example:\n\n${report.replaceAll(/^/gm, "    ")}`],
  ])("%s", (_, text) => {
    const check = checkHandoff(text, { format: "text" });
    expect(check).toMatchObject({ valid: false, has_task_report: false, has_downstream_context: false, status: null });
    expect(check).toMatchObject({ files_created: [], parse_error: null, error_type: null });
    expect(check.missing).toEqual([
      "task_report",
      "downstream_context",
      "status",
      "files_created",
      "files_modified",
      "files_deleted",
    ]);
  });

  test.each([
    ["a fence", `\`\`\`\n${failed}\`\`\`\n\n`],
    ["an unclosed comment inside a fence", `\`\`\`\n<!--\n\`\`\`\n\n`],
    ["a fence inside a comment", `<!--\n\`\`\`\n-->\n\n`],
    ["a fence with backticks in its info", "``` a`b ```\n\n"],
    ["code that looks like a fence", "Text\n\n    ```\n\n"],
    ["a mention of a comment", "I escaped `<!--` in the template.\n\n"],
    ["a one-line comment", "<!-- nothing -->\n\n"],
    ["preformatted HTML", `<pre>\n${failed}\n</pre>\n\n`],
    ["preformatted HTML on one line", "<pre>x</pre>\n\n"],
    ["an inline fence", "Run ```npm test``` first.\n\n"],
    ["two fences", "```\na\n```\ntext\n~~~\nb\n~~~\n"],
    ["a fence in a list", "- x:\n    ```\n    code\n    ```\n"],
    ["a quote", `${failed.replaceAll(/^/gm, "> ")}\n\n`],
  ])("a report after %s counts", (_, before) => {
    expect(checkHandoff(before + report)).toMatchObject({
      valid: true,
      status: "success",
      files_created: ["src/a.ts"],
    });
  });

  test.each([
    ["a fence", `\n\`\`\`\n${failed}\`\`\`\n`],
    ["an unclosed fence", `\n~~~\n${failed}`],
    ["a quote", `\n${failed.replaceAll(/^/gm, "> ")}\n`],
    ["a comment", `\n<!--\n${failed}-->\n`],
    ["indented code", `\n\nExample:\n\n${failed.replaceAll(/^(?=#)/gm, "    ").replaceAll(/^-.*\n/gm, "")}`],
  ])("a report counts before %s that holds another one", (_, behind) => {
    const check = checkHandoff(report + behind);
    expect(check).toMatchObject({ valid: true, status: "success", files_created: ["src/a.ts"] });
    expect(check.downstream_context.warnings).toEqual(["mind the gap"]);
  });

  test("fields in a fence below an unfenced title are not fields", () => {
    const check = checkHandoff(`## Task Report\n\n\`\`\`yaml\n${fields}\n\`\`\`\n\n## Downstream Context\n${context}`);
    expect(check).toMatchObject({ valid: false, has_task_report: true, has_downstream_context: true, status: null });
    expect(check.missing).toEqual(["status", "files_created", "files_modified", "files_deleted"]);
  });

  test("a comment is not part of a value", () => {
    const text = report.replace("success", "success <!-- or partial, or failure -->");
    expect(checkHandoff(text)).toMatchObject({ valid: true, status: "success" });
  });
});

describe("the last report wins", () => {
  test("replaces an earlier complete one", () => {
    expect(checkHandoff(failed + report)).toMatchObject({
      valid: true,
      status: "success",
      files_created: ["src/a.ts"],
    });
    expect(checkHandoff(report + failed)).toMatchObject({ status: "failure", files_created: ["src/old.ts"] });
    expect(checkHandoff(report + failed).downstream_context.warnings).toEqual(["old gap"]);
  });

  test("even when it is incomplete: nothing is taken from another report", () => {
    const check = checkHandoff(`${report}\n## Task Report\n- Status: partial\n`);
    expect(check).toMatchObject({ valid: false, status: "partial", files_created: [], has_downstream_context: false });
    expect(check.missing).toEqual(["downstream_context", "files_created", "files_modified", "files_deleted"]);
  });

  test("even when it is empty: no report is left", () => {
    expect(checkHandoff(`${report}\n## Task Report\n`)).toMatchObject({
      valid: false,
      status: null,
      files_created: [],
    });
  });

  test("the last context after it belongs to it", () => {
    const check = checkHandoff(`${report}\n## Downstream Context\n- Warnings: the newer one\n`);
    expect(check.downstream_context.warnings).toEqual(["the newer one"]);
  });

  test("a context before the only report belongs to it", () => {
    const check = checkHandoff(`## Downstream Context\n${context}\n\n## Task Report\n${fields}\n`);
    expect(check).toMatchObject({ valid: true, has_downstream_context: true });
    expect(check.downstream_context.warnings).toEqual(["mind the gap"]);
  });

  test("a context between two reports belongs to the first", () => {
    const check = checkHandoff(`${failed}\n## Task Report\n${fields}\n`);
    expect(check).toMatchObject({ valid: false, has_downstream_context: false, missing: ["downstream_context"] });
  });

  test("a context alone is not a report", () => {
    const check = checkHandoff(`## Downstream Context\n${context}\n`);
    expect(check).toMatchObject({ valid: false, has_task_report: false, has_downstream_context: true });
    expect(check.missing).not.toContain("downstream_context");
  });

  test.each([
    ["a sentence", "That did not work, again.## Task Report"],
    ["a sentence and a space", "That did not work, again. ## Task Report"],
    ["a list item of the first report", "- Warnings: none## Task Report"],
    ["the closing fence of a fenced report", `\`\`\`\n${failed}\`\`\`## Task Report`],
    ["an emoji", "Done ✅## Task Report"],
  ])("even when Gemini CLI joined it to %s", (_, joined) => {
    expect(checkHandoff(report.replace("## Task Report", joined))).toMatchObject({ valid: true, status: "success" });
  });

  test.each([
    ["a quote", "> again.## Task Report"],
    ["an opening fence", "```## Task Report"],
    ["code in a fence", "```\nfoo();## Task Report"],
  ])("but not when it is joined to %s", (_, joined) => {
    expect(checkHandoff(report.replace("## Task Report", joined))).toMatchObject({ has_task_report: false });
  });
});

describe("the end of a section", () => {
  test("is an unknown heading of its level or above; prose elsewhere is never a status", () => {
    const text = report.replace("- Status: success\n", "");
    expect(checkHandoff(`${text}\n## Appendix\n- Status: success\n`).status).toBeNull();
    expect(checkHandoff(`Status: success\n\n${text}`).status).toBeNull();
    expect(checkHandoff(`# Log\n- Status: success\n${text}\n# Appendix\n- Status: success`).status).toBeNull();
    expect(checkHandoff(`${text}\nAppendix\n========\n- Status: success`).status).toBeNull();
    expect(checkHandoff(`${report}\n## Appendix\n- Status: failure\n`).status).toBe("success");
  });

  test("is neither a field at any level nor a deeper heading", () => {
    const text = `## Task Report
## Status
success
## Objective
Write it.
### Details
Some details.
## Files Created
- src/a.ts
# Files Modified
None
## Files Deleted
None
## Downstream Context
## Warnings
- mind the gap`;
    const check = checkHandoff(text);
    expect(check).toMatchObject({ valid: true, status: "success", files_created: ["src/a.ts"] });
    expect(check.downstream_context.warnings).toEqual(["mind the gap"]);
  });

  test("the report is kept as written, fences included", () => {
    const text = `Hello.\n\n## Task Report\n${fields}\n\`\`\`\ncode\n\`\`\`\n## Downstream Context\n${context}\n\n## Appendix\nmore`;
    expect(readHandoff(text).report).toBe(text.slice(text.indexOf("##"), text.indexOf("\n\n## Appendix")));
    expect(readHandoff("nothing").report).toBe("");
  });

  test("summary and validation are available to the caller", () => {
    const text = report.replace(
      "- Files Created",
      "- Validation: pass\n- Summary: It works\n  as planned.\n- Files Created",
    );
    expect(readHandoff(text)).toMatchObject({ validation: "pass", summary: "It works as planned." });
    expect(readHandoff(report)).toMatchObject({ validation: undefined, summary: "" });
  });
});
