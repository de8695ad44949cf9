import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { errno } from "../errors.ts";
import { makeDirectories } from "./make-directories.ts";

let base: string;
const at = (path: string) => join(base, path);
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "maestro-make-"));
  writeFileSync(at("file"), "");
  mkdirSync(at("there"));
  symlinkSync("there", at("link"));
  symlinkSync("nowhere", at("dangling"));
});
afterEach(() => rmSync(base, { recursive: true }));

const failure = (path: string): string | undefined => {
  try {
    makeDirectories(path, 0o700);
    return undefined;
  } catch (error) {
    return errno(error);
  }
};

describe("makeDirectories", () => {
  test.each(["there", "there/", "new", "new/deep/er", "there/new/", "link", "link/new", "new/../other"])(
    "creates %s, and a second call changes nothing",
    (path) => {
      expect(failure(`${base}/${path}`)).toBeUndefined();
      const before = statSync(at(path));
      expect(before.isDirectory()).toBe(true);
      expect(failure(`${base}/${path}`)).toBeUndefined();
      expect(statSync(at(path)).mtimeMs).toBe(before.mtimeMs);
    },
  );

  test("creates directories with the given mode", () => {
    makeDirectories(at("new/deep"), 0o700);
    expect([at("new"), at("new/deep")].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  test.each([
    ["file", "EEXIST"],
    ["file/below/it", "ENOTDIR"],
    ["dangling", "EEXIST"],
    ["dangling/below", "EEXIST"],
    [`${"x".repeat(300)}/below`, "ENAMETOOLONG"],
  ])("rejects %s with the system's error code", (path, code) => {
    expect(failure(at(path))).toBe(code);
  });
});
