import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { agentTiers } from "../agents/tiers.ts";
import { MAX_PHASES, MAX_PLAN_BYTES, MAX_TEXT_CHARS } from "./plan.ts";
import { type PlanContext, validatePlan } from "./validate.ts";

const context: PlanContext = {
  agents: [...agentTiers].map(([name, tier]) => ({ name, tier })),
  disabled: [],
  stateDir: ".gemini",
};

type Fields = Record<string, unknown>;

let made = 0;

/** A valid phase with a file of its own. */
function phase(id: unknown, fields: Fields = {}): Fields {
  made += 1;
  const files_created = [`own/${made}.ts`];
  return { id, title: "T", agent: "coder", description: "D", validation_criteria: ["ok"], files_created, ...fields };
}

function planText(phases: unknown, fields: Fields = {}): string {
  return `---\n${stringify({ title: "Plan", phases, ...fields })}---\n# Body\n`;
}

function check(phases: unknown, fields: Fields = {}, changes: Partial<PlanContext> = {}) {
  return validatePlan(planText(phases, fields), { ...context, ...changes });
}

/** "code phase" of every error and warning. */
function codes(report: ReturnType<typeof validatePlan>): string[] {
  return [...report.errors, ...report.warnings].map(({ code, phase }) =>
    phase === undefined ? code : `${code} ${phase}`,
  );
}

describe("a valid plan", () => {
  test("is returned in its canonical form (C11, C33, C34)", () => {
    const phases = [
      phase(1, { title: undefined, name: "By name", files_created: ["./src//a.ts"], validation: ["npm test"] }),
      phase("two", { agent: undefined, agents: ["tester", "coder"], blocked_by: ["1"], estimate: { minutes: 3 } }),
    ];
    const report = check(phases, { design_ref: "d.md", created: "2026-02-14", status: "approved", total_phases: 2 });
    expect(codes(report)).toEqual([]);
    expect(report).toMatchObject({
      valid: true,
      plan: {
        title: "Plan",
        design_ref: "d.md",
        created: "2026-02-14",
        status: "approved",
        phases: [
          { id: "1", title: "By name", agent: "coder", parallel: true, blocked_by: [], files_created: ["src/a.ts"] },
          { id: "two", agent: "tester", blocked_by: ["1"], estimate: { minutes: 3 } },
        ],
      },
    });
  });

  test("is returned with its graph (X276)", () => {
    const report = check([
      phase(1),
      phase(2, { blocked_by: [1] }),
      phase(3, { blocked_by: [1], estimate: { minutes: 50 } }),
    ]);
    expect(report.dependency_graph).toEqual({
      phases: [
        { id: "1", title: "T", agent: "coder", blocked_by: [], depth: 0 },
        { id: "2", title: "T", agent: "coder", blocked_by: ["1"], depth: 1 },
        { id: "3", title: "T", agent: "coder", blocked_by: ["1"], depth: 1 },
      ],
      critical_path: ["1", "3"],
      parallel_batches: [["1"], ["2", "3"]],
    });
    expect(report.profile).toMatchObject({
      total_phases: 3,
      parallelizable_phases: 2,
      batches: [
        { phases: ["1"], mode: "sequential" },
        { phases: ["2", "3"], mode: "parallel" },
      ],
    });
  });

  test.each([
    ["CRLF line ends", planText([phase(1)]).replaceAll("\n", "\r\n")],
    ["a byte order mark", `\uFEFF${planText([phase(1)])}`],
    ["bytes with a byte order mark", new TextEncoder().encode(`\uFEFF${planText([phase(1)])}`)],
    ["dots as the closing fence", planText([phase(1)]).replace("---\n# Body", "...\n# Body")],
    [
      "no body",
      planText([phase(1)])
        .replace("# Body\n", "")
        .trimEnd(),
    ],
    ["JSON as its front matter", `---\n${JSON.stringify({ title: "P", phases: [phase(1)] }, null, 2)}\n---\n`],
  ])("may have %s", (_name, source) => {
    expect(codes(validatePlan(source, context))).toEqual([]);
  });

  test("is what the example is, without warnings", () => {
    const source = readFileSync(new URL("../../examples/task-api-impl-plan.md", import.meta.url));
    const report = validatePlan(source, context);
    expect(codes(report)).toEqual([]);
    expect(Math.max(...report.dependency_graph.parallel_batches.map((batch) => batch.length))).toBeGreaterThanOrEqual(
      3,
    );
  });
});

