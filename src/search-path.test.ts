import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findProgram, rememberedProgram, safePath, searchPath } from "./search-path.ts";

let base: string;
const before = process.cwd();
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "maestro-path-")));
  for (const folder of [".", "bin"]) {
    mkdirSync(join(base, folder), { recursive: true });
    writeFileSync(join(base, folder, "gemini"), "#!/bin/sh\n");
    chmodSync(join(base, folder, "gemini"), 0o755);
  }
  process.chdir(base);
});
afterEach(() => {
  process.chdir(before);
  rmSync(base, { recursive: true });
});

describe("PATH", () => {
  test.each([["", "/usr/bin"], ["/usr/bin", ""], ["/usr/bin", ".", "bin", "./bin", "..", "~/bin"], ["/usr/bin"]])(
    "drops entries that depend on the current directory: %j",
    (...entries) => {
      expect(searchPath(entries.join(delimiter))).toBe("/usr/bin");
    },
  );

  test.each(["", ".", `${delimiter}.${delimiter}bin`, undefined])("is never passed on empty: %j", (path) => {
    expect(safePath(path)).toBe("/usr/local/bin:/usr/bin:/bin");
  });

  test.each(["", ".", "bin", `${delimiter}/nowhere`, "./bin", undefined])(
    "does not find a program in the current directory: %j",
    (path) => {
      expect(findProgram("gemini", path)).toBeUndefined();
    },
  );

  test("finds the first executable program", () => {
    mkdirSync(join(base, "other", "gemini"), { recursive: true });
    const path = [join(base, "other"), join(base, "nowhere"), join(base, "bin"), base].join(delimiter);
    expect(findProgram("gemini", path)).toBe(join(base, "bin", "gemini"));
  });

  describe("of a remembered program", () => {
    const install = (folder: string) => {
      mkdirSync(join(base, folder), { recursive: true });
      writeFileSync(join(base, folder, "tool"), "#!/bin/sh\n");
      chmodSync(join(base, folder, "tool"), 0o755);
      return join(base, folder, "tool");
    };
    const both = () => [join(base, "first"), join(base, "second")].join(delimiter);

    test("is not searched again while the program is there", () => {
      const second = install("second");
      expect(rememberedProgram("tool", both())).toBe(second);
      install("first");
      expect(rememberedProgram("tool", both())).toBe(second);
    });

    test.each([
      ["gone", (program: string) => rmSync(program)],
      ["no longer executable", (program: string) => chmodSync(program, 0o644)],
    ])("is searched again when the program is %s", (_, spoil) => {
      const second = install("second");
      expect(rememberedProgram("tool", both())).toBe(second);
      spoil(second);
      expect(rememberedProgram("tool", both())).toBeUndefined();
      const first = install("first");
      expect(rememberedProgram("tool", both())).toBe(first);
    });

    test("is searched again when PATH changes", () => {
      const [first, second] = [install("first"), install("second")];
      expect(rememberedProgram("tool", both())).toBe(first);
      expect(rememberedProgram("tool", join(base, "second"))).toBe(second);
      expect(rememberedProgram("tool", undefined)).toBeUndefined();
    });
  });
});
