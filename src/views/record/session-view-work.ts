// What a phase did, in the body of active-session.md: recorded changes, evidence, warnings. Empty where nothing was recorded. Each list is
// short, because models read the document.

import type { SessionPhase } from "../../session/session.ts";
import { amountOf, endOf, isInProject, nameOf, passed, someOf, tailOf, workOf } from "../work.ts";

const MAX_FILES = 20;
const MAX_OUTSIDE = 20;
const MAX_WARNINGS = 20;
const MAX_WARNING_CHARS = 600;
const MAX_COMMANDS = 20;
/** Lines of a command's output: enough to recognise it, more where it failed. */
const TAIL_LINES = 3;
const FAILED_TAIL_LINES = 15;
const MAX_LINE_CHARS = 300;
/** The indentation of Markdown code inside an item, so that no output can be a heading or close a fence. */
const CODE = "      ";

/** `shown` puts untrusted text on one line. */
type Shown = (text: string) => string;

/** The items below the lists of files. */
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

/** The items below the validation result. */
export function evidenceItems({ validation }: SessionPhase, shown: Shown): string[] {
  const evidence = validation?.evidence;
  if (evidence === undefined) return [];
  const items = [`- Tree: ${evidence.tree ?? "none, the project as it was"}`];
  for (const command of evidence.commands.slice(0, MAX_COMMANDS)) {
    // A blank line ends the output of the previous command.
    if (items.at(-1)?.startsWith(CODE)) items.push("");
    items.push(`- $ ${brief(command.command, MAX_LINE_CHARS, shown)}: ${endOf(command)}`);
    const tail = tailOf(command.output, passed(command) ? TAIL_LINES : FAILED_TAIL_LINES).filter(isFilled);
    if (tail.length > 0) items.push("", ...tail.map((line) => `${CODE}${brief(line, MAX_LINE_CHARS, shown)}`));
  }
  const more = evidence.commands.length - MAX_COMMANDS;
  return more > 0 ? [...items, "", `- ... and ${more} more`] : items;
}

/** The section of warnings. */
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
