// The one line that represents a message of several lines.

const MAX_LINES = 12;

/** The first line; if that only introduces a list or a line, with that list or line. */
export function headline(message: string): string {
  const [first = "", ...below] = message.trim().split("\n", MAX_LINES);
  if (!first.trimEnd().endsWith(":")) return first;
  const filled = below.map((line) => line.trim()).filter((line) => line !== "");
  const end = filled.findIndex((line) => !line.startsWith("- "));
  const listed = end === -1 ? filled : filled.slice(0, Math.max(1, end));
  return [first.trimEnd(), listed.map((line) => line.replace(/^- /, "")).join(", ")].join(" ").trimEnd();
}

/** The headline as part of a longer line: without its full stop. */
export function clause(message: string): string {
  return headline(message)
    .trimEnd()
    .replace(/(?<!\.)\.$/, "");
}
