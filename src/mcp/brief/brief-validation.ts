// The result of a plan's validation in a few hundred characters: what is wrong, which phases there are, how they would run. Pure.

import type { DependencyGraph, ValidationReport } from "../../plan/validate.ts";
import { short } from "../../views/record/brief.ts";
import { fitting } from "../answer.ts";

/** In bytes. A plan with errors needs its errors more than its graph. */
const ROOM = { errors: 700, warnings: 250, phases: 250, batches: 150, path: 80 };
const MAX_MESSAGE = 240;

export function briefValidation({ valid, errors, warnings, dependency_graph, profile }: ValidationReport) {
  return {
    valid,
    ...part("errors", errors.map(brief), ROOM.errors),
    ...part("warnings", warnings.map(brief), ROOM.warnings),
    dependency_graph: graphOf(dependency_graph),
    execution_profile: profile === null ? null : counted(profile),
  };
}

type Issue = (ValidationReport["errors"] | ValidationReport["warnings"])[number];

function brief({ message, ...issue }: Issue) {
  return { ...issue, message: short(message, MAX_MESSAGE) };
}

function counted({ total_phases, parallelizable_phases, batch_count }: NonNullable<ValidationReport["profile"]>) {
  return { total_phases, parallelizable_phases, batch_count };
}

function graphOf({ phases, critical_path, parallel_batches }: DependencyGraph) {
  const named = phases.map(({ id, agent, blocked_by }) => {
    const after = blocked_by.slice(0, 5).join(", ");
    return `${id} ${agent}${after === "" ? "" : ` after ${after}${blocked_by.length > 5 ? ", ..." : ""}`}`;
  });
  return {
    ...part("phases", named, ROOM.phases),
    critical_path: fitting(critical_path, ROOM.path),
    ...part(
      "parallel_batches",
      parallel_batches.map((batch) => fitting(batch, ROOM.path)),
      ROOM.batches,
    ),
  };
}

/** The items that fit, and how many there are if some do not. */
function part(name: string, items: readonly unknown[], room: number): Record<string, unknown> {
  const shown = fitting(items, room);
  return { [name]: shown, ...(shown.length < items.length ? { [`${name}_total`]: items.length } : {}) };
}
