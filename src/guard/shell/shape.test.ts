import { expect, test } from "vitest";
import { processorMs } from "../../../test/support/timed.ts";
import { ANY, canBe, FILLED, isKnown, isUnknown, knownPart, STAR, shown, UNKNOWN, withGlobs } from "./shape.ts";

test.each([
  ["main", "main"],
  [UNKNOWN, "main"],
  [UNKNOWN, ""],
  [`m${STAR}`, "main"],
  [`${STAR}in`, "main"],
  [`m${ANY}${ANY}n`, "main"],
  [`${STAR}a${STAR}a${STAR}`, "banana"],
  [`main${UNKNOWN}`, "main"],
])("%j can be %j", (shape, text) => {
  expect(canBe(shape, text)).toBe(true);
});

test.each([
  ["main", "mainly"],
  ["mainly", "main"],
  [`feature/${UNKNOWN}`, "main"],
  [`m${ANY}n`, "main"],
  [`main${ANY}`, "main"],
  [`x${STAR}`, "main"],
])("%j cannot be %j", (shape, text) => {
  expect(canBe(shape, text)).toBe(false);
});

test("long patterns are matched in time", () => {
  const start = processorMs();
  expect(canBe(`${STAR}a`.repeat(200), "a".repeat(2000).concat("b"))).toBe(false);
  expect(processorMs() - start).toBeLessThan(200);
});

test("holes are distinguished from text", () => {
  expect(isKnown("abc")).toBe(true);
  expect(isKnown(`a${FILLED}`)).toBe(false);
  expect(isUnknown(UNKNOWN)).toBe(true);
  expect(isUnknown(FILLED)).toBe(false);
  expect(knownPart(`e${UNKNOWN}cho`)).toBe("echo");
  expect(withGlobs("a*[bc]?")).toBe(`a${STAR}${ANY}${ANY}`);
  expect(shown(`${STAR}.ts ${UNKNOWN}/x`)).toBe("*.ts .../x");
});
