import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readHandoff } from "../../handoff/handoff.ts";
import { type Rehearsal, rehearsedAnswer } from "./answer.ts";
import { rehearsalRuntime } from "./rehearsal.ts";

const rehearsal: Rehearsal = {
  agent: "coder",
  phase: {
    id: "2",
    title: "Add the task endpoint",
    files_created: ["src/api/tasks.ts", "app/[id]/page file, v2.tsx"],
    files_modified: ["README.md"],
    files_deleted: [],
  },
  promptBytes: 4001,
  fail: false,
};
const runtime = rehearsalRuntime("/usr/bin/node", ["/x/maestro.js", "play-agent"]);
const judge = (stdout: string) => runtime.judge({ exitCode: 0, killed: null, stdout, stderr: "" });

describe("a rehearsed answer", () => {
  test("is a success of the runtime, and a handoff that dependents can use", () => {
    const stdout = rehearsedAnswer(rehearsal);
    const outcome = judge(stdout);
    expect(outcome.kind).toBe("success");
    const { check, summary } = readHandoff(outcome.text, { format: "text", dependents: true });
    expect(check).toMatchObject({
      valid: true,
      status: "success",
      files_created: ["src/api/tasks.ts", "app/[id]/page file, v2.tsx"],
      files_modified: ["README.md"],
      files_deleted: [],
    });
    expect(summary).toBe("Rehearsed by coder: Add the task endpoint");
    expect(readHandoff(stdout, { dependents: true }).check).toMatchObject({ valid: true });
  });

  test("reports a failure when asked to", () => {
    const { text } = judge(rehearsedAnswer({ ...rehearsal, fail: true }));
    const { check, summary } = readHandoff(text, { dependents: true });
    expect(check).toMatchObject({ missing: [], status: "failure", files_created: [], files_modified: [] });
    expect(summary).toMatch(/1 of 12 checks does not pass/);
  });

  test("does not claim the globs and directories of a plan", () => {
    const phase = {
      ...rehearsal.phase,
      files_created: ["src/**", "docs/", "{a,b}.ts", "a.ts"],
      files_modified: ["*.md"],
    };
    const { check } = readHandoff(judge(rehearsedAnswer({ ...rehearsal, phase })).text);
    expect(check).toMatchObject({ files_created: ["a.ts"], files_modified: [], valid: true });
  });

  test("costs what the plan estimates, otherwise one token for four bytes of prompt", () => {
    const estimate = { input_tokens: 12_000, output_tokens: 3_000.4, minutes: 5 };
    expect(judge(rehearsedAnswer({ ...rehearsal, estimate })).usage).toEqual([
      { model: "rehearsal", input: 12_000, output: 3_000, cached: 0, thoughts: 0 },
    ]);
    const [usage] = judge(rehearsedAnswer(rehearsal)).usage ?? [];
    expect(usage?.input).toBe(1001);
    expect(usage?.output).toBeGreaterThan(50);
  });

  test("works with any title and any ordinary path", () => {
    const title = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "## Task Report",
        "<!--",
        "```",
        "- Status: failure",
        "a\n\n## Downstream Context",
        "\u001b[31m",
        "",
        "none",
        "|a|b|",
      ),
    );
    const path = fc.stringMatching(/^[a-z]{1,8}(\/[a-zA-Z0-9_, ()-]{0,6}[a-z0-9]){0,3}\.[a-z]{1,4}$/);
    const paths = fc.uniqueArray(path, { maxLength: 4 });
    fc.assert(
      fc.property(title, title, paths, paths, fc.boolean(), (one, two, created, deleted, fail) => {
        const phase = { id: "2", title: one + two, files_created: created, files_modified: [], files_deleted: deleted };
        const { check } = readHandoff(judge(rehearsedAnswer({ ...rehearsal, phase, fail })).text);
        expect(check).toMatchObject({
          valid: true,
          status: fail ? "failure" : "success",
          files_created: fail ? [] : created,
          files_deleted: fail ? [] : deleted,
        });
      }),
      { numRuns: 300 },
    );
  });
});

test("the runtime starts its own program, calls no model and has no quota", () => {
  const spec = {
    agent: "coder",
    tier: "full",
    model: "m",
    policyFile: "/x",
    isStreamed: true,
    extraArgs: ["--debug"],
  } as const;
  expect(runtime.argv(spec)).toEqual(["/x/maestro.js", "play-agent"]);
  expect(runtime).toMatchObject({ program: "/usr/bin/node", callsModel: false, environment: {} });
  expect(runtime.quotaSign("status: 429")).toBeNull();
});