test.each([
  ["no front matter", "# Plan\n", "no_front_matter"],
  ["front matter that is never closed", "---\ntitle: x\n", "no_front_matter"],
  ["another kind of front matter", "+++\ntitle = 1\n+++\n", "no_front_matter"],
  ["an empty file", "", "no_front_matter"],
  ["broken YAML", "---\ntitle: a: b\n---\n", "yaml_parse"],
  ["a key that appears twice", "---\ntitle: a\ntitle: b\n---\n", "yaml_parse"],
  ["a list as front matter", "---\n- a\n---\n", "invalid_front_matter"],
  ["a text as front matter", "---\nhello\n---\n", "invalid_front_matter"],
  ["empty front matter", "---\n---\n", "invalid_front_matter"],
  ["bytes that are not UTF-8", new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]), "invalid_encoding"],
  ["too many bytes", new Uint8Array(MAX_PLAN_BYTES + 1), "too_large"],
])("%s is one error and an empty graph (X271)", (_name, source, code) => {
  const report = validatePlan(source, context);
  expect(report).toEqual({
    valid: false,
    errors: [expect.objectContaining({ code })],
    warnings: [],
    dependency_graph: { phases: [], critical_path: [], parallel_batches: [] },
    profile: null,
  });
});

test("a YAML error names the line of the file", () => {
  const report = validatePlan("---\ntitle: x\nphases: [1\n---\n", context);
  expect(report.errors[0]?.message).toMatch(/^Line 4 of the plan cannot be read as YAML: /);
});

test.each([
  ["no title", [phase(1)], { title: undefined }, ["missing_field"]],
  ["a blank title", [phase(1)], { title: "  " }, ["missing_field"]],
  ["a title that is a number", [phase(1)], { title: 5 }, ["invalid_field_type"]],
  ["no phases field", undefined, {}, ["missing_field"]],
  ["an empty list of phases", [], {}, ["no_phases"]],
  ["phases that are a map", { a: 1 }, {}, ["invalid_field_type"]],
  ["a phase that is not a map", [phase(1), "x", null], {}, ["invalid_field_type #2", "invalid_field_type #3"]],
  ["too many phases", Array(MAX_PHASES + 1).fill(1), {}, ["too_large"]],
  ["a wrong total_phases", [phase(1)], { total_phases: 2 }, ["total_phases_mismatch"]],
  ["a total_phases that is not a number", [phase(1)], { total_phases: "2" }, ["invalid_field_type"]],
  ["a date that is a number", [phase(1)], { created: 2026 }, ["invalid_field_type"]],
])("a plan with %s (X271)", (_name, phases, fields, expected) => {
  expect(codes(check(phases, fields))).toEqual(expected);
});

test("every missing field is reported at once, with phase and field (X272)", () => {
  const report = check([
    { id: 1 },
    {},
    phase(3, { title: "", agent: " ", description: null, validation_criteria: [] }),
  ]);
  const found = report.errors.map(({ code, phase: id, message }) => `${code} ${id} ${/"(\w+)"/.exec(message)?.[1]}`);
  const missing = (id: string) =>
    ["agent", "title", "description", "validation_criteria"].map((field) => `missing_field ${id} ${field}`);
  expect(found).toEqual([...missing("1"), "missing_field #2 id", ...missing("#2"), ...missing("3")]);
});

