// The text of a plan from what the journal recorded of it. The prose around the phases is not recorded. Pure.

import type { PlanPhase } from "../plan.ts";

export interface RecordedPlan {
  title: string;
  design_document: string | null;
  phases: readonly PlanPhase[];
}

/** A valid plan file with the same phases. */
export function recordedText({ title, design_document, phases }: RecordedPlan): string {
  const design = design_document === null ? {} : { design_ref: design_document };
  const written = { title, ...design, total_phases: phases.length, phases: phases.map(asWritten) };
  return `---\n${JSON.stringify(written, null, 2)}\n---\n\nDrawn from the record of the session; the text around the phases is not recorded.\n`;
}

/** A phase as an author writes it: with the expectation beside each command. */
function asWritten({ not_worse = [], meant_to_pass = [], validation, ...phase }: PlanPhase) {
  const commands = validation.map((run) => {
    if (meant_to_pass.includes(run)) return { run, expect: "pass" };
    return not_worse.includes(run) ? { run, expect: "not_worse" } : run;
  });
  return { ...phase, validation: commands };
}
