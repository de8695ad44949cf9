import { describe, expect, test } from "vitest";
import { readHandoff } from "../../handoff/handoff.ts";
import { eventFault } from "../events.ts";
import { insideProject, reportedWork } from "./evidence.ts";

const text = `## Task Report
- Status: success
- Files Created: /home/me/project/src/a.ts, src/b.ts
- Files Modified: /home/me/project-2/c.ts
- Files Deleted: none
- Validation: pass, npm test with hunter2
- Summary: Used hunter2.

## Downstream Context
- Key Interfaces Introduced: \`A\`, see hunter2
- Warnings: hunter2 is in use
`;
const redact = (words: string) => words.replaceAll("hunter2", "[redacted]");
const work = reportedWork({ projectRoot: "/home/me/project", redact }, readHandoff(text, { format: "text" }));

describe("the recorded report of an agent", () => {
  test("has project paths for files inside the project", () => {
    expect(work.files).toEqual({
      created: ["src/a.ts", "src/b.ts"],
      modified: ["/home/me/project-2/c.ts"],
      deleted: [],
    });
  });

  test("contains no secrets in any part", () => {
    expect(JSON.stringify(work)).not.toContain("hunter2");
    expect(work.handoff.summary).toBe("Used [redacted].");
    expect(work.handoff.downstream_context.warnings).toEqual(["[redacted] is in use"]);
  });

  test("has the agent's claim about its validation, in its words (H109)", () => {
    expect(work.handoff.validation).toEqual({ result: "pass", text: "pass, npm test with [redacted]" });
    const silent = readHandoff(text.replace(/- Validation.*\n/, ""), { format: "text" });
    expect(reportedWork({ projectRoot: "/p", redact }, silent).handoff).not.toHaveProperty("validation");
  });

  test("is valid in a journal event", () => {
    expect(work.handoff).toMatchObject({ status: "success", missing: [] });
    const event = { type: "phase.handed_off", phase: "1", agent: "coder", handoff: work.handoff };
    expect(eventFault(event)).toBeUndefined();
  });
});

describe("a path of the project", () => {
  test.each([
    ["/p/src/a.ts", "src/a.ts"],
    ["src/a.ts", "src/a.ts"],
    ["/p2/a.ts", "/p2/a.ts"],
    ["/p", "/p"],
    ["/etc/passwd", "/etc/passwd"],
  ])("%s: %s", (path, inside) => {
    expect(insideProject("/p", path)).toBe(inside);
  });
});
