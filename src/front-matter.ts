// Splits a Markdown file into front matter and body. It does not parse YAML, so hooks can load it cheaply.

const opening = /^\uFEFF?---[ \t]*\n/;
const closing = /(?<![^\n])(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** Both parts, with LF line endings; undefined when the text does not begin with closed front matter. */
export function splitFrontMatter(text: string): { yaml: string; body: string } | undefined {
  const lines = text.replace(/\r\n?/g, "\n");
  const start = opening.exec(lines);
  if (start === null) return undefined;
  const rest = lines.slice(start[0].length);
  const end = closing.exec(rest);
  if (end === null) return undefined;
  return { yaml: rest.slice(0, end.index), body: rest.slice(end.index + end[0].length) };
}
