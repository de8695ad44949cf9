// Whether this process works for an attempt, whatever it has done to its own environment since.

import { MaestroError } from "../../errors.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import type { StateLocation } from "../../store/location.ts";
import { attemptMarkers, hasMarkedAncestor, isAncestor } from "./ancestors.ts";

/** `location`: the session that it would decide about. The engine that runs it has started only attempts and what belongs to them. */
export function isInsideAttempt(
  env: Readonly<Record<string, string | undefined>>,
  location: StateLocation | undefined,
): boolean {
  if (attemptMarkers.some((name) => Boolean(env[name])) || hasMarkedAncestor()) return true;
  const engine = location === undefined ? undefined : runningEngine(location);
  return engine?.drives === true && isAncestor(engine.pid);
}

/** For every door that decides about a session. */
export function refuseDecision(...where: Parameters<typeof isInsideAttempt>): void {
  if (!isInsideAttempt(...where)) return;
  throw new MaestroError("environment", "This is an attempt of Maestro: it does not decide about its own session", {
    hint: "Say in your report what should be decided.",
  });
}
