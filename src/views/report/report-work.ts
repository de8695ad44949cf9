// The work of a session in its final summary: changed files, the evidence that they are right, warnings and granted paths.

import { claimLine } from "../claim.ts";
import { reopenedText } from "../retry.ts";
import { plural } from "../text/amount.ts";
import { cell, cellRight, clip, cut, shareOut, widest } from "../text/cell.ts";
import type { Paint } from "../text/paint.ts";
import { QUEUED } from "../text/place.ts";
import { visible } from "../text/visible.ts";
import { amountOf, amountText, endOf, nameOf, passed, someOf, tailOf } from "../work.ts";
import type { Report, ReportedPhase } from "./report-json.ts";

const MAX_LISTED = 50;
/** For one failed command, and for all of them. */
const MAX_TAIL_LINES = 10;
const MAX_TAILS = 100;
const MAX_PATHS = 10;
const SHORT_HASH = 12;
const ALL_IN_JSON = "(--json has them all)";

type Changes = NonNullable<ReportedPhase["changes"]>;
type Evidence = NonNullable<ReportedPhase["evidence"]>;

export function changeLines({ phases, changes }: Report, paint: Paint, width: number): string[] {
  const changed = having(phases, "changes").flatMap(({ id, changes: last, earlier_changes: earlier }) =>
    [...earlier, last].map((one) => ({ id, changes: one, isOnly: earlier.length === 0 })),
  );
  if (changed.length === 0) return [];
  const shown = changed.slice(0, MAX_LISTED);
  const shares = shareOut(
    MAX_LISTED,
    shown.map((phase) => ({ least: 0, most: phase.changes.files.length })),
  );
  const lines = shown.flatMap((phase, at) => [
    clip(`- phase ${phase.id}: ${summary(phase.changes, phase.isOnly)}`, width),
    ...fileLines(phase.changes, shares[at] ?? 0, paint, width),
  ]);
  const total = changes.files === 0 ? "nothing is in the project" : amountText(changes);
  return [`Changes: ${total}`, ...lines, ...rest(changed.length - shown.length, "phase")];
}

function summary(changes: Changes, isOnly: boolean): string {
  const { attempt, in_project, outside } = changes;
  return [
    amountOf(changes),
    ...(attempt === 1 && isOnly ? [] : [`attempt ${attempt}`]),
    ...(outside.length === 0 ? [] : [`${outside.length} outside its files`]),
    ...(in_project ? [] : ["not in the project"]),
  ].join(", ");
}

function fileLines({ files, total, outside }: Changes, share: number, paint: Paint, width: number): string[] {
  const beyond = new Set(outside);
  const rows = files.slice(0, share).map((file) => ({
    kind: file.kind,
    name: nameOf(file),
    added: file.added === null ? "" : `+${file.added}`,
    removed: file.removed === null ? "" : `-${file.removed}`,
    isBeyond: beyond.has(file.path) || beyond.has(file.from ?? file.path),
  }));
  const columnOf = (key: "kind" | "name" | "added" | "removed", limit: number) =>
    widest(
      rows.map((row) => row[key]),
      limit,
    );
  const [kind, added, removed] = [columnOf("kind", 8), columnOf("added", 9), columnOf("removed", 9)];
  const name = Math.min(columnOf("name", width), Math.max(10, width - 4 - kind - added - removed - 6));
  const lines = rows.map((row) => {
    const cells = [cell(row.kind, kind), cell(row.name, name), cellRight(row.added, added)];
    const line = `    ${[...cells, cellRight(row.removed, removed)].join("  ")}`.trimEnd();
    return row.isBeyond ? paint.yellow(line) : line;
  });
  const more = total - rows.length;
  return more > 0 && rows.length > 0 ? [...lines, `    ... and ${more} more ${ALL_IN_JSON}`] : lines;
}

export function evidenceLines({ phases }: Report, paint: Paint, width: number): string[] {
  const proved = having(phases, "evidence");
  if (proved.length === 0) return [];
  const shown = proved.slice(0, MAX_LISTED);
  const shares = shareOut(
    MAX_LISTED,
    shown.map((phase) => ({ least: 1, most: phase.evidence.commands.length })),
  );
  const failures = shown.filter(({ evidence }) => !evidence.commands.every(isSettled)).length;
  const tail = Math.min(MAX_TAIL_LINES, Math.ceil(MAX_TAILS / Math.max(1, failures)));
  const lines = shown.flatMap(({ id, evidence }, at) => [
    clip(`- phase ${id}: ${resultOf(evidence)}`, width),
    ...commandLines(evidence, { share: shares[at] ?? 1, tail }, paint, width),
  ]);
  return ["Evidence:", ...lines, ...rest(proved.length - shown.length, "phase")];
}

/** What each agent says about its validation, beside the proof. */
export function claimLines({ phases }: Report, width: number): string[] {
  const claimed = phases.flatMap(({ id, claim }) => (claim === null ? [] : [`- phase ${id}: ${claimLine(claim)}`]));
  if (claimed.length === 0) return [];
  const shown = claimed.slice(0, MAX_LISTED).map((line) => cut(line, width));
  return ["Claims:", ...shown, ...rest(claimed.length - shown.length, "phase")];
}

