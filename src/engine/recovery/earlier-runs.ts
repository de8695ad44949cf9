// Ends what earlier engines of a session left running, before their results are read.

import { requireSession } from "../../session/decide/operation.ts";
import { isNative, type Session } from "../../session/session.ts";
import { endAll } from "../process/tree.ts";

export async function killEarlierRuns(current: Session | undefined, graceMs: number): Promise<void> {
  const { phases } = requireSession(current);
  const attempts = phases.flatMap((phase) => phase.attempts.filter((attempt) => !isNative(attempt)));
  const runs = new Set(attempts.map((attempt) => attempt.run));
  if (runs.size > 0) await endAll({ groups: new Set(), runs }, graceMs);
}
