import fc from "fast-check";
import { expect, test } from "vitest";
import { readOwnedPath, reservedDirectories } from "./owned-path.ts";
import { MAX_PATH_CHARS } from "./plan.ts";

const reserved = reservedDirectories(".gemini");

test.each([
  ["src/a.ts", "src/a.ts"],
  ["./src//a.ts", "src/a.ts"],
  ["src/x/../a.ts", "src/a.ts"],
  ["src\\a.ts", "src/a.ts"],
  ["src/", "src/"],
  ["src/.", "src/"],
  [" src/a.ts ", "src/a.ts"],
  [".", "."],
  ["src/**/*.ts", "src/**/*.ts"],
  ["src/{a,b}.ts", "src/{a,b}.ts"],
  ["app/[slug]/page.tsx", "app/[slug]/page.tsx"],
  [".github/workflows/ci.yml", ".github/workflows/ci.yml"],
  [".gitignore", ".gitignore"],
  [".gemini/settings.json", ".gemini/settings.json"],
  ["**", "**"],
  ["*/state/x", "*/state/x"],
  ["@(src|lib)/state/x", "@(src|lib)/state/x"],
  ["[abc]/state/x", "[abc]/state/x"],
  ["a..b/c", "a..b/c"],
])("%j is owned as %j (X275)", (declared, path) => {
  expect(readOwnedPath(declared, reserved)).toMatchObject({ path });
});

test.each([
  "/etc/passwd",
  "C:\\Windows\\x",
  "c:/x",
  "\\\\server\\share",
  "//server/share",
  "..",
  "../x",
  "a/../../x",
  "a\\..\\..\\x",
  "**/../../x",
  "~/x",
  "~root/x",
  "{a,../x}",
  "{a,/etc}/x",
  "a\u0000b",
  "a\nb",
  "a\u001b[31m",
])("%j leaves the project (T6)", (declared) => {
  expect(readOwnedPath(declared, reserved)).toMatchObject({ code: "path_escape" });
});

test.each([
  ".git",
  ".git/config",
  ".GIT/hooks/pre-commit",
  "./.git/",
  "vendor/lib/.git/config",
  ".g*/config",
  "{src,.git}/config",
  "**/.git/**",
  ".gemini/state",
  ".gemini/state/progress.jsonl",
  ".Gemini/State/x",
  ".gemini/parallel/1/results/a.json",
  ".gemini/plans/x-impl-plan.md",
  ".gemini",
  ".gemini/",
  ".gemini/**",
  ".gemini/*/x",
  "[.]git/config",
  "@(.git)/x",
  "+(.)git/x",
  "@(src|.git)/x",
  "[.]gemini/state/progress.jsonl",
  "@(.gemini)/state/x",
  ".gemini/[s]tate/x",
])("%j is reserved (T6)", (declared) => {
  expect(readOwnedPath(declared, reserved)).toMatchObject({ code: "path_reserved" });
});

test("reserves the state directory, whatever its name", () => {
  expect(readOwnedPath("var/maestro/state/x", reservedDirectories("./var/maestro/"))).toHaveProperty("code");
  expect(readOwnedPath("var/**", reservedDirectories("var/maestro"))).toHaveProperty("code");
  expect(readOwnedPath(".gemini/state/x", reservedDirectories("var/maestro"))).toHaveProperty("path");
  expect(reservedDirectories("/var/maestro")).toEqual([]);
});

test.each([
  ["", "missing_field"],
  ["  ", "missing_field"],
  ["a".repeat(MAX_PATH_CHARS + 1), "too_large"],
  ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "too_large"],
])("rejects %j", (declared, code) => {
  expect(readOwnedPath(declared, reserved)).toMatchObject({ code });
});

test("reads a plain path like the same path written unusually, whichever directory is reserved", () => {
  const name = fc.oneof(
    fc.constantFrom("state", "parallel", "plans", "git", "GIT", "var", "Maestro", "maestro", "a..b"),
    fc.stringMatching(/^[\w-][\w.-]{0,6}$/),
  );
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const stateDir = fc.constantFrom(".gemini", "var/maestro", "maestro", "/var/maestro", "a/.gemini");
  fc.assert(
    fc.property(path, stateDir, (plain, directory) => {
      const others = reservedDirectories(directory);
      expect(readOwnedPath(plain, others)).toEqual(readOwnedPath(`./${plain}`, others));
    }),
  );
});