test.each<[string, Fields, string[]]>([
  ["criteria as one text", { validation_criteria: "works" }, ["invalid_field_type 1"]],
  ["a title of control characters", { title: "\u0001\u0002" }, ["missing_field 1"]],
  ["a blank criterion", { validation_criteria: ["a", " "] }, ["missing_field 1"]],
  ["a criterion that is a map", { validation_criteria: [{ tests: "pass" }] }, ["invalid_field_type 1"]],
  ["a title that is a number", { title: 5 }, ["invalid_field_type 1"]],
  ["a list as agent", { agent: ["coder"] }, ["invalid_field_type 1"]],
  ["a text as agents", { agent: undefined, agents: "coder" }, ["invalid_field_type 1"]],
  ["a text as parallel", { parallel: "yes" }, ["invalid_field_type 1"]],
  ["one id as blocked_by", { blocked_by: 1 }, ["invalid_field_type 1"]],
  ["a boolean in blocked_by", { blocked_by: [true] }, ["invalid_field_type 1"]],
  ["a number as a path", { files_created: [5] }, ["invalid_field_type 1"]],
  ["a blank path", { files_created: [""] }, ["missing_field 1"]],
  ["an estimate that is a number", { estimate: 5 }, ["invalid_field_type 1"]],
  ["a negative estimate", { estimate: { minutes: -1 } }, ["invalid_field_type 1"]],
  ["an unknown estimate", { estimate: { hours: 1 } }, ["unknown_field 1"]],
  ["a budget that is a number", { budget: 5 }, ["invalid_field_type 1"]],
  ["a budget without a unit", { budget: "5" }, ["invalid_field_type 1"]],
  ["a budget", { budget: "0.50usd, 2Mtok" }, []],
  ["labels that a worker must have", { needs: ["gpu", "big-memory"] }, []],
  ["one label as a text", { needs: "gpu" }, ["invalid_field_type 1"]],
  ["a label that is a number", { needs: [2] }, ["invalid_field_type 1"]],
  ["a label with a blank", { needs: ["big memory"] }, ["invalid_field_type 1"]],
  ["too many labels", { needs: [..."abcdefghi"] }, ["invalid_field_type 1"]],
  ["a text that is too long", { description: "x".repeat(MAX_TEXT_CHARS + 1) }, ["too_large 1"]],
  ["optional fields that are empty", { blocked_by: null, validation: [], parallel: null, estimate: null }, []],
])("a phase with %s (X272)", (_name, fields, expected) => {
  expect(codes(check([phase(1, fields)]))).toEqual(expected);
});

test("a phase that needs another phase as if it were a label is warned about, and its labels are kept once", () => {
  const report = check([phase("setup"), phase("train", { needs: ["setup", "gpu", "gpu"] })]);
  expect(codes(report)).toEqual(["label_is_phase train"]);
  expect(report.plan?.phases[1]?.needs).toEqual(["setup", "gpu"]);
});

test.each([
  ["less than the session's", { budget: "4usd" }, { usd: 5 }, []],
  ["as much as the session's", { budget: "5usd, 2Mtok" }, { usd: 5, tok: 2_000_000 }, []],
  ["more than the session's", { budget: "8usd" }, { usd: 5 }, ["budget_over_session 1"]],
  ["more in one of two units", { budget: "1usd, 3Mtok" }, { usd: 5, tok: 2_000_000 }, ["budget_over_session 1"]],
  ["a unit that the session does not limit", { budget: "8usd" }, { tok: 10 }, []],
  ["none of its own", {}, { usd: 5 }, []],
  ["no session's budget to exceed", { budget: "8usd" }, undefined, []],
])("a phase whose budget is %s", (_name, fields, budget, expected) => {
  const report = check([phase(1, fields)], {}, { budget });
  expect([codes(report), report.valid]).toEqual([expected, true]);
});

test("a budget over the session's is a warning with both amounts, in the units that it exceeds", () => {
  const report = check([phase(1, { budget: "8usd, 1Mtok" })], {}, { budget: { usd: 5, tok: 2_000_000 } });
  expect(report.warnings[0]?.message).toBe(
    "Phase 1: its budget of 8usd is more than the session's budget of 5usd, so its attempts get less or cannot start; lower it, or raise the session's budget (--budget, MAESTRO_BUDGET)",
  );
});

