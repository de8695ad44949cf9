import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../test/support/project.ts";
import { dispatchCodes, exitCodes, NEEDS_A_PERSON, runExitCodes, signalCodes } from "./exit-codes.ts";

const documents = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith(".md"),
);
const tables = documents.flatMap((path) =>
  [...readFileSync(join(root, path), "utf8").matchAll(/^\| exit code \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)/gim)].map(
    ([, rows = ""]) => rows,
  ),
);

test("the exit codes are documented in one table, each of them and no other", () => {
  expect(tables).toHaveLength(1);
  const cells = (tables[0] ?? "").split("\n").map((row) => row.split("|")[1] ?? "");
  const documented = cells.flatMap((cell) => cell.match(/\d+/g) ?? []).map(Number);
  const possible = [exitCodes, runExitCodes, dispatchCodes, signalCodes].flatMap((codes) =>
    Object.values<number>(codes),
  );
  expect(documented).toEqual([...new Set([...possible, NEEDS_A_PERSON])].sort((one, other) => one - other));
});

test("every error has an exit code that a script can tell from success and from a run that waits for a person", () => {
  expect(Object.values(exitCodes).every((code) => code >= 1 && code <= 3)).toBe(true);
});
