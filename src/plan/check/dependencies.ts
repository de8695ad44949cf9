// Checks `blocked_by`: every entry names an existing phase, once, and there is no cycle; and that `needs` names no phase.
import { nearest } from "../../agents/nearest.ts";
import { isPhaseId } from "../../ids.ts";
import type { Graph } from "../graph.ts";
import { addWarning, quotedValue, reportError } from "../issue.ts";
import type { Findings, PlanPhase } from "../plan.ts";
import type { DraftPhase } from "../read-phase.ts";
import { cyclesOf } from "./cycles.ts";

/** Limits the name comparisons for suggestions over the whole plan, so that checking an invalid plan is not slower than a valid one. */
const MAX_COMPARISONS = 200_000;
const MAX_SHOWN_IDS = 12;

/** Also removes repeated entries from `blocked_by`. */
export function checkDependencies(drafts: readonly DraftPhase[], findings: Findings): void {
  const ids = drafts.filter(({ hasId }) => hasId).map(({ phase }) => phase.id);
  const known = new Set(ids);
  let comparisons = 0;
  const near = (id: string, own: string) => {
    comparisons += ids.length;
    if (comparisons > MAX_COMPARISONS || !isPhaseId(id)) return undefined;
    const others = ids.filter((other) => other !== own);
    return nearest(id, others);
  };
  for (const { phase } of drafts) {
    if (phase.needs !== undefined) warnOfPhases(phase, phase.needs, known, findings);
    if (phase.blocked_by.length === 0) continue;
    const { blocked_by } = phase;
    const repeated = repeatedIn(blocked_by);
    const unique = repeated.size === 0 ? blocked_by : [...new Set(blocked_by)];
    for (const id of unique) {
      if (known.has(id)) continue;
      const suggestion = near(id, phase.id);
      const advice = suggestion === undefined ? `the phases are ${listed(ids)}` : `did you mean "${suggestion}"?`;
      const message = `Phase ${phase.id}: "blocked_by" names ${quotedValue(id)}, which is not a phase of this plan; ${advice}`;
      reportError(findings, "unknown_dependency", phase.id, message, suggestion);
    }
    if (repeated.size === 0) continue;
    for (const id of repeated) {
      const message = `Phase ${phase.id}: "blocked_by" names ${quotedValue(id)} more than once; once is enough`;
      addWarning(findings, "duplicate_dependency", phase.id, message);
    }
    phase.blocked_by = unique;
  }
}

/** Other tools write dependencies as `needs`. */
function warnOfPhases(
  { id }: PlanPhase,
  needs: readonly string[],
  known: ReadonlySet<string>,
  findings: Findings,
): void {
  for (const label of needs) {
    if (!known.has(label)) continue;
    const message = `Phase ${id}: "needs" names ${quotedValue(label)}, which is a phase; "needs" is for labels of workers, "blocked_by" for phases to wait for`;
    addWarning(findings, "label_is_phase", id, message, "blocked_by");
  }
}

const FEW = 16;
const none: ReadonlySet<string> = new Set();

function repeatedIn(ids: readonly string[]): ReadonlySet<string> {
  // Short lists are compared directly: a set for each phase would take a tenth of the time that a large plan needs.
  if (ids.length <= FEW && ids.every((id, at) => ids.indexOf(id) === at)) return none;
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const id of ids) (seen.has(id) ? repeated : seen).add(id);
  return repeated;
}

export function checkCycles(phases: readonly PlanPhase[], graph: Graph, findings: Findings): void {
  for (const cycle of cyclesOf(graph)) {
    const ids = cycle.map((position) => phases[position]?.id ?? "");
    const [first = ""] = ids;
    const message = `Phases wait for each other: ${way(ids)} -> ${first} (each waits for the next); remove one of these links`;
    reportError(findings, "cycle", first, message);
  }
}

function way(ids: readonly string[]): string {
  if (ids.length <= MAX_SHOWN_IDS) return ids.join(" -> ");
  const hidden = ids.length - MAX_SHOWN_IDS + 1;
  return [...ids.slice(0, MAX_SHOWN_IDS - 2), `(${hidden} more)`, ids.at(-1)].join(" -> ");
}

function listed(ids: readonly string[]): string {
  const rest = ids.length - MAX_SHOWN_IDS;
  return ids.slice(0, MAX_SHOWN_IDS).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
