// Additional context for Maestro's commands: the full status, which a model without tools gets only this way, and the settings.

import { positionOf } from "../session/position.ts";
import { definitions, tolerantSettings } from "../settings.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { statusLines } from "../views/status.ts";
import { plainPaint } from "../views/text/paint.ts";
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

const told = ["MAESTRO_STATE_DIR", "MAESTRO_EXECUTION_MODE", "MAESTRO_MAX_RETRIES", "MAESTRO_DISABLED_AGENTS"] as const;

/** The settings that a TechLead must know: those that differ from the defaults, and problems. */
export function settingsLines({ projectRoot, env }: Surroundings): string[] {
  const problems: string[] = [];
  const settings = tolerantSettings(projectRoot, env, (problem) => void problems.push(problem));
  const set = told.filter((name) => settings[name] !== definitions[name].default);
  return [
    ...(set.length === 0 ? [] : [`Settings: ${set.map((name) => `${name}=${settings[name]}`).join(", ")}`]),
    ...problems.map((problem) => `Settings problem: ${problem}`),
  ];
}
