import { describe, expect, test } from "vitest";
import type { MaestroError } from "../errors.ts";
import { locateState } from "./location.ts";

describe("the state directory setting", () => {
  test.each([
    [".gemini", [".gemini"]],
    ["a/./b/", ["a", "b"]],
    ["a~/~b", ["a~", "~b"]],
  ])("%s is inside the project", (directory, components) => {
    expect(locateState("/project", directory)).toMatchObject({ root: "/project", components });
  });

  test.each([
    ["~", /must not begin with ~ \(got: ~\)/],
    ["~/.x", /must not begin with ~ \(got: ~\/\.x\)/],
    ["~me/x", /must not begin with ~/],
    ["../x", /must not leave the project/],
  ])("%s is rejected as a setting", (directory, message) => {
    const locate = () => locateState("/project", directory);
    expect(locate).toThrow(message);
    expect(locate).toThrow(expect.objectContaining({ code: "config" }) as MaestroError);
  });
});
