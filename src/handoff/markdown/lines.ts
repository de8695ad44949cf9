// Reads Markdown line by line, as the lines that a reader of the rendered text would see as the author's own. Fenced code, quotes, HTML
// comments and preformatted HTML are not content. Linear in the text, one line in memory at a time.
import { closes, type Fence, hides, indentOf, opens, withoutComments } from "./blocks.ts";
import { titleOf } from "./titles.ts";

export interface Line {
  /** Offset of the line in the text. */
  readonly start: number;
  readonly indent: number;
  /** 1 to 6 for a heading, 0 for anything else. */
  readonly level: number;
  /** Whether it is a list item. */
  readonly marked: boolean;
  /** The state of a task list item; null without a checkbox. */
  readonly checked: boolean | null;
  readonly afterBlank: boolean;
  /** Whether it is at the margin and not a list item: only such a line can be a title. */
  readonly flush: boolean;
  /** Without heading marks, list marker, checkbox and comments. */
  readonly text: string;
}

export function* visibleLines(text: string): Generator<Line> {
  let fence: Fence | null = null;
  /** The pattern that ends the HTML block hiding these lines. */
  let hiddenUntil: RegExp | null = null;
  let afterBlank = true;
  /** Inside a list, four spaces of indentation are not code. */
  let inList = false;

  let next = 0;
  for (let start = 0; start < text.length; start = next) {
    const newline = text.indexOf("\n", start);
    const whole = text.slice(start, newline < 0 ? text.length : newline);
    const glue = gluedHeading(whole);
    const raw = glue > 0 ? whole.slice(0, -glue) : whole;
    next = start + raw.length + (glue > 0 ? 0 : 1);

    if (fence !== null) {
      if (closes(raw, fence)) {
        fence = null;
        afterBlank = true;
      }
      continue;
    }
    if (hiddenUntil !== null) {
      if (hiddenUntil.test(raw)) hiddenUntil = null;
      continue;
    }
    let body = withoutComments(raw).trim();
    if (body === "") {
      afterBlank = true;
      continue;
    }

    const indent = indentOf(raw);
    const isCode: boolean = indent >= 4 && !inList;
    const marker = isRule(body) ? 0 : markerLength(body);
    inList = !isCode && (marker > 0 || (inList && indent > 0));
    body = body.slice(marker);

    fence = isCode ? null : opens(body, indent);
    hiddenUntil = fence === null ? hides(body) : null;
    if (fence !== null || hiddenUntil !== null || body.startsWith(">")) {
      afterBlank = false;
      continue;
    }

    const flush = marker === 0 && indent < 4;
    const box = marker > 0 ? /^\[([ xX✓✔])\][ \t]+/u.exec(body) : null;
    const hashes = flush ? (/^#{1,6}(?=[ \t])/.exec(body)?.[0].length ?? 0) : 0;
    const level = hashes === 0 && flush && isUnderlined(text, next) ? 1 : hashes;
    yield {
      start,
      indent,
      level,
      marked: marker > 0,
      checked: box === null ? null : box[1] !== " ",
      afterBlank,
      flush,
      text: hashes > 0 ? withoutClosingHashes(body.slice(hashes)) : body.slice(box?.[0].length ?? 0),
    };
    afterBlank = level > 0;
  }
}

/** A thematic break, or the line under a setext heading. */
export function isRule(text: string): boolean {
  return (
    "=-*_".includes(text.charAt(0)) &&
    text.length <= 200 &&
    /^(?:=+|--|(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(text)
  );
}

/**
 * Gemini CLI joins the answers of one run without a separator, so the heading of a second answer may follow the first one's last line
 * directly (`Done.## Task Report`, or after its closing fence). Returns the length of such a heading.
 */
function gluedHeading(line: string): number {
  if (!line.includes("#")) return 0;
  const tail = line.slice(-200);
  const at = tail.search(/#{1,6}[ \t]+[^#]+$/);
  if (at <= 0 || titleOf(tail.slice(at), 1) === null) return 0;
  const before = tail.slice(0, at);
  const joined = /[^\s#>|(["'“`~/\\=<]$|\p{L}[.!?][ \t]+$|^ {0,3}(?:`{3,}|~{3,})$/u.test(before);
  return joined && !/^\s*>/.test(before) ? tail.length - at : 0;
}

/** Only equals signs count; dashes may also be a rule. */
function isUnderlined(text: string, next: number): boolean {
  const first = text.charAt(next);
  return (first === "=" || first === " ") && /^ {0,3}=+[ \t]*(?:\n|$)/.test(text.slice(next, next + 200));
}

/** Length of the leading list markers, including a few nested ones (`- 1. text`). */
function markerLength(body: string): number {
  return /^(?:(?:[-*+•‣◦]|\d{1,9}[.)])[ \t]+){1,4}/u.exec(body)?.[0].length ?? 0;
}

function withoutClosingHashes(title: string): string {
  const text = title.trim();
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === "#") end -= 1;
  return end === 0 || /[ \t]/.test(text.charAt(end - 1)) ? text.slice(0, end).trim() : text;
}