test.each([
  [0, []],
  ["a", []],
  ["A.b_c-1", []],
  ["x".repeat(64), []],
  [1.5, ["invalid_field_type #1"]],
  [-1, ["invalid_field_type #1"]],
  [2 ** 53, ["invalid_field_type #1"]],
  [true, ["invalid_field_type #1"]],
  [[1], ["invalid_field_type #1"]],
  [null, ["missing_field #1"]],
  ["", ["missing_field #1"]],
  ["x".repeat(65), ["invalid_id #1"]],
  ["../x", ["invalid_id #1"]],
  ["a b", ["invalid_id #1"]],
  [".a", ["invalid_id #1"]],
  ["a\n", ["invalid_id #1"]],
])("an id may be an integer or a short name: %j (C33, C34)", (id, expected) => {
  expect(codes(check([phase(id)]))).toEqual(expected);
});

test("ids are compared as text (C33, C34)", () => {
  expect(codes(check([phase(1), phase("1")]))).toEqual(["duplicate_id 1"]);
  expect(codes(check([phase(1), phase("b", { blocked_by: ["1"] }), phase("c", { blocked_by: [1, "b"] })]))).toEqual([]);
});

test("an unknown field is a warning that suggests the intended name", () => {
  const report = check([phase(1, { blockedby: [], depends_on: [], files: [], zzz: 1 })], { phase: 1 });
  expect(report.valid).toBe(true);
  expect(report.warnings.map(({ suggestion }) => suggestion)).toEqual([
    "blocked_by",
    "blocked_by",
    "files_created",
    undefined,
    "phases",
  ]);
});

describe("agents", () => {
  test.each<[string, string, string[], string | undefined]>([
    ["a misspelling", "codr", ["unknown_agent 1"], "coder"],
    ["a name unlike any other", "zzzzzzzz", ["unknown_agent 1"], undefined],
    ["a path", "../../coder", ["unknown_agent 1"], undefined],
    ["underscores and capitals", "Data_Engineer", ["agent_name_normalized 1"], "data-engineer"],
  ])("%s (X274, C11)", (_name, agent, expected, suggestion) => {
    const report = check([phase(1, { agent })]);
    expect(codes(report)).toEqual(expected);
    if (suggestion !== undefined) expect([...report.errors, ...report.warnings][0]?.suggestion).toBe(suggestion);
    if (report.valid) expect(report.plan?.phases[0]?.agent).toBe(suggestion);
  });

  test("an unknown agent is reported with the list of known ones", () => {
    expect(check([phase(1, { agent: "zzz" })]).errors[0]?.message).toContain("architect, api-designer, code-reviewer");
  });

  test("each of several agents must exist", () => {
    expect(codes(check([phase(1, { agent: undefined, agents: ["coder", "nobody"] })]))).toEqual(["unknown_agent 1"]);
  });

  test("a disabled agent is rejected, and not suggested", () => {
    const report = check([phase(1), phase(2, { agent: "codr" })], {}, { disabled: ["Coder"] });
    expect(codes(report)).toEqual(["disabled_agent 1", "unknown_agent 2"]);
    expect(report.errors[1]?.suggestion).not.toBe("coder");
  });

  test.each<[string, Partial<PlanContext>]>([
    ["other agents exist", { agents: [{ name: "tester", tier: "full" }] }],
    ["every agent is broken", { agents: [] }],
  ])("with a broken file are reported with the file and the reason, not as unknown: %s (F67)", (_name, changes) => {
    const broken = [{ agent: "coder", file: "/ext/agents/coder.md", reason: "YAML, line 2:\nbad" }];
    const report = check([phase(1, { agent: "Coder" })], {}, { ...changes, broken });
    expect(codes(report)).toEqual(["broken_agent 1"]);
    expect(report.errors[0]?.message).toContain(
      'Phase 1: the agent "coder" cannot be used: /ext/agents/coder.md is broken (YAML, line 2: bad); fix the file',
    );
  });

  test("are checked only for their form when the roster is empty", () => {
    const phases = [phase(1, { agent: "anyone" }), phase(2, { agent: "a/b" })];
    expect(codes(check(phases, {}, { agents: [] }))).toEqual(["unknown_agent 2"]);
  });

  test.each([
    ["architect", "read-only"],
    ["debugger", "read-shell"],
  ])("%s cannot own files (P215)", (agent, tier) => {
    const report = check([phase(1, { agent, files_modified: ["src/a.ts"] }), phase(2, { agent, files_created: [] })]);
    expect(codes(report)).toEqual(["agent_capability 1"]);
    expect(report.errors[0]).toMatchObject({ suggestion: "coder", message: expect.stringContaining(tier) });
  });
});