/** The workers that ran attempts; nothing when all ran on this machine. */
export function workerLines({ phases }: Report, width: number): string[] {
  const elsewhere = phases.flatMap(({ id, attempts }) => {
    const places = attempts.flatMap(({ attempt, worker, outcome }) => {
      if (outcome === "queued") return [`attempt ${attempt} ${QUEUED}`];
      return worker === undefined ? [] : [`attempt ${attempt} on worker ${worker}`];
    });
    return places.length === 0 ? [] : [`- phase ${id}: ${places.join(", ")}`];
  });
  if (elsewhere.length === 0) return [];
  const shown = elsewhere.slice(0, MAX_LISTED).map((line) => cut(line, width));
  return ["Workers:", ...shown, ...rest(elsewhere.length - shown.length, "phase")];
}

/** Phases that the user reopened or rejected in a review, with the user's guidance. */
export function reopenedLines({ phases }: Report, width: number): string[] {
  const again = phases.filter(({ reopened }) => reopened > 0);
  if (again.length === 0) return [];
  const lines = again.slice(0, MAX_LISTED).map((phase) => {
    const told = phase.guidance === null ? "" : `: ${visible(phase.guidance).replaceAll("\n", " ")}`;
    return cut(`- phase ${phase.id}, ${reopenedText(phase)}${told}`, width);
  });
  return ["Reopened:", ...lines, ...rest(again.length - lines.length, "phase")];
}

function resultOf({ result, tree, commands }: Evidence): string {
  const spared = commands.filter(({ not_worse }) => not_worse).length;
  const isProved = spared === 0 || spared < commands.length;
  const all = { pass: isProved ? "passed" : "nothing proved", fail: "failed", skipped: "skipped" }[result];
  const word = spared === 0 ? all : `${all}, ${plural(spared, "command")} not worse than before`;
  return `${word} on ${tree === null ? "the project as it was" : `tree ${tree.slice(0, SHORT_HASH)}`}`;
}

/** If there is not room for all commands, failed ones come first, with the end of their output. */
function commandLines(
  { commands }: Evidence,
  { share, tail }: { share: number; tail: number },
  paint: Paint,
  width: number,
): string[] {
  const room = new Set([...commands].sort((one, other) => Number(passed(one)) - Number(passed(other))).slice(0, share));
  const shown = commands.filter((command) => room.has(command));
  const lines = shown.flatMap((command) => {
    const end = endOf(command);
    const line = `    ${cut(command.command, Math.max(10, width - 6 - end.length))}: ${end}`;
    if (passed(command)) return [line];
    if (command.not_worse) return [paint.yellow(line)];
    const printed = tailOf(command.output, tail).map((one) => `      ${clip(plain(one), width - 6)}`.trimEnd());
    return [paint.red(line), ...printed.map(paint.dim)];
  });
  const more = commands.length - shown.length;
  return more > 0 ? [...lines, `    ... and ${more} more ${ALL_IN_JSON}`] : lines;
}

/** Passed, or as red as before. */
function isSettled(command: Evidence["commands"][number]): boolean {
  return passed(command) || command.not_worse === true;
}

function plain(line: string): string {
  return visible(line.replaceAll("\t", "  "));
}

export function grantedLines({ phases }: Report, width: number): string[] {
  const granted = phases.filter((phase) => phase.granted.length > 0);
  if (granted.length === 0) return [];
  const lines = granted.slice(0, MAX_LISTED).map((phase) => {
    return cut(`- phase ${phase.id}: ${someOf(phase.granted, MAX_PATHS)}`, width);
  });
  return ["Granted beyond their files:", ...lines, ...rest(granted.length - lines.length, "phase")];
}

export function warningLines({ phases }: Report, paint: Paint, width: number): string[] {
  // Each attempt of a phase may cause the same warning.
  const times = new Map<string, number>();
  for (const { id, warnings } of phases) {
    for (const { code, message } of warnings) {
      const line = `- phase ${id}, ${code.replaceAll("_", " ")}: ${message}`;
      times.set(line, (times.get(line) ?? 0) + 1);
    }
  }
  if (times.size === 0) return [];
  const lines = [...times].slice(0, MAX_LISTED).map(([line, count]) => {
    const often = count === 1 ? "" : ` (${count} times)`;
    return paint.yellow(`${cut(line, width - often.length)}${often}`);
  });
  return ["Warnings:", ...lines, ...rest(times.size - lines.length)];
}

function rest(count: number, noun?: string): string[] {
  if (count <= 0) return [];
  return [`  ... and ${noun === undefined ? `${count} more` : plural(count, `more ${noun}`)} ${ALL_IN_JSON}`];
}

/** The phases for which `key` is known. */
function having<Key extends "changes" | "evidence">(phases: readonly ReportedPhase[], key: Key) {
  return phases.filter(
    (phase): phase is ReportedPhase & Record<Key, NonNullable<ReportedPhase[Key]>> => phase[key] !== null,
  );
}
