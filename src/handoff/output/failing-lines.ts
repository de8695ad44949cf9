// The failing lines in the output of a validation command, and which of them are new. Two runs of the same command print the same failing lines,
// so whatever differs from run to run is taken out: where the files are, positions in them, times, addresses. Pure.

const MAX_LINES = 500;
const MAX_LINE_CHARS = 300;

const failure =
  /\b(?:error|errors|err!|fail|fails|failed|failing|failure|failures|fatal|panic|panicked|exception|traceback|unexpected|expected|cannot|undefined|mismatch|not ok|missing|invalid|violation)\b|[✗✘✖✕×❌]|\w(?:Error|Exception)\b/i;

/** What is left of a line that only counts, such as "Tests: 3 failed, 12 passed", once its numbers are gone. */
const counting =
  /\b(?:found|tests?|files?|suites?|specs?|examples?|checks?|assertions?|errors?|warnings?|problems?|failed|failing|failures?|passed|passing|pass|fail|skipped|pending|todo|ok|total|ran|in|of|and|with|the|time|duration|finished|ms|s)\b|[^\p{L}]/giu;

/** Null when there are too many to compare. `roots`: directories that the command ran in; they are shown as ".". */
export function failingLines(output: string, roots: readonly string[]): string[] | null {
  const lines = output
    .split("\n")
    .map((line) => plainLine(line, roots))
    .filter((line) => line !== "");
  const told = lines.filter((line) => failure.test(line));
  const details = told.filter((line) => !isCount(line));
  // Without a line that names a failure, everything that the command printed counts.
  const kept = details.length > 0 ? details : told.length > 0 ? told : lines;
  return kept.length > MAX_LINES ? null : kept;
}

/** The lines of `now` that `before` does not have, or has less often. */
export function newFailingLines(before: readonly string[], now: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of before) left.set(line, (left.get(line) ?? 0) + 1);
  return now.filter((line) => {
    const times = left.get(line) ?? 0;
    left.set(line, times - 1);
    return times <= 0;
  });
}

function isCount(line: string): boolean {
  return /\d/.test(line) && line.replace(counting, "") === "";
}

function plainLine(line: string, roots: readonly string[]): string {
  let text = line;
  for (const root of roots) text = text.replaceAll(root, ".");
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?|\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, "<time>")
    .replace(/\b0x[0-9a-f]+\b/gi, "<address>")
    .replace(/\b\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds?|m|min|minutes?)\b/gi, "<time>")
    .replace(/\(\d+,\s?\d+\)|:\d+:\d+|(?<=\.\w{1,8}):\d+\b|\bline \d+|^\s*\d+:\d+\b/gi, ":<line>")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_LINE_CHARS);
}
