// The whole status, for the commands that ask for it: where tools are not to be had, it reaches the model only this way.

import { positionOf } from "../session/position.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { plainPaint } from "../views/paint.ts";
import { statusLines } from "../views/status.ts";
import { type Project, sessionOf } from "./project.ts";
import type { Surroundings } from "./surroundings.ts";

const MAX_CHARS = 6000;

export function wholeStatus(project: Project, here: Surroundings): string[] {
  const session = sessionOf(project);
  if (session === undefined) return [];
  const isDriven = runningEngine(project.location) !== undefined;
  const lines = statusLines(session, positionOf(session), null, here.clock(), plainPaint, isDriven);
  return [`Maestro status:\n${lines.join("\n")}`.slice(0, MAX_CHARS)];
}
