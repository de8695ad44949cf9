// The validator answers for any bytes: no exception, no hang, no polluted prototype.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { processorMs } from "../../test/support/timed.ts";
import { MAX_ISSUES } from "./issue.ts";
import { type ValidationReport, validatePlan } from "./validate.ts";

const example = readFileSync(new URL("../../examples/task-api-impl-plan.md", import.meta.url), "utf8");

function check(source: string | Uint8Array): ValidationReport {
  return validatePlan(source, { agents: [{ name: "coder", tier: "full" }], disabled: [], stateDir: ".gemini" });
}

function expectSound(report: ValidationReport): void {
  expect(report.valid).toBe(report.errors.length === 0);
  expect(report.plan !== undefined).toBe(report.valid);
  expect(report.plan === undefined || report.mergeable === undefined).toBe(true);
  for (const { message } of [...report.errors, ...report.warnings]) expect(message).not.toMatch(/[\u0000-\u001f]/);
}

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect({}).not.toHaveProperty("polluted");
});

test("answers for random bytes and random text", () => {
  const sources = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: "binary", maxLength: 200 }).map((text) => `---\n${text}\n---\n`),
    fc.json().map((text) => `---\n${text}\n---\n`),
  );
  fc.assert(
    fc.property(sources, (source) => expectSound(check(source))),
    { numRuns: 2_000 },
  );
});

test("answers for a damaged plan", () => {
  const cut = fc.tuple(
    fc.nat(example.length),
    fc.nat(40),
    fc.constantFrom("", " ", "\n", "- ", ": ", "[", "{", '"', "'", "&a ", "*a", "|\n", "\t", "__proto__: ", "~", "-1"),
  );
  fc.assert(
    fc.property(fc.array(cut, { minLength: 1, maxLength: 6 }), (cuts) => {
      let text = example;
      for (const [at, length, insert] of cuts) text = text.slice(0, at) + insert + text.slice(at + length);
      expectSound(check(text));
    }),
    { numRuns: 300 },
  );
});

test("answers for any value in any field", () => {
  const names = [
    "id",
    "title",
    "name",
    "agent",
    "agents",
    "description",
    "validation_criteria",
    "validation",
    "parallel",
  ];
  const more = [
    "blocked_by",
    "files_created",
    "files_modified",
    "files_deleted",
    "estimate",
    "__proto__",
    "constructor",
    "toString",
  ];
  const value = fc.jsonValue({ maxDepth: 2 });
  const phase = fc.dictionary(
    fc.constantFrom(...names, ...more),
    fc.oneof(value, fc.constantFrom("coder", ["a/../b"], [1], 1)),
  );
  fc.assert(
    fc.property(fc.record({ title: value, phases: fc.oneof(value, fc.array(phase)), total_phases: value }), (plan) => {
      expectSound(check(`---\n${JSON.stringify(plan)}\n---\n`));
    }),
    { numRuns: 500 },
  );
});

test("treats prototype keys as unknown fields and nothing else", () => {
  const text = `---
title: t
__proto__: { polluted: 1 }
phases:
  - { id: constructor, title: t, agent: coder, description: d, validation_criteria: [c], files_created: [constructor], __proto__: { polluted: 1 } }
  - { id: toString, title: t, agent: coder, description: d, validation_criteria: [c], files_created: [toString], blocked_by: [constructor] }
  - { id: valueOf, title: t, agent: coder, description: d, validation_criteria: [c], files_created: [valueOf], blocked_by: [hasOwnProperty] }
---
`;
  const report = check(text);
  expect(report.errors.map(({ code }) => code)).toEqual(["unknown_dependency"]);
  expect(report.warnings.map(({ code }) => code)).toEqual(["unknown_field", "unknown_field"]);
});

const mebibyte = 1024 * 1024;
const fieldsOf = (id: number) => `id: ${id}, title: t, agent: coder, description: d, validation_criteria: [c]`;
const many = (count: number, fields: (id: number) => string) =>
  `---\ntitle: t\nphases:\n${Array.from({ length: count }, (_, id) => `  - {${fieldsOf(id)}, ${fields(id)}}\n`).join("")}---\n`;

test.each([
  ["a megabyte of garbage", `---\n${"%&[*!{|>-\u00ff\t: ".repeat(mebibyte / 13)}\n---\n`],
  ["a megabyte of brackets", `---\na: ${"[".repeat(mebibyte)}\n---\n`],
  ["a megabyte of dashes", `---\n${"- ".repeat(mebibyte / 2)}\n---\n`],
  [
    "a hundred thousand keys",
    `---\na: &a 1\n${Array.from({ length: 100_000 }, (_, at) => `k${at}: 1\n`).join("")}---\n`,
  ],
  [
    "a hundred thousand unknown dependencies",
    many(1, () => `blocked_by: [${Array.from({ length: 100_000 }, (_, at) => at + 1)}]`),
  ],
  [
    "a hundred thousand dependencies, one twice",
    many(1, () => `blocked_by: [${Array.from({ length: 100_000 }, (_, at) => at)}, 7]`),
  ],
  ["ten thousand phases with unknown dependencies", many(10_000, (id) => `blocked_by: [x${id}]`)],
  ["thousands of phases that own the same file", many(5_000, () => "files_created: [src/x.ts]")],
  ["thousands of globs in one directory", many(3_000, (id) => `files_created: [src/*${id}*a*b*c*d*e*f*.ts]`)],
  ["thousands of brace sets", many(5_000, (id) => `files_created: ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}${id}"]`)],
])("answers within seconds for %s", (_name, source) => {
  const start = processorMs();
  expectSound(check(source));
  expect(processorMs() - start).toBeLessThan(15_000);
});

test("limits the list of issues", () => {
  const { errors } = check(many(1, () => `blocked_by: [${Array.from({ length: MAX_ISSUES * 2 }, (_, at) => at + 1)}]`));
  expect(errors).toHaveLength(MAX_ISSUES + 1);
  expect(errors.at(-1)).toEqual({ code: "unknown_dependency", message: expect.stringContaining("more issues") });
});

test("accepts five thousand phases in layers, and ten thousand in a chain declared backwards", () => {
  const layers = many(
    5_000,
    (id) => `blocked_by: [${id < 10 ? "" : Array.from({ length: 10 }, (_, at) => id - (id % 10) - 10 + at)}]`,
  );
  const chain = many(10_000, (id) => `blocked_by: [${id === 9_999 ? "" : id + 1}]`);
  const start = processorMs();
  expect(check(layers)).toMatchObject({ valid: true, dependency_graph: { parallel_batches: { length: 500 } } });
  expect(check(chain)).toMatchObject({ valid: true, dependency_graph: { critical_path: { length: 10_000 } } });
  expect(processorMs() - start).toBeLessThan(10_000);
});
