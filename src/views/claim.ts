// What an agent says about its validation beside what Maestro ran: a claim is not proof. Pure.

import type { SessionPhase } from "../session/session.ts";
import { oneLine } from "./text/cell.ts";

const SHORT_HASH = 12;

export interface ClaimAndProof {
  /** In the agent's words. */
  claimed: string;
  /** Null when no validation command has run on the work. */
  proof: string | null;
}

/** Undefined without a claim. */
export function claimOf({ handoff, validation }: SessionPhase): ClaimAndProof | undefined {
  if (handoff?.validation === undefined) return undefined;
  const { tree, commands } = validation?.evidence ?? { tree: null, commands: [] };
  // A command that is red as before the work proves nothing.
  const proving = commands.filter(({ not_worse }) => !not_worse);
  const ran = proving.map(
    ({ command, exit_code }) => `${oneLine(command)} ${exit_code === null ? "had no exit code" : `exit ${exit_code}`}`,
  );
  const where = tree === null ? "the project as it was" : `tree ${tree.slice(0, SHORT_HASH)}`;
  return {
    claimed: handoff.validation.text,
    proof: ran.length === 0 ? null : `${ran.join(", ")} on ${where}`,
  };
}

export function claimLine({ claimed, proof }: ClaimAndProof): string {
  return `claimed: ${oneLine(claimed)} / ${proof === null ? "not proved" : `proof: ${proof}`}`;
}
