// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables
import fc from "fast-check";
import { expect, test } from "vitest";
import { everydayCommands as commands } from "../../test/guard/everyday-commands.ts";
import { rewrite, ruleOf } from "../../test/support/guard.ts";

test.each(commands)("allows %j (S240)", (command) => {
  expect(ruleOf(command)).toBe("allow");
});

test("still allows them when they are quoted, wrapped and nested (T2)", () => {
  fc.assert(
    fc.property(fc.constantFrom(...commands), rewrite, (command, rewritten) => {
      expect(ruleOf(rewritten(command)), rewritten(command)).toBe("allow");
    }),
    { numRuns: 2000 },
  );
});

test("allows a comment and an empty command", () => {
  expect(ruleOf("# echo hi > file")).toBe("allow");
  expect(ruleOf("")).toBe("allow");
});
