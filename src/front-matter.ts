// Where the front matter of a Markdown file ends and its body begins. Reads no YAML: hooks may load it.

const opening = /^\uFEFF?---[ \t]*\n/;
const closing = /(?<![^\n])(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** Both halves, with LF line ends; undefined when the text does not begin with a closed front matter. */
export function splitFrontMatter(text: string): { yaml: string; body: string } | undefined {
  const lines = text.replace(/\r\n?/g, "\n");
  const start = opening.exec(lines);
  if (start === null) return undefined;
  const rest = lines.slice(start[0].length);
  const end = closing.exec(rest);
  if (end === null) return undefined;
  return { yaml: rest.slice(0, end.index), body: rest.slice(end.index + end[0].length) };
}
