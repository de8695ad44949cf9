import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { randomHex, systemBytes } from "./random.ts";

describe("random words", () => {
  test.each([1, 4, 8, 12, 16])("of %s bytes have two digits for each, and none comes twice", (bytes) => {
    const words = Array.from({ length: 40 }, () => randomHex(bytes));
    for (const word of words) expect(word).toMatch(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
    if (bytes > 1) expect(new Set(words).size).toBe(words.length);
  });

  test("use every value of a byte", () => {
    const seen = new Set(randomHex(20_000).match(/../g));
    expect(seen.size).toBe(256);
  });

  test.runIf(process.platform !== "win32")("come from the system's device", () => {
    expect(systemBytes(12)).toHaveLength(12);
  });

  test("do not come from a file that is missing, not a device, or that has no bytes", () => {
    const directory = mkdtempSync(join(tmpdir(), "maestro-random-"));
    const file = join(directory, "urandom");
    writeFileSync(file, "not random at all");
    expect([file, join(directory, "missing"), "/dev/null"].map((path) => systemBytes(8, path))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    rmSync(directory, { recursive: true });
  });
});
