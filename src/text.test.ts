import { describe, expect, test } from "vitest";
import { stripControls } from "./text.ts";

describe("text from outside (T7)", () => {
  test.each([
    ["colours", "a\u001b[31mred\u001b[0mb", "aredb"],
    ["a title, closed by BEL", "a\u001b]0;evil\u0007b", "ab"],
    ["a link, closed by ST", "\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\", "text"],
    ["C1 forms", "a\u009b31mb\u009d0;t\u009cc", "abc"],
    ["a title that is never closed", "a\u001b]0;evil\nStatus: success", "a0;evil\nStatus: success"],
    ["a charset switch and a reset", "\u001b(B\u001bcx", "x"],
    ["bells, NULs and DEL", "a\u0007\0\u007fb", "ab"],
    ["tabs and newlines, which stay", "a\tb\nc", "a\tb\nc"],
    ["CRLF and CR, which become newlines", "a\r\nb\rc", "a\nb\nc"],
    ["an escape at the very end", "a\u001b", "a"],
    ["other scripts and emoji, which stay", "süß 日本 🎼", "süß 日本 🎼"],
  ])("stripControls handles %s", (_what, text, clean) => {
    expect(stripControls(text)).toBe(clean);
  });

  test.each([
    ["C1 introducers", `${"\u009d".repeat(2_000_000)}\u001bA`],
    ["escapes", "\u001b".repeat(2_000_000)],
    ["open titles", "\u001b]".repeat(1_000_000)],
    ["an endless CSI", `\u001b[${"0".repeat(2_000_000)}`],
  ])("takes time proportional to its length: %s", (_what, text) => {
    const before = process.cpuUsage();
    expect(stripControls(text)).not.toContain("\u001b");
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(2);
  });
});
