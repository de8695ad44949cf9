// Marks the text of a plan that a revision has replaced. Pure.

import { splitFrontMatter } from "../../front-matter.ts";

/** A top-level mark with the lines that continue its value. */
const marked = /^(?:# )?(?:status|superseded_by):.*\n?(?:[ \t]+.*\n?)*/gm;

/** The front matter says `status: outdated` and which plan replaced this one; nothing else changes. */
export function outdatedPlan(text: string, successor: string): string {
  const marks = ["status: outdated", `superseded_by: ${JSON.stringify(successor)}`];
  const { yaml, body } = splitFrontMatter(text) ?? { yaml: "", body: text };
  // A map in braces has no place for further lines, except for comments.
  const isFlow = yaml
    .trimStart()
    .replace(/^(?:#.*\s*)+/, "")
    .startsWith("{");
  const lines = marks.map((mark) => `${isFlow ? "# " : ""}${mark}\n`).join("");
  return `---\n${lines}${yaml.replace(marked, "")}---\n${body}`;
}
