import { expect, test } from "vitest";
import { vendorEnvironment } from "./environment.ts";
import { geminiRuntime } from "./gemini/gemini.ts";
import { builtIn } from "./runtime-table.ts";
import { selectionOf } from "./selection.ts";

test.each([
  ["nothing", undefined, "", "gemini", "gemini"],
  ["--runtime", "codex", "", "codex", "codex"],
  ["an agent's own", "codex", "coder=claude", "claude", "codex"],
  ["a star and an agent's own", "codex", "*=gemini, coder=claude", "claude", "gemini"],
])("%s chooses the runtime", (_, flag, setting, ofCoder, ofTester) => {
  const { byAgent } = selectionOf(flag, setting, undefined);
  expect([byAgent("coder"), byAgent("tester")]).toEqual([ofCoder, ofTester]);
});

test("returns the agents that the setting names, by the names of their files", () => {
  expect(selectionOf(undefined, "*=gemini, Code_Reviewer=claude", undefined).agents).toEqual(["code-reviewer"]);
});

test("the command of an ACP agent may have blanks; such lists are separated by commas", () => {
  const make = (name: string) => (name.startsWith("acp:") ? { ...geminiRuntime, name } : undefined);
  const known = { ...builtIn, make };
  const { byAgent, fallback } = selectionOf("acp:x", "coder=acp:agent --acp, tester=claude", "acp:y -z, codex", known);
  expect([byAgent("coder"), byAgent("tester"), byAgent("architect")]).toEqual(["acp:agent --acp", "claude", "acp:x"]);
  expect(fallback).toEqual(["acp:y -z", "codex"]);
});

test("an unknown name is a usage error that lists those that exist", () => {
  const wrong = [() => selectionOf("gpt", "", undefined), () => selectionOf(undefined, "coder=gpt", undefined)];
  for (const choose of [...wrong, () => selectionOf(undefined, "", "gpt")]) {
    expect(choose).toThrow(
      expect.objectContaining({ code: "usage", hint: expect.stringContaining("gemini, claude, codex") }),
    );
  }
  expect(() => selectionOf(undefined, "coder", undefined)).toThrow(/is not agent=runtime/);
});

test("a program gets its own vendor's variables and no other's, unless the user names them", () => {
  const env = { PATH: "/bin", GEMINI_API_KEY: "g", ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" };
  expect(vendorEnvironment(env, [], /^ANTHROPIC_/)).toEqual({ PATH: "/bin", ANTHROPIC_API_KEY: "a" });
  expect(vendorEnvironment(env, [], /^(?:GEMINI_|GOOGLE_)/)).toEqual({ PATH: "/bin", GEMINI_API_KEY: "g" });
  expect(vendorEnvironment(env, ["GEMINI_API_KEY"], /^OPENAI_/)).not.toHaveProperty("ANTHROPIC_API_KEY");
  expect(vendorEnvironment(env, ["GEMINI_API_KEY"], /^OPENAI_/)).toHaveProperty("GEMINI_API_KEY", "g");
});
