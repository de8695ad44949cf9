import { expect, test } from "vitest";
import { ownFileStateOf, sealed } from "./own-file.ts";
import { setupDeedFor } from "./setup.ts";

const text = sealed("one\ntwo\n");

test.each([
  ["absent", undefined],
  ["current", text],
  ["older", sealed("one\n")],
  ["edited", text.replace("two", "three")],
  ["edited", sealed("one\n").replace("one", "mine")],
  ["edited", `${text}# mine\n`],
  ["foreign", "one\ntwo\n"],
  ["foreign", ""],
] as const)("a file is %s", (state, found) => {
  expect(ownFileStateOf(text, found)).toBe(state);
});

test("only files that Maestro wrote and the user did not edit are changed", () => {
  const states = ["absent", "current", "older", "edited", "foreign"] as const;
  expect(states.map((state) => setupDeedFor(state, false))).toEqual(["write", "keep", "write", "left", "left"]);
  expect(states.map((state) => setupDeedFor(state, true))).toEqual(["keep", "remove", "remove", "left", "keep"]);
});
