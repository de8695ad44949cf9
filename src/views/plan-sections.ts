// The sections of a plan file that Maestro writes: execution profile, cost and baseline. They replace sections of the same title; the front matter
// and every other section stay as they are. Pure.

import { type BaselineCommand, resultText } from "../plan/baseline.ts";
import type { PlanPhase } from "../plan/plan.ts";
import type { ExecutionProfile } from "../plan/profile.ts";
import { dollars, grouped } from "./text/amount.ts";
import { oneLine } from "./text/cell.ts";
import { roughly } from "./text/duration.ts";

interface Section {
  title: string;
  lines: string[];
}

export interface PlanFacts {
  profile: ExecutionProfile;
  phases: readonly PlanPhase[];
  /** In dollars; null when it is unknown. */
  costOf: (phases: readonly PlanPhase[]) => number | null;
  /** Absent when none was taken. */
  baseline?: readonly BaselineCommand[] | undefined;
}

export function withFacts(plan: string, facts: PlanFacts): string {
  const eol = plan.includes("\r\n") ? "\r\n" : "\n";
  const lines = plan.replace(/\s*$/, "").split(/\r?\n/);
  for (const section of sectionsOf(facts)) place(lines, section);
  return `${lines.join(eol)}${eol}`;
}

function sectionsOf({ profile, phases, costOf, baseline }: PlanFacts): Section[] {
  const sections = [
    { title: "Cost Estimation", lines: costLines(phases, costOf) },
    { title: "Execution Profile", lines: profileLines(profile) },
  ];
  return baseline === undefined
    ? sections
    : [...sections, { title: "Baseline", lines: baselineLines(phases, baseline) }];
}

function place(lines: string[], { title, lines: body }: Section): void {
  const written = [`## ${title}`, "", ...body];
  const start = headings(lines).find(({ text }) => text === `## ${title}`)?.at;
  if (start === undefined) {
    lines.push("", ...written);
    return;
  }
  const next = headings(lines).find(({ at }) => at > start)?.at ?? lines.length;
  lines.splice(start, next - start, ...written, ...(next === lines.length ? [] : [""]));
}

/** Headings of the first two levels, outside code blocks and after the front matter. */
function headings(lines: readonly string[]): { at: number; text: string }[] {
  const closing = lines.findIndex((line, at) => at > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  let isCode = false;
  return lines.flatMap((line, at) => {
    if (at > closing && /^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode;
    return at > closing && !isCode && /^#{1,2} /.test(line) ? [{ at, text: line.trimEnd() }] : [];
  });
}

function profileLines({
  total_phases,
  parallelizable_phases,
  batch_count,
  estimated_minutes,
}: ExecutionProfile): string[] {
  const [parallel, sequential] = [estimated_minutes.parallel, estimated_minutes.sequential].map((minutes) =>
    roughly(minutes * 60_000),
  );
  return [
    `- Total phases: ${total_phases}`,
    `- Parallelizable: ${parallelizable_phases}, in ${batch_count} ${batch_count === 1 ? "batch" : "batches"}`,
    `- Estimated wall time: ${parallel} in parallel, ${sequential} sequentially`,
    "- Parallel execution runs agents in autonomous mode (`--yolo`): all tool calls are approved without confirmation",
  ];
}

function costLines(phases: readonly PlanPhase[], costOf: PlanFacts["costOf"]): string[] {
  const amount = (tokens: number | undefined) => (tokens === undefined ? "?" : grouped(tokens));
  const price = (some: readonly PlanPhase[]) => {
    const cost = costOf(some);
    return cost === null ? "?" : dollars(cost);
  };
  const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    row("phase", "agent", "input tokens", "output tokens", "cost"),
    "|---|---|---|---|---|",
    ...phases.map((phase) => {
      const { id, agent, estimate } = phase;
      return row(id, agent, amount(estimate?.input_tokens), amount(estimate?.output_tokens), price([phase]));
    }),
    row("total", "", "", "", price(phases)),
  ];
}

function baselineLines(phases: readonly PlanPhase[], baseline: readonly BaselineCommand[]): string[] {
  if (baseline.length === 0) return ["The plan has no validation commands."];
  const rows = baseline.map((one) => {
    const shown = oneLine(one.command).replaceAll("|", "\\|").replaceAll("`", "'");
    return `| \`${shown}\` | ${resultText(one)} | ${expectationOf(phases, one.command)} |`;
  });
  return ["| command | before the work | after its phase |", "|---|---|---|", ...rows];
}

function expectationOf(phases: readonly PlanPhase[], command: string): string {
  const listing = phases.filter(({ validation }) => validation.includes(command));
  const spared = listing.filter(({ not_worse }) => not_worse?.includes(command));
  const ids = (some: readonly PlanPhase[]) => some.map(({ id }) => id).join(", ");
  if (spared.length === 0) return "must pass";
  const must = listing.filter((phase) => !spared.includes(phase));
  return must.length === 0 ? "not worse" : `not worse (${ids(spared)}), must pass (${ids(must)})`;
}

/** The baseline for a person: the red commands with their first failing lines. */
export function baselineText(baseline: readonly BaselineCommand[]): string[] {
  if (baseline.length === 0) return ["Baseline: the plan has no validation commands"];
  const lines = baseline.flatMap((one) => [
    `  ${resultText(one)}: ${oneLine(one.command)}`,
    ...(one.failing ?? []).slice(0, MAX_SHOWN_LINES).map((line) => `    ${oneLine(line)}`),
  ]);
  return ["Baseline (each command on a snapshot of the project, before any work):", ...lines];
}

const MAX_SHOWN_LINES = 3;
