import { expect, test } from "vitest";
import { tokensByModel, tokensOf } from "./tokens.ts";

const model = (tokens: unknown) => ({ models: { m: { tokens } } });

test.each([
  ["prompt tokens include the cached ones", model({ prompt: 10, candidates: 3, cached: 4, input: 6 }), [10, 3, 4]],
  ["thoughts are not output", model({ prompt: 10, candidates: 3, thoughts: 50, total: 63 }), [10, 3, 0]],
  ["input and cached make the prompt", model({ input: 6, cached: 4, candidates: 3 }), [10, 3, 4]],
  ["digits in a string are a number", model({ prompt: "12", candidates: " 3 ", cached: "4" }), [12, 3, 4]],
  ["a value that is not a count is ignored", model({ prompt: 12, candidates: "abc", cached: -4 }), [12, 0, 0]],
  ["zero is known", model({ prompt: 0, candidates: 0, cached: 0 }), [0, 0, 0]],
  [
    "models add up",
    {
      models: { a: { tokens: { prompt: 1, candidates: 2, cached: 1 } }, b: { tokens: { prompt: "4", candidates: 8 } } },
    },
    [5, 10, 1],
  ],
  [
    "a model without counts is left out",
    { models: { a: {}, b: { tokens: { prompt: 4, candidates: 8 } }, c: null, d: [] } },
    [4, 8, 0],
  ],
  [
    "a stream's totals",
    { input_tokens: 10, output_tokens: 3, cached: 4, input: 6, models: { m: { input_tokens: 99 } } },
    [10, 3, 4],
  ],
  ["a stream's models", { models: { m: { input_tokens: 10, output_tokens: 3, cached: 4 } } }, [10, 3, 4]],
  [
    "a name from the prototype",
    JSON.parse('{"models":{"__proto__":{"tokens":{"prompt":1,"candidates":1}}}}'),
    [1, 1, 0],
  ],
] as const)("%s (J131, K156)", (_, stats, [input, output, cached]) => {
  expect(tokensOf(stats)).toEqual({ input, output, cached });
});

test.each([
  [undefined],
  [null],
  ["12"],
  [[]],
  [{}],
  [{ models: {} }],
  [{ models: [] }],
  [{ models: { m: {} } }],
  [model(null)],
  [model({})],
  [model({ prompt: "abc", candidates: Number.NaN, cached: Number.POSITIVE_INFINITY })],
  [model({ prompt: -1, candidates: 1.5, cached: 1e300 })],
  [model({ prompt: "1e3", candidates: "0x10", cached: "" })],
])("%j has no token counts, which is not zero (K156)", (stats) => {
  expect(tokensOf(stats)).toBeNull();
});

test("reports tokens by model, with thoughts counted separately (J131, K156)", () => {
  const stats = {
    models: {
      pro: { tokens: { input: 60, prompt: 100, candidates: 20, cached: 40, thoughts: 7, total: 127 } },
      flash: { tokens: { prompt: "5", candidates: 2 } },
      idle: { tokens: {} },
      "odd\u001b[31m name": { tokens: { prompt: 1 } },
      broken: null,
    },
  };
  expect(tokensByModel(stats)).toEqual([
    { model: "pro", input: 100, output: 20, cached: 40, thoughts: 7 },
    { model: "flash", input: 5, output: 2, cached: 0, thoughts: 0 },
    { model: "odd name", input: 1, output: 0, cached: 0, thoughts: 0 },
  ]);
});

test("totals without models belong to an unnamed model", () => {
  expect(tokensByModel({ input_tokens: 10, output_tokens: 3, cached: 4 })).toEqual([
    { model: null, input: 10, output: 3, cached: 4, thoughts: 0 },
  ]);
});

test("reports the models of a stream separately too", () => {
  const stats = {
    input_tokens: 10,
    output_tokens: 3,
    models: { m: { input_tokens: 10, output_tokens: 3, cached: 4 } },
  };
  expect(tokensByModel(stats)).toEqual([{ model: "m", input: 10, output: 3, cached: 4, thoughts: 0 }]);
});

test.each([
  [undefined],
  [null],
  ["12"],
  [[]],
  [{}],
  [{ models: {} }],
  [{ models: { m: {} } }],
  [model({ prompt: -1 })],
])("%j names no model and no total: null, not zero (K156)", (stats) => {
  expect(tokensByModel(stats)).toBeNull();
});
