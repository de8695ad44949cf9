import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { realPath } from "./real-path.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "maestro-real-path-")));
afterAll(() => rmSync(root, { recursive: true }));
const at = (...parts: string[]) => join(root, ...parts);
mkdirSync(at("secret"));
writeFileSync(at("secret", ".env"), "");
symlinkSync("secret", at("open"));
symlinkSync(at("secret", ".env"), at("notes.txt"));
symlinkSync("nowhere/.env", at("dangling"));
symlinkSync("loop", at("loop"));

describe("realPath resolves", () => {
  test.each([
    ["a file", "secret/.env", "secret/.env"],
    ["a file that does not exist", "src/new.ts", "src/new.ts"],
    ["a link to a file", "notes.txt", "secret/.env"],
    ["a new file behind a link to a directory", "open/new/.env", "secret/new/.env"],
    ["a dangling link", "dangling", "nowhere/.env"],
    ["a file below a file", "secret/.env/x", "secret/.env/x"],
    ["a link to itself", "loop", "loop"],
  ])("%s", (_, given, expected) => {
    expect(realPath(at(given))).toBe(at(expected));
  });
});