describe("dependencies", () => {
  test("must exist (X273)", () => {
    const report = check([phase("schema"), phase("api", { blocked_by: ["schmea", 99, "../x"] })]);
    expect(codes(report)).toEqual(Array(3).fill("unknown_dependency api"));
    expect(report.errors.map(({ suggestion }) => suggestion)).toEqual(["schema", undefined, undefined]);
    expect(report.dependency_graph.parallel_batches).toEqual([["schema", "api"]]);
  });

  test("are never suggested to be the phase itself", () => {
    const [error] = check([phase("api", { blocked_by: ["apj"] }), phase("schema")]).errors;
    expect([error?.suggestion, error?.message]).toEqual([
      undefined,
      expect.stringContaining("the phases are api, schema"),
    ]);
  });

  test("count once when repeated", () => {
    const report = check([phase(1), phase(2, { blocked_by: [1, "1", 1] })]);
    expect(codes(report)).toEqual(["duplicate_dependency 2"]);
    expect(report.plan?.phases[1]?.blocked_by).toEqual(["1"]);
  });

  test("must not form a cycle; each cycle is reported once, with its path (X273)", () => {
    const phases = [
      phase(1, { blocked_by: [2] }),
      phase(2, { blocked_by: [3] }),
      phase(3, { blocked_by: [1] }),
      phase(4, { blocked_by: [4] }),
      phase(5, { blocked_by: [3] }),
      phase(6),
    ];
    const report = check(phases);
    expect(codes(report)).toEqual(["cycle 1", "cycle 4"]);
    expect(report.errors.map(({ message }) => /(\S+ -> .*?) \(/.exec(message)?.[1])).toEqual([
      "1 -> 2 -> 3 -> 1",
      "4 -> 4",
    ]);
    expect(report.dependency_graph).toMatchObject({ critical_path: ["6"], parallel_batches: [["6"]] });
    expect(report.dependency_graph.phases.map(({ depth }) => depth)).toEqual([null, null, null, null, null, 0]);
    expect(report.profile).toBeNull();
  });
});

describe("file ownership (H106, X275)", () => {
  const owns = (id: number, files: string, fields: Fields = {}) => phase(id, { files_created: [files], ...fields });

  test.each<[string, Fields[], string[]]>([
    ["the same file", [owns(1, "a.ts"), owns(2, "a.ts")], ["file_overlap 1"]],
    ["the same file in two spellings", [owns(1, "./x/../a.ts"), owns(2, "a.ts")], ["file_overlap 1"]],
    ["a directory and a file in it", [owns(1, "src/"), owns(2, "src/a.ts")], ["file_overlap 1"]],
    [
      "delete and modify",
      [phase(1, { files_deleted: ["a"] }), phase(2, { files_modified: ["a"] })],
      ["file_overlap 1"],
    ],
    ["a glob and a file", [owns(1, "src/**"), owns(2, "src/a/b.ts")], ["file_overlap 1"]],
    ["brace sets that share a name", [owns(1, "{a,b}.ts"), owns(2, "{b,c}.ts")], ["file_overlap 1"]],
    ["brace sets that share no name", [owns(1, "{a,b}.ts"), owns(2, "{c,d}.ts")], []],
    ["an order between them", [owns(1, "a.ts"), owns(2, "a.ts", { blocked_by: [1] })], []],
    [
      "an order through a third phase",
      [owns(1, "a"), phase(2, { blocked_by: [1] }), owns(3, "a", { blocked_by: [2] })],
      [],
    ],
    ["different depths but no order", [owns(1, "a"), phase(2), owns(3, "a", { blocked_by: [2] })], ["file_overlap 1"]],
    ["a phase that runs alone", [owns(1, "a.ts", { parallel: false }), owns(2, "a.ts")], []],
    ["the same file twice in one phase", [phase(1, { files_created: ["a"], files_modified: ["a"] })], []],
    [
      "three phases that share a file",
      [owns(1, "a"), owns(2, "a"), owns(3, "a")],
      ["file_overlap 1", "file_overlap 1", "file_overlap 2"],
    ],
  ])("%s", (_name, phases, expected) => {
    expect(codes(check(phases))).toEqual(expected);
  });

  test("is one issue for each pair, which names both phases and what they share", () => {
    const files = { files_created: ["a", "b", "c", "d"] };
    const { errors } = check([phase("x", files), phase("y", files)]);
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Phases x and y may run at the same time and both own a, b, c and 1 more; /),
    ]);
  });

  test("paths must stay inside the project and outside reserved directories (T6)", () => {
    const report = check(
      [phase(1, { files_created: ["../x", "/etc/x", ".git/config", "st/state/x"] })],
      {},
      { stateDir: "st" },
    );
    expect(codes(report)).toEqual(["path_escape 1", "path_escape 1", "path_reserved 1", "path_reserved 1"]);
  });
});

