import { beforeAll, describe, expect, test } from "vitest";
import { lintPolicies } from "../../src/extension/lint-policies.ts";
import { lintSkills } from "../../src/extension/lint-skills.ts";
import { readToml } from "../../src/extension/toml.ts";
import { loadCore } from "../support/policy-engine.ts";
import { withProject } from "../support/project.ts";

let core: Awaited<ReturnType<typeof loadCore>>;
beforeAll(async () => {
  core = await loadCore();
});

describe("the linter agrees with the loaders of the real Gemini CLI", () => {
  test.each([
    ['x = "a"\n', true],
    ["x = '''a \\e \"b\" '''\n", true],
    ['x = """\na \\\\e \\\n  b"""\r\n', true],
    ["# it's \"x\n[[rule]]\na.b = 1\n", true],
    ['x = "é"', true],
    ["x = [1, 'a']\n", false],
    ['x = "\\e"\n', false],
    ['x = "\\x41"\n', false],
    ['x = "\\d"\n', false],
    ["x = '''a''''\n", false],
    ['x = """a""""\n', false],
    ["\uFEFFx = 1\n", false],
    ["x = 1\nx = 2\n", false],
    ['x = "a\nb"\n', false],
    ["x = \n", false],
  ])("about the TOML file %j", (text, isTaken) =>
    withProject(async (project) => {
      project.write("policies/x.toml", text);
      const { errors } = await core.loadExtensionPolicies("x", `${project.path}/policies`);
      expect(errors.every(({ message }) => message !== "TOML parsing failed")).toBe(isTaken);
      expect("value" in readToml(text)).toBe(isTaken);
    }),
  );

  test.each([
    ['commandRegex = "(rm|mv) x"', true],
    ['commandRegex = "(a+)+"', false],
    ['commandRegex = "(a{1,2}b)(c)+"', false],
    ['commandRegex = "rm ("', false],
    [`commandRegex = "${"a".repeat(2_050)}"`, false],
    ['argsPattern = "x"\ncommandRegex = "y"', false],
  ])("about the pattern %s", (pattern, isTaken) =>
    withProject(async (project) => {
      const rest = 'toolName = "run_shell_command"\ndecision = "deny"\npriority = 1\ndenyMessage = "x"\n';
      project.write("policies/x.toml", `[[rule]]\n${rest}${pattern}\n`);
      const { errors } = await core.loadExtensionPolicies("x", `${project.path}/policies`);
      expect(errors.length === 0).toBe(isTaken);
      expect(lintPolicies(project.path, []).length === 0).toBe(isTaken);
    }),
  );

  test.each([
    ["---\nname: a\ndescription: b\n---\nx\n", true],
    ["---\r\nname: a\r\ndescription: b\r\n---\r\nx\r\n", true],
    ["--- \nname: a\ndescription: b\n---\nx\n", false],
    ["\uFEFF---\nname: a\ndescription: b\n---\nx\n", false],
    ["---\nname: a\n---\nx\n", false],
    ["x\n", false],
  ])("about the skill %j", (text, isTaken) =>
    withProject(async (project) => {
      const file = project.write("skills/a/SKILL.md", text);
      expect((await core.loadSkillFromFile(file)) !== null).toBe(isTaken);
      expect(lintSkills(project.path).length === 0).toBe(isTaken);
    }),
  );
});
