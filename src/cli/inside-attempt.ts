// What an agent at work on a phase may not do with the command line: start another engine, and decide about its own session.

import { RUN_MARKER } from "../engine/tree.ts";
import { MaestroError } from "../errors.ts";
import type { Io } from "./io.ts";

/** No orchestra inside an orchestra. */
export function refuseInsideAttempt(io: Io): void {
  if (!isInside(io)) return;
  const phase = io.env.MAESTRO_PHASE ? ` (phase ${io.env.MAESTRO_PHASE})` : "";
  const message = `This is already an attempt of Maestro${phase}: it cannot start another engine`;
  throw new MaestroError("environment", message, { hint: "Do the work of the phase yourself and hand it over." });
}

export function refuseDecisionInsideAttempt(io: Io): void {
  if (!isInside(io)) return;
  throw new MaestroError("environment", "This is an attempt of Maestro: it does not decide about its own session", {
    hint: "Say in your report what should be decided.",
  });
}

function isInside({ env }: Io): boolean {
  return Boolean(env.MAESTRO_ATTEMPT) || Boolean(env[RUN_MARKER]);
}
