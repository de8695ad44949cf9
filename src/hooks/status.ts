// Additional context for Maestro's commands: the full status, which a model without tools gets only this way, and the settings.

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { positionOf } from "../session/position.ts";
import type { Session } from "../session/session.ts";
import { definitions, tolerantSettings } from "../settings.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { isForgettable, UserRecord } from "../store/files/user-record.ts";
import { seenSession } from "../store/seen-session.ts";
import { decisionBrief, decisionLines } from "../views/decision/open-decisions.ts";
import { statusLines } from "../views/status.ts";
import { plainPaint } from "../views/text/paint.ts";
import { type Project, sessionOf } from "./project.ts";
import { commandLine, type Surroundings } from "./surroundings.ts";

const MAX_CHARS = 6000;
/** Of these, for open decisions. */
const MAX_DECISION_CHARS = 4000;

export function wholeStatus(project: Project, here: Surroundings): string[] {
  const read = sessionOf(project);
  if (read === undefined) return [];
  const session = seenSession(project.location, read, here.clock());
  const isDriven = runningEngine(project.location) !== undefined;
  const lines = statusLines(session, positionOf(session), null, here.clock(), plainPaint, isDriven);
  const decisions = decisionText(session, here, isDriven);
  const told = `Maestro status:\n${lines.join("\n")}`.slice(0, MAX_CHARS - decisions.length);
  return [told, ...(decisions === "" ? [] : [decisions])];
}

/** The whole blocks for the user if they fit, otherwise the first decision in one line. */
function decisionText(session: Session, here: Surroundings, isDriven: boolean): string {
  const { MAESTRO_MAX_RETRIES: maxRetries } = tolerantSettings(here.projectRoot, here.env, () => undefined);
  const look = { maxRetries, program: commandLine(here), isDriven };
  const blocks = decisionLines(session, look).join("\n");
  return blocks.length <= MAX_DECISION_CHARS ? blocks : decisionBrief(session, look).join("\n");
}

/** Offers `maestro setup` in the first orchestration of a user who has not run it. */
export function offerLines(command: string, here: Surroundings): string[] {
  const home = here.env.GEMINI_CLI_HOME?.trim() || here.env.HOME?.trim() || homedir();
  if (command !== "orchestrate" || existsSync(join(home, ".gemini", "policies", "maestro.toml"))) return [];
  const record = new UserRecord(here.env);
  if (record.hasOffered("setup")) return [];
  try {
    record.rememberOffer("setup", here.clock());
  } catch (error) {
    if (!isForgettable(error)) throw error;
    here.log(error.message);
  }
  return [
    `Set-up is missing. Offer it to the user once, before anything else: "${commandLine(here)} setup" avoids most confirmations of Gemini CLI.`,
  ];
}

/** The commands with which the model leads work. */
const leading = ["orchestrate", "execute", "resume", "review", "debug", "security-audit", "perf-check"];

/**
 * The lead's instructions, GEMINI.md. They come with every such command, also a second time in a conversation: whether an earlier copy was
 * lost in a compression is not known here.
 */
export function leadLines(command: string, here: Surroundings): string[] {
  if (!leading.includes(command)) return [];
  const found = [here.extensionRoot, here.programRoot]
    .map((root) => join(root, "GEMINI.md"))
    .find((path) => existsSync(path));
  if (found === undefined) {
    here.log(`${join(here.extensionRoot, "GEMINI.md")} does not exist: the model leads without its instructions`);
    return [];
  }
  return [readFileSync(found, "utf8").trimEnd(), ""];
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
