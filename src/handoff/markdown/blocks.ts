// Markdown blocks whose lines are not the author's own words: fences, HTML comments, preformatted HTML.

export interface Fence {
  readonly char: string;
  readonly length: number;
  readonly maxIndent: number;
}

/** The fence that a line opens. Inside a list, the fence and its end may be indented further. */
export function opens(body: string, indent: number): Fence | null {
  const run = /^(?:`{3,}|~{3,})/.exec(body)?.[0];
  if (run === undefined) return null;
  const char = run.charAt(0);
  if (char === "`" && body.includes("`", run.length)) return null;
  return { char, length: run.length, maxIndent: indent <= 3 ? 3 : indent + 3 };
}

export function closes(raw: string, fence: Fence): boolean {
  const body = raw.trim();
  if (body.length < fence.length || !body.startsWith(fence.char)) return false;
  return body === fence.char.repeat(body.length) && indentOf(raw) <= fence.maxIndent;
}

const rawEnd = /<\/(?:pre|script|style|textarea)>/i;

/** The end pattern of an HTML block that starts on this line and continues after it. */
export function hides(body: string): RegExp | null {
  if (!body.startsWith("<")) return null;
  if (body.startsWith("<!--")) return /-->/;
  const raw = /^<(?:pre|script|style|textarea)(?=[\s>]|$)/i.test(body);
  return raw && !rawEnd.test(body) ? rawEnd : null;
}

export function withoutComments(raw: string): string {
  let kept = "";
  let from = 0;
  for (let open = raw.indexOf("<!--"); open >= 0; open = raw.indexOf("<!--", from)) {
    const close = raw.indexOf("-->", open + 4);
    if (close < 0) break;
    kept += raw.slice(from, open);
    from = close + 3;
  }
  return kept + raw.slice(from);
}

export function indentOf(raw: string): number {
  let indent = 0;
  for (let at = 0; raw[at] === " " || raw[at] === "\t"; at++) indent += raw[at] === " " ? 1 : 4 - (indent % 4);
  return indent;
}
