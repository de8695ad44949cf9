// The runtime with which a session was run before, for a command that continues it without naming one.

import { DEFAULT_RUNTIME, runtimes } from "../../runtimes/runtime-table.ts";
import type { Session } from "../../session/session.ts";

/**
 * What `--runtime` named for the last attempt that it decided; undefined for the default. `isMapped`: the settings name a runtime for that
 * agent. Only a program that is built in: the journal is a file of the project, and must not name a command to start.
 */
export function earlierRuntime({ phases }: Session, isMapped: (agent: string) => boolean): string | undefined {
  const left = phases.filter(({ plan }) => plan?.runtime === undefined && plan?.review_by === undefined);
  const attempts = left.flatMap((phase) => phase.attempts).filter(({ agent }) => !isMapped(agent));
  const [last] = attempts.sort((a, b) => b.seq - a.seq);
  const name = last?.instead_of ?? last?.runtime;
  if (name === DEFAULT_RUNTIME) return undefined;
  return runtimes.find((one) => one.name === name)?.name;
}
