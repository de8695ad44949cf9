// What a phase did, in the body of active-session.md: changes by the tree, evidence, warnings. Nothing where nothing was recorded.
// Each list is short: the document is read by models.

import type { SessionPhase } from "../../session/session.ts";
import { amountOf, endOf, isInProject, nameOf, passed, someOf, tailOf, workOf } from "../work.ts";

const MAX_FILES = 20;
const MAX_OUTSIDE = 20;
const MAX_WARNINGS = 20;
const MAX_WARNING_CHARS = 600;
const MAX_COMMANDS = 20;
/** Of what a command printed: enough to recognise it by, more where it failed. */
const TAIL_LINES = 3;
const FAILED_TAIL_LINES = 15;
const MAX_LINE_CHARS = 300;
/** As Markdown has code in an item: whatever was printed, it is no heading and closes no fence. */
const CODE = "      ";

/** `shown`: text from elsewhere on one line. */
type Shown = (text: string) => string;

/** Items below the lists of files. */
export function changeItems(phase: SessionPhase, shown: Shown): string[] {
  const granted =
    phase.granted.length === 0 ? [] : [`- Granted beyond its files: ${someOf(phase.granted.map(shown), MAX_OUTSIDE)}`];
  const work = workOf(phase);
  if (work === undefined) return granted;
  const { changes, attempt } = work;
  const files = changes.files.slice(0, MAX_FILES).map((file) => {
    const lines = file.added === null || file.removed === null ? "" : ` (+${file.added} -${file.removed})`;
    return `  - ${file.kind} ${shown(nameOf(file))}${lines}`;
  });
  const more = changes.total - files.length;
  const where = isInProject(phase, work)
    ? work.integrated === undefined
      ? ""
      : ", integrated"
    : ", not in the project";
  return [
    `- Tree, attempt ${attempt}: ${amountOf(changes)}${where}`,
    ...files,
    ...(more > 0 ? [`  - ... and ${more} more`] : []),
    ...(changes.outside.length === 0
      ? []
      : [`- Outside its files: ${someOf(changes.outside.map(shown), MAX_OUTSIDE)}`]),
    ...granted,
  ];
}

/** Items below the result of validation. */
export function evidenceItems({ validation }: SessionPhase, shown: Shown): string[] {
  const evidence = validation?.evidence;
  if (evidence === undefined) return [];
  const items = [`- Tree: ${evidence.tree ?? "none, the project as it was"}`];
  for (const command of evidence.commands.slice(0, MAX_COMMANDS)) {
    // What the command before it printed ends here.
    if (items.at(-1)?.startsWith(CODE)) items.push("");
    items.push(`- $ ${brief(command.command, MAX_LINE_CHARS, shown)}: ${endOf(command)}`);
    const tail = tailOf(command.output, passed(command) ? TAIL_LINES : FAILED_TAIL_LINES).filter(isFilled);
    if (tail.length > 0) items.push("", ...tail.map((line) => `${CODE}${brief(line, MAX_LINE_CHARS, shown)}`));
  }
  const more = evidence.commands.length - MAX_COMMANDS;
  return more > 0 ? [...items, "", `- ... and ${more} more`] : items;
}

/** A section of its own. */
export function warningSection({ warnings }: SessionPhase, shown: Shown): string[] {
  if (warnings.length === 0) return [];
  const last = warnings.slice(-MAX_WARNINGS);
  const earlier = warnings.length - last.length;
  return [
    "",
    "### Warnings",
    ...(earlier > 0 ? [`- ${earlier} earlier`] : []),
    ...last.map(({ ts, code, message }) => `- ${ts} ${code}: ${brief(message, MAX_WARNING_CHARS, shown)}`),
  ];
}

function isFilled(line: string): boolean {
  return line.trim() !== "";
}

function brief(text: string, length: number, shown: Shown): string {
  return text.length <= length ? shown(text) : `${shown(text.slice(0, length))} [cut]`;
}
