import { expect, test } from "vitest";
import { usageIn } from "./updates.ts";

const counts = { inputTokens: 10, outputTokens: 4, cachedReadTokens: 5, thoughtTokens: 1 };

test("cached tokens are input once, whether or not the agent counts them so", () => {
  const expected = [{ model: null, input: 15, cached: 5, output: 3, thoughts: 1 }];
  expect(usageIn({ usage: { ...counts, totalTokens: 19 } })).toEqual(expected);
  expect(usageIn({ usage: { ...counts, inputTokens: 15, totalTokens: 19 } })).toEqual(expected);
});

test("tokens are found where Gemini CLI reports them, and are unknown where an agent does not", () => {
  const row = { model: "m", token_count: { input_tokens: 7, output_tokens: 2 } };
  expect(usageIn({ _meta: { quota: { model_usage: [row] } } })).toEqual([
    { model: "m", input: 7, cached: 0, output: 2, thoughts: 0 },
  ]);
  expect(usageIn({ _meta: { quota: 1 } })).toEqual([]);
});
