// Detects whether this process runs inside an attempt, even if it has changed its own environment.

import { MaestroError } from "../../errors.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import type { StateLocation } from "../../store/location.ts";
import { attemptMarkers, hasMarkedAncestor, isAncestor } from "./ancestors.ts";

/** `location`: the session that the process wants to decide about. Every descendant of its engine belongs to an attempt. */
export function isInsideAttempt(
  env: Readonly<Record<string, string | undefined>>,
  location: StateLocation | undefined,
): boolean {
  if (attemptMarkers.some((name) => Boolean(env[name])) || hasMarkedAncestor()) return true;
  const engine = location === undefined ? undefined : runningEngine(location);
  return engine?.drives === true && isAncestor(engine.pid);
}

/** Called by every command and tool that changes decisions of a session. */
export function refuseDecision(...where: Parameters<typeof isInsideAttempt>): void {
  if (!isInsideAttempt(...where)) return;
  throw new MaestroError("environment", "This is an attempt of Maestro: it cannot decide about its own session", {
    hint: "Say in your report what should be decided.",
  });
}
