import { describe, expect, test } from "vitest";
import { piRuntime } from "../runtimes/pi/pi.ts";
import { noProgress } from "../runtimes/runtime.ts";
import { isOver } from "./budget.ts";

const answer = (input: number) =>
  `${JSON.stringify({ type: "message_end", message: { role: "assistant", content: [], usage: { input, output: 10 } } })}\n`;

describe("an attempt whose stream reports its usage", () => {
  const prices = new Map([["m", { input: 1, output: 1, cached: 1 }]]) as unknown as Parameters<
    typeof isOver
  >[0]["prices"];
  const used = (...inputs: number[]) => {
    const progress = inputs.reduce((known, input) => piRuntime.progress(known, answer(input)), noProgress);
    return { metered: progress.usage === undefined ? null : { usage: progress.usage } };
  };

  test("is over its reservation in tokens once all its steps together are", () => {
    const reserved = { tok: 1000 };
    expect(isOver({ prices }, used(), { reserved, model: null })).toBe(false);
    expect(isOver({ prices }, used(400, 400), { reserved, model: null })).toBe(false);
    expect(isOver({ prices }, used(400, 400, 400), { reserved, model: null })).toBe(true);
  });

  test("is priced as the model that it was told to use when the stream names none", () => {
    const reserved = { usd: 0.001 };
    expect(isOver({ prices }, used(900), { reserved, model: "m" })).toBe(false);
    expect(isOver({ prices }, used(900, 900), { reserved, model: "m" })).toBe(true);
  });

  test("is not stopped without a reservation", () => {
    expect(isOver({ prices }, used(1e9), { model: "m" })).toBe(false);
  });
});
