import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stripControls } from "../../text.ts";
import { cell, cut } from "./cell.ts";
import { visible } from "./visible.ts";
import { displayWidth } from "./width.ts";

const unit = fc.oneof(
  fc.constantFrom(..."\u001b[\u0007\u007f\u0085\u009b\u009d\r\n\t\u0000", "\ud83d", "設"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);
const anyName = fc.string({ unit });

describe("control characters", () => {
  test.each([
    ["src/\u001b[31mred.ts", "src/␛[31mred.ts"],
    ["bell\u0007 null\u0000 delete\u007f", "bell␇ null␀ delete␡"],
    ["eight-bit \u009b2J", "eight-bit �2J"],
    ["half of one \ud83d", "half of one �"],
    ["設計 🚀\tand\nnew line", "設計 🚀\tand\nnew line"],
  ])("%j is shown as %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test("never pass, nor pass a cell, for any name", () => {
    fc.assert(
      fc.property(anyName, fc.nat(60), (name, width) => {
        const shown = visible(name);
        expect(stripControls(shown)).toBe(shown);
        expect(Buffer.from(shown).toString()).toBe(shown);
        expect(stripControls(cut(name, width))).toBe(cut(name, width));
        expect(displayWidth(cell(name, width))).toBe(width);
      }),
    );
  });
});
