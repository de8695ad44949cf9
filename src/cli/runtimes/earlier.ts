// The runtime with which a session was run before, for a command that continues it without naming one.

import { DEFAULT_RUNTIME, runtimes } from "../../runtimes/runtime-table.ts";
import type { Session } from "../../session/session.ts";

/**
 * What was chosen for the last attempt that the plan left to the user; undefined for the default. Only a program that is built in: the journal
 * is a file of the project, and must not name a command to start.
 */
export function earlierRuntime({ phases }: Session): string | undefined {
  const attempts = phases.filter(({ plan }) => plan?.runtime === undefined && plan?.review_by === undefined);
  const last = attempts
    .flatMap((phase) => phase.attempts)
    .reduce(
      (latest: { seq: number; name: string } | null, { seq, runtime, instead_of }) =>
        latest !== null && latest.seq > seq ? latest : { seq, name: instead_of ?? runtime },
      null,
    );
  if (last === null || last.name === DEFAULT_RUNTIME) return undefined;
  return runtimes.some(({ name }) => name === last.name) ? last.name : undefined;
}
