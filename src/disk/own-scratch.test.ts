import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isOwnScratch } from "./own-scratch.ts";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "maestro-scratch-"));
});
afterEach(() => rmSync(place, { recursive: true }));

describe("a throw-away directory (S235)", () => {
  test("is one that mktemp -d makes: of this user, for no other user", () => {
    mkdirSync(join(place, "src"));
    for (const name of ["", "src", "src/new", "missing/new"]) expect(isOwnScratch(place, join(place, name))).toBe(true);
    chmodSync(place, 0o755);
    expect(isOwnScratch(place, join(place, "src"))).toBe(false);
    chmodSync(place, 0o700);
  });

  test("is neither a link, nor a file, nor missing, nor another user's", () => {
    symlinkSync(place, join(place, "link"));
    writeFileSync(join(place, "file"), "");
    for (const name of ["link", "file", "nowhere", "file/x"]) {
      expect(isOwnScratch(join(place, name), join(place, name, "x")), name).toBe(false);
    }
    expect(isOwnScratch("/etc", "/etc/x")).toBe(false);
  });

  test("holds no file that has a second name elsewhere, and no device", () => {
    writeFileSync(join(place, "original"), "");
    expect(isOwnScratch(place, join(place, "original"))).toBe(true);
    linkSync(join(place, "original"), join(place, "second"));
    symlinkSync("original", join(place, "link"));
    for (const name of ["second", "original", "link"]) expect(isOwnScratch(place, join(place, name)), name).toBe(false);
  });
});
