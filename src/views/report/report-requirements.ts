// The requirements of a session's design in its final summary: which phases worked on each, what shows it, and the verdict.

import { phasesFor, requirementStanding, unmetRequirements } from "../../session/requirements.ts";
import type { Session } from "../../session/session.ts";
import { cell, cut, oneLine, shareOut, widest } from "../text/cell.ts";
import type { Paint } from "../text/paint.ts";

export function requirementsJson(session: Session) {
  return session.requirements.map((one) => ({
    id: one.id,
    text: one.text,
    phases: phasesFor(session, one.id),
    evidence: one.answer?.evidence ?? null,
    verdict: requirementStanding(one),
  }));
}

interface Reported {
  requirements: ReturnType<typeof requirementsJson>;
  accept_open: string | null;
}

export function requirementLines({ requirements, accept_open }: Reported, paint: Paint, width: number): string[] {
  if (requirements.length === 0) return [];
  const rows = requirements.map(({ id, text, phases, evidence, verdict }) => ({
    verdict,
    cells: [`${id} ${oneLine(text)}`, phases.join(", "), oneLine(evidence ?? ""), verdict.replace("_", " ")] as const,
  }));
  const column = (at: 0 | 1 | 2 | 3, least: number, most: number) =>
    Math.max(
      least,
      widest(
        rows.map(({ cells }) => cells[at]),
        most,
      ),
    );
  const [phases, verdict] = [column(1, 6, 16), column(3, 7, 7)];
  const [what = 0, evidence = 0] = shareOut(width - phases - verdict - 10, [
    { least: 14, most: column(0, 11, 60) },
    { least: 14, most: column(2, 8, 60) },
  ]);
  const line = (one: string, two: string, three: string, four: string) =>
    `${[cell(one, what), cell(two, phases), cell(three, evidence), cell(four, verdict)].join("  ")}`.trimEnd();
  return [
    "Requirements:",
    paint.dim(`  ${line("REQUIREMENT", "PHASES", "EVIDENCE", "VERDICT")}`),
    ...rows.map((row) => `  ${paint[row.verdict === "met" ? "green" : "yellow"](line(...row.cells))}`),
    ...(accept_open === null ? [] : [cut(`Accepted by the user: ${oneLine(accept_open)}`, width)]),
  ];
}

/** What the user can do when all phases are done and requirements are not met. `program`: the command that starts Maestro. */
export function unansweredLines(session: Session, program: string): string[] {
  const unmet = unmetRequirements(session);
  const open = unmet.find((one) => one.answer === undefined) ?? unmet[0];
  const count = unmet.length === 1 ? "1 requirement is" : `${unmet.length} requirements are`;
  return [
    `All phases are done. The session stays open: ${count} not met yet. Next:`,
    `  ${program} session requirement ${open?.id ?? ""} met --evidence "what shows it"   (or not_met, dropped)`,
    `  ${program} session complete`,
    `  ${program} session complete --accept-open "reason"   (to complete it with requirements that are not met)`,
  ];
}
