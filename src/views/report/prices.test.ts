import { describe, expect, test } from "vitest";
import { used } from "../../../test/support/sample-session.ts";
import { costOf, listPrices, type Prices, parsePrices, priceOf } from "./prices.ts";

const prices: Prices = new Map([["m", { input: 2, output: 10, cached: 0.5 }]]);

describe("what tokens cost", () => {
  test("counts cached input at its own price and thoughts as output", () => {
    const usage = [used(1_000_000, 100_000, { model: "m", cached: 400_000, thoughts: 50_000 })];
    // 0.6 M at 2, 0.4 M at 0.5, 0.15 M at 10
    expect(costOf(usage, prices)).toBeCloseTo(1.2 + 0.2 + 1.5, 10);
  });

  test("is unknown when nothing was reported or a model that was used has no price", () => {
    expect(costOf(null, prices)).toBeNull();
    expect(costOf([used(1, 1, { model: "other" })], prices)).toBeNull();
    expect(costOf([used(1, 1, { model: null })], prices)).toBeNull();
    expect(costOf([used(1, 0, { model: "m" }), used(0, 0, { model: "other" })], prices)).not.toBeNull();
    expect(costOf([], prices)).toBe(0);
  });

  test.each([
    ["gemini-2.5-pro", "gemini-2.5-pro"],
    ["gemini-2.5-flash-lite-preview-09-2025", "gemini-2.5-flash-lite"],
    ["gemini-3.1-pro-preview-customtools", "gemini-3.1-pro-preview"],
    ["gemini-2.5-flash-001", "gemini-2.5-flash"],
  ])("finds the price of %s under %s", (model, name) => {
    expect(priceOf(model, listPrices)).toBe(listPrices.get(name));
  });

  test.each(["gemini-2.5-flash-image", "gemini-2.5", "gemini-2.5-prodigy", "", "gemini-3.8-flash"])(
    "has no price for %j",
    (model) => {
      expect(priceOf(model, listPrices)).toBeUndefined();
    },
  );
});

describe("the user's prices", () => {
  test("override the list, and add to it", () => {
    const own = parsePrices({
      "gemini-2.5-pro": { input: 1, output: 2 },
      "local-model": { input: 0, output: 0, cached: 0 },
    });
    if ("error" in own) throw new Error(own.error);
    expect(costOf([used(1_000_000, 0, { cached: 500_000 })], own)).toBe(1);
    expect(costOf([used(5, 5, { model: "local-model" })], own)).toBe(0);
    expect(priceOf("gemini-2.5-flash", own)).toBe(listPrices.get("gemini-2.5-flash"));
  });

  test.each([
    [[], "prices"],
    ["free", "prices"],
    [{ m: { input: 1 } }, "m.output"],
    [{ m: { input: -1, output: 1 } }, "m.input"],
    [{ m: { input: 1, output: 1, per: "token" } }, "per"],
  ])("are rejected when they are %j, with the place", (json, where) => {
    const refused = parsePrices(json);
    expect("error" in refused && refused.error).toContain(where);
  });
});
