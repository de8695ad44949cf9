import { describe, expect, test } from "vitest";
import { parseDisabled, resolveAgent } from "./resolve.ts";

const names = ["architect", "coder", "technical-writer"];

describe("resolving an agent", () => {
  test.each(["technical-writer", "technical_writer", "Technical-Writer", " technical-writer "])(
    "finds %j under its canonical name (C11, F67)",
    (given) => {
      expect(resolveAgent(given, names)).toEqual({ kind: "found", name: "technical-writer" });
    },
  );

  test("lists near and available names (F68, F69, F70, C10)", () => {
    expect(resolveAgent("tecnical_writer", names)).toEqual({
      kind: "unknown",
      lines: [
        "ERROR: Agent 'tecnical_writer' not found in agents/",
        "  Did you mean: technical-writer?",
        "  Available agents: architect, coder, technical-writer",
      ],
    });
  });

  test("makes no suggestion when nothing is near", () => {
    expect(resolveAgent("plumber", names)).toEqual({
      kind: "unknown",
      lines: ["ERROR: Agent 'plumber' not found in agents/", "  Available agents: architect, coder, technical-writer"],
    });
  });

  test("says so when there are no agents", () => {
    expect(resolveAgent("coder", [])).toMatchObject({ lines: [expect.anything(), "  Available agents: (none)"] });
  });

  test("says of a broken file what is wrong with it, also when it is the only one (F67)", () => {
    const broken = [{ agent: "tester", file: "agents/tester.md", reason: "the file does not open with YAML" }];
    expect(resolveAgent("Tester", names, [], broken)).toEqual({
      kind: "broken",
      name: "tester",
      lines: [
        "ERROR: Agent 'tester' is broken: agents/tester.md: the file does not open with YAML",
        "  Available agents: architect, coder, technical-writer",
      ],
    });
    expect(resolveAgent("tester", [], [], broken).kind).toBe("broken");
    expect(resolveAgent("coder", names, [], broken).kind).toBe("found");
  });

  test("does not take an object's property for an agent", () => {
    expect(resolveAgent("constructor", names).kind).toBe("unknown");
  });

  test("rejects a disabled agent and neither suggests nor lists it (E58)", () => {
    expect(resolveAgent("Coder", names, ["coder"])).toEqual({
      kind: "disabled",
      name: "coder",
      lines: [
        "ERROR: Agent 'coder' is disabled by MAESTRO_DISABLED_AGENTS",
        "  Available agents: architect, technical-writer",
      ],
    });
    expect(resolveAgent("codr", names, ["coder"])).toEqual({
      kind: "unknown",
      lines: ["ERROR: Agent 'codr' not found in agents/", "  Available agents: architect, technical-writer"],
    });
  });
});

describe("MAESTRO_DISABLED_AGENTS (E58)", () => {
  test.each<[string | undefined, string[]]>([
    [undefined, []],
    ["", []],
    [" , ,, ", []],
    ["coder", ["coder"]],
    ["coder,architect", ["coder", "architect"]],
    [" Technical_Writer ,\tcoder\n", ["technical-writer", "coder"]],
    ["coder architect", ["coder", "architect"]],
    ["coder,CODER", ["coder"]],
  ])("%j disables %j", (value, disabled) => {
    expect(parseDisabled(value, names)).toEqual({ disabled, warnings: [] });
  });

  test("warns about a name that is not an agent, with the nearest one", () => {
    expect(parseDisabled("codr, architect, plumber", names)).toEqual({
      disabled: ["architect"],
      warnings: [
        'MAESTRO_DISABLED_AGENTS names "codr", which is not in agents/ and is ignored (did you mean "coder"?)',
        'MAESTRO_DISABLED_AGENTS names "plumber", which is not in agents/ and is ignored',
      ],
    });
  });
});
