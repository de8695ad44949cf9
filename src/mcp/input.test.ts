import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { MaestroError } from "../errors.ts";
import { agentName, choice, countField, flagField, id, textField, timeField, verbatim, word } from "./fields.ts";
import { publishedSchema, readToolInput } from "./input.ts";
import { action, ONLY, type Tool } from "./tool.ts";
import { toolTable } from "./tool-table.ts";

const nothing = () => ({ body: {} });
const tool: Tool = {
  name: "maestro_sample",
  description: "",
  actions: {
    make: action(
      {
        phase_id: id(),
        mode: word(["parallel", "in_progress"]).optional(),
        limit: countField().optional(),
        sure: flagField().optional(),
        agent: agentName().optional(),
        message: textField(10).optional(),
        content: verbatim(10).optional(),
        time: timeField().optional(),
        files: z.strictObject({ created: z.array(textField(5)) }).optional(),
      },
      nothing,
    ),
    drop: action({}, nothing),
  },
};
const single: Tool = {
  name: "maestro_single",
  description: "",
  actions: { [ONLY]: action({ section: choice(["a", "b"]).optional() }, nothing) },
};

const read = (args: unknown, of = tool) => readToolInput(of, args).input as unknown;
const refusal = (args: unknown, of = tool) => {
  try {
    read(args, of);
  } catch (error) {
    if (error instanceof MaestroError) return error;
    throw error;
  }
  throw new Error("it was accepted");
};