describe("a phase that declares no files", () => {
  const none = { files_created: [], files_modified: [], files_deleted: [] };

  test.each<[string, Fields, string[]]>([
    ["causes a warning when its agent writes", {}, ["no_files_declared 1"]],
    ["causes a warning when its agent may do everything", { agent: "devops-engineer" }, ["no_files_declared 1"]],
    ["causes a warning when the fields are absent", { files_created: undefined }, ["no_files_declared 1"]],
    ["causes a warning when the fields are blank", { files_created: null, files_deleted: "" }, ["no_files_declared 1"]],
    ["is fine when its agent only reads", { agent: "architect" }, []],
    ["is fine when its agent reads and runs commands", { agent: "debugger" }, []],
    ["causes only the error when its agent does not exist", { agent: "nobody" }, ["unknown_agent 1"]],
    ["is a different case when it modifies", { files_modified: ["src/"] }, []],
    ["is a different case when it deletes", { files_deleted: ["src/**"] }, []],
    ["causes only the error when its declaration cannot be read", { files_created: [5] }, ["invalid_field_type 1"]],
    ["causes only the error when its declaration is not allowed", { files_created: ["../x"] }, ["path_escape 1"]],
  ])("%s", (_name, fields, expected) => {
    expect(codes(check([phase(1, { ...none, ...fields })]))).toEqual(expected);
  });

  test("the warning says what that means and what to do, and the plan stays valid", () => {
    const report = check([phase(1), phase(3, none)]);
    expect(report.valid).toBe(true);
    expect(report.warnings).toEqual([
      {
        code: "no_files_declared",
        phase: "3",
        message:
          "Phase 3 declares no files: under strict ownership every change it makes is rejected; name them in files_created, files_modified or files_deleted",
      },
    ]);
  });
});

describe("a plan whose phases overlap", () => {
  const shared = { files_created: ["a.ts"] };

  test("is not valid, but comes with a plan that a merge can work with", () => {
    const report = check([phase(1, shared), phase(2, shared), phase(3, { blocked_by: [1, 2] })]);
    expect(codes(report)).toEqual(["file_overlap 1"]);
    expect(report).toMatchObject({ valid: false, mergeable: { title: "Plan", phases: { length: 3 } } });
    expect(report.plan).toBeUndefined();
    expect(report.profile).toMatchObject({ total_phases: 3 });
  });

  test.each<[string, Fields[]]>([
    ["something else is wrong too", [phase(1, shared), phase(2, { ...shared, agent: "nobody" })]],
    ["phases wait for each other", [phase(1, shared), phase(2, shared), phase(3, { blocked_by: [3] })]],
    ["only something else is wrong", [phase(1, { agent: "nobody" })]],
    ["nothing is wrong", [phase(1)]],
  ])("has no mergeable plan when %s", (_name, phases) => {
    expect(check(phases).mergeable).toBeUndefined();
  });
});

test("text of the plan is escaped in messages and in the plan (T7)", () => {
  const evil = "\u001b[31mred\u001b[0m\u0007 line\nbreak";
  const report = check([phase(1, { title: evil, agent: evil, [evil]: 1, blocked_by: [evil], files_created: [evil] })]);
  const texts = [...report.errors, ...report.warnings].map(({ message }) => message);
  texts.push(report.dependency_graph.phases[0]?.title ?? "");
  for (const text of texts) expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  expect(texts).toContain("red line break");
});
