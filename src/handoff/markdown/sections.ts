// Finds the Task Report that counts (the last one that the agent itself wrote) and the Downstream Context that belongs to it.
import { belongsTo } from "../keys.ts";
import { type Line, visibleLines } from "./lines.ts";
import { saysNothing, type Title, titleOf } from "./titles.ts";
import { letters } from "./words.ts";

export interface Section {
  readonly title: Title;
  readonly level: number;
  readonly start: number;
  end: number;
  readonly lines: Line[];
  size: number;
}

/** Longer than any real section; the rest is not read. */
const sizeLimit = 262_144;

/** Titles that are not headings (`**Task Report**`) rank like the usual `##`. */
const usualLevel = 2;

export function findSections(text: string): { report: Section | null; context: Section | null } {
  let report: Section | null = null;
  let reports = 0;
  let before: Section | null = null;
  let after: Section | null = null;
  let open: Section | null = null;

  for (const line of visibleLines(text)) {
    const title = titleOfLine(line);
    if (title !== null) {
      if (open !== null) open.end = line.start;
      open = { title, level: line.level || usualLevel, start: line.start, end: text.length, lines: [], size: 0 };
      if (saysNothing(line.text)) open.lines.push({ ...line, level: 0, text: "none" });
      if (title === "context") {
        after = open;
      } else {
        report = open;
        reports += 1;
        before = after ?? before;
        after = null;
      }
    } else if (open !== null && endsSection(line, open)) {
      open.end = line.start;
      open = null;
    } else if (open !== null && open.size < sizeLimit) {
      const room = sizeLimit - open.size;
      open.size += line.text.length + 1;
      open.lines.push(line.text.length > room ? { ...line, text: line.text.slice(0, room) } : line);
    }
  }
  // With several reports, a context before the last one belongs to an earlier report.
  return { report, context: after ?? (reports === 1 ? before : null) };
}

function titleOfLine({ text, level, flush, afterBlank }: Line): Title | null {
  if (!flush || text.length < "Task Report".length) return null;
  if (level > 0) return titleOf(text, level);
  const isMention = /^[`"'“(|\\]|[?.,;!…]$/u.test(text);
  const standsOut = afterBlank || /^[*_=#]|[:：]$/u.test(text);
  return standsOut && !isMention ? titleOf(text, 0) : null;
}

function endsSection(line: Line, section: Section): boolean {
  if (line.level === 0 || line.level > section.level) return false;
  const name = line.text.slice(0, 80);
  const separator = name.search(/[:：—–]/u);
  return !belongsTo(section.title, letters(separator < 0 ? name : name.slice(0, separator)));
}
