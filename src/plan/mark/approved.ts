// Marks the text of a plan that the user has approved. Pure.

import { splitFrontMatter } from "../../front-matter.ts";

/** The front matter says `status: "approved"` and when the session was created; nothing else changes. */
export function approvedPlan(text: string, at: Date): string {
  const yaml = splitFrontMatter(text)?.yaml ?? "";
  const isFlow = /^(?:\s|#.*\n)*\{/.test(yaml);
  const isPlain = text.includes(yaml);
  // A map in braces has no lines of its own, and with other line endings the text could not be replaced.
  if (yaml === "" || isFlow || !isPlain) return text;
  const marked = withLine(withLine(yaml, "created", at.toISOString()), "status", "approved");
  return text.replace(yaml, () => marked);
}

/** A value with the lines that continue it is replaced; a missing one is added before the phases. */
function withLine(yaml: string, key: string, value: string): string {
  const line = `${key}: ${JSON.stringify(value)}\n`;
  const found = new RegExp(`^${key}:.*\\n(?:[ \\t]+.*\\n)*`, "m");
  return found.test(yaml) ? yaml.replace(found, () => line) : `${line}${yaml}`;
}
