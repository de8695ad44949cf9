import { describe, expect, test } from "vitest";
import { projectRootHeader, withProjectRoot } from "./header.ts";

const seedText = [
  "PROJECT ROOT: /absolute/path/to/project",
  "All file paths in this task are relative to this directory. When using write_file,",
  "replace, or read_file, construct absolute paths by prepending this root. When",
  "using run_shell_command, execute from this directory.",
].join("\n");

describe("the project root header", () => {
  test("is the text of the design documents, byte for byte (G78)", () => {
    expect(projectRootHeader("/absolute/path/to/project")).toBe(seedText);
  });

  test("starts at byte 0, followed by a blank line (G78)", () => {
    expect(withProjectRoot("/absolute/path/to/project", "Do it.")).toBe(`${seedText}\n\nDo it.`);
  });

  test.each([["Do it."], [""], ["\n"], [projectRootHeader("/p")]])("is not added twice: %j", (prompt) => {
    const once = withProjectRoot("/p", prompt);
    expect(withProjectRoot("/p", once)).toBe(once);
    expect(once.split("PROJECT ROOT:")).toHaveLength(2);
  });

  test.each([
    ["of another root", `${projectRootHeader("/p/q")}\n\nDo it.`],
    ["that only begins like it", `${projectRootHeader("/p")} Or not.`],
    ["that stands further down", `Hello\n${projectRootHeader("/p")}\n\nDo it.`],
  ])("is added despite a header %s", (_what, prompt) => {
    expect(withProjectRoot("/p", prompt)).toBe(`${projectRootHeader("/p")}\n\n${prompt}`);
  });
});