describe("the arguments of a call", () => {
  test.each<[string, object, object]>([
    ["an id as a number", { phase_id: 5 }, { phase_id: "5" }],
    ["an id as text", { phase_id: " 5a " }, { phase_id: "5a" }],
    ["a number as text", { phase_id: 1, limit: " 20 " }, { phase_id: "1", limit: 20 }],
    ["a boolean as text", { phase_id: 1, sure: "True" }, { phase_id: "1", sure: true }],
    ["a word in another spelling", { phase_id: 1, mode: "In-Progress" }, { phase_id: "1", mode: "in_progress" }],
    [
      "an agent in another spelling",
      { phase_id: 1, agent: " Code_Reviewer" },
      { phase_id: "1", agent: "code-reviewer" },
    ],
    ["a duration as a number", { phase_id: 1, time: 20 }, { phase_id: "1", time: "20" }],
    ["the key that the client adds", { phase_id: 1, wait_for_previous: true }, { phase_id: "1" }],
    ["null for a missing value", { phase_id: 1, limit: null }, { phase_id: "1" }],
    ["control characters in a text", { phase_id: 1, message: "a\u001b[31mb\u0000" }, { phase_id: "1", message: "ab" }],
    [
      "control characters in a verbatim text",
      { phase_id: 1, content: "a\u0000" },
      { phase_id: "1", content: "a\u0000" },
    ],
  ])("may have %s (T12)", (_, given, expected) => {
    expect(read({ action: "make", ...given })).toEqual(expected);
  });

  test.each<[string, unknown, string]>([
    ["an array instead of an object", [], "maestro_sample takes an object of named arguments"],
    ["no action", {}, 'Missing "action" for maestro_sample'],
    ["an unknown action", { action: "mak" }, 'maestro_sample has no action "mak" (did you mean "make"?)'],
    ["an action that is not a string", { action: 5 }, "maestro_sample has no action 5"],
    [
      "an action named like a property of Object",
      { action: "constructor" },
      'maestro_sample has no action "constructor"',
    ],
    ["a missing key", { action: "make" }, 'Missing "phase_id" for action make'],
    [
      "an unknown key",
      { action: "make", phase_id: 1, limits: 1 },
      'Unknown key "limits" (did you mean "limit"?) for action make; it takes phase_id, mode, limit, sure, agent, message, content, time, files',
    ],
    [
      "a key of another action",
      { action: "drop", phase_id: 1 },
      'Unknown key "phase_id" for action drop; it takes nothing',
    ],
    [
      "a key named like a property of Object",
      JSON.parse('{"action":"drop","__proto__":{"polluted":1}}'),
      'Unknown key "__proto__" for action drop; it takes nothing',
    ],
    [
      "an unknown key inside",
      { action: "make", phase_id: 1, files: { created: [], x: 1 } },
      'Unknown key "files.x" for action make',
    ],
    ["a missing key inside", { action: "make", phase_id: 1, files: {} }, 'Missing "files.created" for action make'],
    [
      "a list item of the wrong type",
      { action: "make", phase_id: 1, files: { created: ["a", 5] } },
      '"files.created.1" must be a string (got: 5)',
    ],
    [
      "a text that is not a number",
      { action: "make", phase_id: 1, limit: "many" },
      '"limit" must be an integer, 0 or more (got: "many")',
    ],
    [
      "a negative number",
      { action: "make", phase_id: 1, limit: -1 },
      '"limit" must be an integer, 0 or more (got: -1)',
    ],
    [
      "a fraction",
      { action: "make", phase_id: 1.5 },
      '"phase_id" must be a phase id: a string or an integer (got: 1.5)',
    ],
    [
      "an empty id",
      { action: "make", phase_id: "" },
      '"phase_id" must be a phase id: a string or an integer (got: "")',
    ],
    [
      "a text that is too long",
      { action: "make", phase_id: 1, message: "x".repeat(11) },
      '"message" must not be longer than 10 characters (got: "xxxxxxxxxxx")',
    ],
    [
      "a blank text",
      { action: "make", phase_id: 1, message: " \u0007 " },
      '"message" must not be empty (got: " \\u0007 ")',
    ],
    [
      "an unknown word",
      { action: "make", phase_id: 1, mode: "fast" },
      '"mode" must be one of parallel, in_progress (got: "fast")',
    ],
    [
      "a text that is not a boolean",
      { action: "make", phase_id: 1, sure: "maybe" },
      '"sure" must be true or false (got: "maybe")',
    ],
  ])("may not have %s, and the error says so (X266)", (_, given, message) => {
    const error = refusal(given);
    expect([error.code, error.message]).toEqual(["usage", message]);
  });

  test("get all their problems reported at once, with the expected keys", () => {
    const error = refusal({ action: "make", wrong: 1, yours: 2, limit: "x", sure: 7 });
    expect(error.message.split(". ")).toEqual([
      expect.stringMatching(/^Unknown keys "wrong", "yours" for action make; it takes phase_id, /),
      'Missing "phase_id" for action make',
      '"limit" must be an integer, 0 or more (got: "x")',
      '"sure" must be true or false (got: 7)',
    ]);
    expect(error.hint).toBe(
      "make needs phase_id; it may have mode, limit, sure, agent, message, content, time, files.",
    );
  });

  test("of a tool with a single action need no action", () => {
    expect(read({ section: "A" }, single)).toEqual({ section: "a" });
    expect(refusal({ section: "c" }, single).message).toBe('"section" must be one of a, b (got: "c")');
  });

  test("of any kind lead to an input or a usage error, nothing else (T12)", () => {
    const keys = fc.constantFrom(
      "action",
      "phase_id",
      "plan_path",
      "files",
      "error",
      "section",
      "offset",
      "__proto__",
      "constructor",
    );
    const args = fc.dictionary(
      fc.oneof(keys, fc.string()),
      fc.oneof(fc.jsonValue(), fc.constantFrom("create", "report", 1)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...toolTable), args, (offered, given) => {
        try {
          readToolInput(offered.tool, given);
        } catch (error) {
          if (!(error instanceof MaestroError)) throw error;
          expect(error.code).toBe("usage");
        }
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});

describe("the published schema of a tool", () => {
  test("is flat and loose, with types and descriptions", () => {
    expect(publishedSchema(tool)).toEqual({
      type: "object",
      properties: {
        action: { type: "string", enum: ["make", "drop"] },
        phase_id: { type: ["string", "integer"] },
        mode: { type: "string", description: "parallel | in_progress" },
        limit: { type: ["string", "integer"] },
        sure: { type: ["boolean", "string"] },
        agent: { type: "string" },
        message: { type: "string" },
        content: { type: "string" },
        time: { type: ["string", "integer"] },
        files: { type: "object", properties: { created: { type: "array", items: { type: "string" } } } },
      },
      required: ["action"],
    });
    expect(publishedSchema(single)).toEqual({
      type: "object",
      properties: { section: { type: "string", enum: ["a", "b"] } },
    });
  });

  test.each(toolTable.map(({ tool: each }) => [each.name, each] as const))(
    "has no union, no limit and no closed object at any depth: %s",
    (_, each) => {
      const json = JSON.stringify(publishedSchema(each));
      expect(json).not.toMatch(/"(anyOf|oneOf|allOf|additionalProperties|maxLength|minLength|maxItems|pattern|\$\w+)"/);
      expect(json.length).toBeLessThan(2000);
    },
  );
});
