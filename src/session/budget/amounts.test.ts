import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Amounts, addAmounts, amountsText, parseAmounts, replaced, tighter, tighterText } from "../../amounts.ts";

describe("amounts of a budget", () => {
  test.each<[string, Amounts]>([
    ["5usd", { usd: 5 }],
    ["0.25usd", { usd: 0.25 }],
    ["2Mtok", { tok: 2_000_000 }],
    ["1.5ktok", { tok: 1500 }],
    ["300req", { req: 300 }],
    ["5usd, 2Mtok,300req", { usd: 5, tok: 2_000_000, req: 300 }],
  ])("%s is read", (text, amounts) => {
    expect(parseAmounts(text)).toEqual(amounts);
  });

  test.each([
    "",
    "5",
    "usd",
    "5 usd",
    "-5usd",
    "0usd",
    "0.4tok",
    "5usd,",
    "5usd,6usd",
    "5eur",
    "1e3tok",
    "5USD",
    "9999999Mtok",
  ])("%j is refused", (text) => {
    expect(parseAmounts(text)).toBeUndefined();
  });

  const amounts = fc.record(
    {
      usd: fc.integer({ min: 1, max: 1e9 }).map((micros) => micros / 1e6),
      tok: fc.integer({ min: 1, max: 1e9 }),
      req: fc.integer({ min: 1, max: 1e6 }),
    },
    { requiredKeys: [] },
  );

  test("what is written is read as the same amounts", () => {
    const some = amounts.filter((one) => Object.keys(one).length > 0);
    fc.assert(fc.property(some, (one) => void expect(parseAmounts(amountsText(one))).toEqual(one)));
  });

  test("a sum has every unit of both, and many sums do not drift", () => {
    expect(addAmounts({ usd: 0.1, tok: 1 }, { usd: 0.2, req: 3 })).toEqual({ usd: 0.3, tok: 1, req: 3 });
    const sum = Array.from({ length: 10_000 }).reduce<Amounts>((total) => addAmounts(total, { usd: 0.1 }), {});
    expect(sum).toEqual({ usd: 1000 });
  });

  test("of two limits the tighter holds, and an absent one limits nothing", () => {
    expect(tighter({ usd: 5, tok: 10 }, { usd: 7, req: 2 })).toEqual({ usd: 5, tok: 10, req: 2 });
    expect(tighterText("", "5usd")).toBe("5usd");
    expect(tighterText("3usd", "5usd")).toBe("3usd");
  });

  test("a new limit replaces that of its unit alone", () => {
    expect(replaced({ usd: 5, tok: 10 }, { usd: 8 })).toEqual({ usd: 8, tok: 10 });
  });
});
