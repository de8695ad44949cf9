// Checks skills/*/SKILL.md: Gemini CLI ignores a skill without a name and a description, and files deeper than one folder.

import { splitFrontMatter } from "../front-matter.ts";
import { readYaml } from "../yaml.ts";
import { objectOf } from "./json.ts";
import type { LintProblem } from "./problem.ts";
import { exists, listFiles, listFolders, readText } from "./tree.ts";

/** The CLI does not treat a file without this opening as a skill. */
const opening = /^---\r?\n[\s\S]*?\r?\n---(?:\r?\n|$)/;

export function skillNames(root: string): string[] {
  return listFolders(root, "skills").filter((folder) => exists(root, `skills/${folder}/SKILL.md`));
}

export function lintSkills(root: string): LintProblem[] {
  const tooDeep = listFiles(root, "skills").filter((file) => /^skills\/[^/]+\/.+\/SKILL\.md$/.test(file));
  return [
    ...tooDeep.map((file) => ({ file, problem: "is too deep: Gemini CLI looks one folder below skills/" })),
    ...listFolders(root, "skills").flatMap((folder) => lintSkill(root, folder)),
  ];
}

function lintSkill(root: string, folder: string): LintProblem[] {
  const file = `skills/${folder}/SKILL.md`;
  const text = readText(root, file);
  if (text === undefined) return [{ file, problem: "is missing: the folder is not a skill" }];
  const halves = splitFrontMatter(text);
  const ignored = "Gemini CLI ignores this skill.";
  if (halves === undefined || !opening.test(text)) {
    return [{ file, problem: "does not start with YAML between two bare --- lines", hint: ignored }];
  }
  const read = readYaml(halves.yaml);
  if (!("value" in read))
    return [{ file, line: read.line + 1, problem: `the front matter ${read.problem}`, hint: ignored }];
  const { name, description, ...others } = objectOf(read.value);
  const problems: LintProblem[] = Object.keys(others).map((key) => ({
    file,
    problem: `Gemini CLI does not read the key "${key}" of a skill`,
  }));
  if (typeof name !== "string" || typeof description !== "string" || description.trim() === "") {
    return [...problems, { file, problem: "needs a name and a description, both strings", hint: ignored }];
  }
  if (name !== folder) problems.push({ file, problem: `name is "${name}", the folder says "${folder}"` });
  if (halves.body.trim() === "") problems.push({ file, problem: "has no text below its front matter" });
  return problems;
}
