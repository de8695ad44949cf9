import { expect, test } from "vitest";
import { validatePlan } from "../validate.ts";

const design = (list: string) => `---\ntitle: "D"\nrequirements: ${list}\n---\n`;
const two = design('[{id: R1, text: "It  is\\n fast"}, {id: 2, text: "It is small"}]');

function check(source: string | undefined, ...covered: (string | number)[][]) {
  const phases = covered.map((requirements, at) => ({
    ...{ id: at + 1, title: "T", agent: "coder", description: "D", validation_criteria: ["c"] },
    ...{ files_created: [`${at}/`], requirements },
  }));
  const text = `---\n${JSON.stringify({ title: "Plan", design_ref: "d.md", phases })}\n---\n`;
  const agents = [{ name: "coder", tier: "full" }] as never;
  const context = { agents, broken: [], disabled: [], stateDir: ".gemini" };
  return validatePlan(text, { ...context, design: (path) => (path === "d.md" ? source : undefined) });
}

test("the requirements of the design belong to a plan whose phases cover them (C56)", () => {
  const { plan, errors } = check(two, ["R1"], [2, "2"]);
  expect(errors).toEqual([]);
  expect(plan?.requirements).toEqual([
    { id: "R1", text: "It is fast" },
    { id: "2", text: "It is small" },
  ]);
  expect(plan?.phases.map(({ requirements }) => requirements)).toEqual([["R1"], ["2"]]);
});

test.each<[what: string, source: string | undefined, covered: string[], codes: string[]]>([
  ["a requirement that no phase covers", two, ["R1"], ["requirement_uncovered"]],
  ["a phase with an unknown requirement", two, ["R1", "2", "R9"], ["requirement_unknown"]],
  ["a design that does not exist", undefined, ["R1"], ["requirement_unknown"]],
  ["a design without requirements", "# D\n", ["R1"], ["requirement_unknown"]],
  ["two requirements with one id", design('[{id: R1, text: "a"}, {id: R1, text: "b"}]'), ["R1"], ["duplicate_id"]],
  ["a requirement without text", design("[{id: R1}]"), [], ["invalid_field_type"]],
  ["an id that is not a name", design('[{id: "R 1", text: "a"}]'), [], ["invalid_field_type"]],
  ["requirements that are not a list", design("fast"), [], ["invalid_field_type"]],
  ["front matter that is not YAML", design("[{id: R1"), [], ["yaml_parse"]],
])("%s is an error (C56)", (_, source, covered, codes) => {
  const { errors, valid } = check(source, covered);
  expect([errors.map(({ code }) => code), valid]).toEqual([codes, false]);
});

test.each([
  ["no design", undefined],
  ["a design without front matter", "# D\n"],
  ["a design whose front matter is about something else", "---\ntitle: [\n---\n"],
])("a plan with %s is valid without requirements", (_, source) => {
  const { valid, plan } = check(source, []);
  expect([valid, plan?.requirements]).toEqual([true, undefined]);
});
