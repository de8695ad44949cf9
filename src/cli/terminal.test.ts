import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { displayWidth } from "../views/text/width.ts";
import { paint } from "./paint.ts";
import { frameText, outgoing } from "./terminal.ts";

const colors = paint(true);
const ownCodes = /\u001b\[(?:1|2|22|3[1236]|39)m/g;
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const hostile = fc.string({
  unit: fc.constantFrom(
    ..."\u001b[]\\0;?25lmHJABC\u0007\u009b\u009d\u0090\u009c\r\n\t\u0000 \u202e\u2066\u200b\ufeff\ufdd0\ufdd4\ufdd6é設",
    "\u001b]0;",
    "\u001b[8m",
    "\u{e0041}",
  ),
  maxLength: 60,
});

describe("text that is written to a terminal", () => {
  test.each([
    ["plain text", "Phase 1: done\n\tindented", "Phase 1: done\n\tindented"],
    ["a window title", "a\u001b]0;owned\u0007b", "ab"],
    ["a clipboard write", "a\u001b]52;c;aGk=\u001b\\b", "ab"],
    ["a link", "\u001b]8;;http://evil\u0007x\u001b]8;;\u0007", "x"],
    ["cursor movements", "a\u001b[2A\u001b[Kb\u001b[?1049h", "ab"],
    ["hidden text", "\u001b[8mhidden\u001b[0m", "hidden"],
    ["8-bit controls", "\u009b31mred\u009d0;x\u009c", "red"],
    ["a carriage return", "safe\rrm -rf /", "safe\nrm -rf /"],
    ["a right-to-left override", "a\u202egnp.exe", "a\\u202egnp.exe"],
    ["an isolate", "\u2066x\u2069", "\\u2066x\\u2069"],
    ["zero-width characters", "ad\u200bmin\ufeff\u00ad", "ad\\u200bmin\\ufeff\\u00ad"],
    ["tag characters", "a\u{e0041}", "a\\u{e0041}"],
    ["filler characters", "a\u3164b\u115f", "a\\u3164b\\u115f"],
    ["annotations and separators", "\ufff9a\u2028b", "\\ufff9a\\u2028b"],
    ["a colour mark without an end", "\ufdd4x", "\\ufdd4x"],
    ["other scripts", "設計 עברית العربية", "設計 עברית العربية"],
    ["emoji", "👩‍💻 ❤️ 1️⃣ 👨‍👩‍👧", "👩‍💻 ❤️ 1️⃣ 👨‍👩‍👧"],
    ["a script with joiners", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"],
    ["a joiner between Latin letters", "ad\u200dmin", "ad\\u200dmin"],
    ["variation selectors outside an emoji", "a\ufe0fb\u{e0101}", "a\\ufe0fb\\u{e0101}"],
  ])("%s", (_what, text, shown) => {
    expect(outgoing(text)).toBe(shown);
  });

  test("contains only Maestro's own colour codes, whatever the input", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (a, b, c) => {
        const shown = outgoing(`${a}${colors.red(b)}${c}`);
        expect(shown.replace(ownCodes, "")).not.toMatch(acting);
        expect(shown).not.toMatch(/\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}/u);
      }),
    );
  });

  test("keeps its width when it is coloured", () => {
    expect(displayWidth(colors.bold("設計 a"))).toBe(6);
    expect(outgoing(colors.bold("x")).replace(ownCodes, "")).toBe("x");
  });

  test("moves the cursor only to draw a frame", () => {
    const text = frameText(["a\u001b[5Ab", colors.dim("c")], 3).replace(ownCodes, "");
    expect(text).toBe("\u001b[3A\rab\u001b[K\nc\u001b[K\n\u001b[J");
  });

  test("has no colours where colours are off, whatever marks it contains", () => {
    expect(outgoing("a\ufdd4b\ufdd6", false)).toBe("a\\ufdd4b\\ufdd6");
    expect(frameText(["a\ufdd4b\ufdd6"], 1, false)).toBe("\u001b[1A\ra\\ufdd4b\\ufdd6\u001b[K\n\u001b[J");
  });

  test("is sanitized in linear time", () => {
    for (const unit of ["\u001b]", "\u202e", "👩‍", "\ufdd0", "\u200d", "a\ufe0f"]) {
      const before = process.cpuUsage();
      outgoing(unit.repeat(500_000));
      expect(process.cpuUsage(before).user / 1e6, JSON.stringify(unit)).toBeLessThan(4);
    }
  });
});
