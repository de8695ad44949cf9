// Rejects commands that an agent inside an attempt must not run: starting another engine and deciding about its own session.

import { isInsideAttempt, refuseDecision } from "../engine/process/inside-attempt.ts";
import { MaestroError } from "../errors.ts";
import { resolveStateDirectory } from "../setting-layers.ts";
import { locateState, type StateLocation } from "../store/location.ts";
import type { Io } from "./io.ts";

/** Throws inside an attempt: runs must not be nested. */
export function refuseInsideAttempt(io: Io): void {
  if (!isInsideAttempt(io.env, stateOf(io))) return;
  const phase = io.env.MAESTRO_PHASE ? ` (phase ${io.env.MAESTRO_PHASE})` : "";
  const message = `This is already an attempt of Maestro${phase}: it cannot start another engine`;
  throw new MaestroError("environment", message, { hint: "Do the work of the phase yourself and hand it over." });
}

export function refuseDecisionInsideAttempt(io: Io): void {
  refuseDecision(io.env, stateOf(io));
}

/** Undefined when the setting for the state directory is invalid; the verb itself reports that. */
function stateOf({ cwd, env }: Io): StateLocation | undefined {
  try {
    return locateState(cwd, resolveStateDirectory(cwd, env));
  } catch (error) {
    if (error instanceof MaestroError) return undefined;
    throw error;
  }
}
