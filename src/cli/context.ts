// What most verbs need: settings, the roster of agents, the store of the project.

import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseDisabled } from "../agents/resolve.ts";
import { loadRoster, type Roster } from "../agents/roster.ts";
import { MaestroError } from "../errors.ts";
import { MAX_PLAN_BYTES } from "../plan/plan.ts";
import { type ValidationReport, validatePlan } from "../plan/validate.ts";
import { makeRedactor } from "../redact.ts";
import { eventFault } from "../session/events.ts";
import { EXTENSION_PATH, type ResolvedSettings, readEnvFile, resolveSettings } from "../settings.ts";
import { locateState, recordedPath } from "../store/location.ts";
import type { ApprovedPlan } from "../store/operations.ts";
import { SessionStore, type StoreOptions } from "../store/session-store.ts";
import { reviewView } from "../store/view-review.ts";
import { readInput } from "./input.ts";
import type { Io } from "./io.ts";

/** The directory above dist/, where this program's agents/ and protocols/ are. */
export const programRoot = resolve(dirname(fileURLToPath(import.meta.url)), "..");

export function agentsDirectory(io: Io): string {
  return join(io.env[EXTENSION_PATH]?.trim() || programRoot, "agents");
}

export function settingsOf(io: Io): ResolvedSettings {
  const settings = resolveSettings(io.cwd, io.env);
  for (const caution of settings.cautions) io.err(`WARNING: ${caution}\n`);
  return settings;
}

export function openStore(
  io: Io,
  settings: ResolvedSettings,
  options: Pick<StoreOptions, "viewDelayMs"> = {},
): SessionStore {
  return new SessionStore(locateState(io.cwd, settings.values.MAESTRO_STATE_DIR), {
    ...options,
    now: io.now,
    warn: (message) => io.err(`WARNING: ${message}\n`),
    review: (session, text, sessionAt) => reviewView(session, text, settings.values.MAESTRO_MAX_RETRIES, sessionAt),
    fault: eventFault,
  });
}

/** Runs `use` with the store and draws the view afterwards, also when `use` refuses. */
export function withStore<T>(io: Io, settings: ResolvedSettings, use: (store: SessionStore) => T): T {
  const store = openStore(io, settings);
  try {
    return use(store);
  } finally {
    store.close();
  }
}

/** Knows the secrets of the environment and of the project's own .env, which Gemini CLI reads too. */
export function redactorOf(io: Io): (text: string) => string {
  return makeRedactor({ ...readEnvFile(join(io.cwd, ".env")), ...io.env });
}

const rosters = new Map<string, Roster>();

/** Read once: a run asks for it again and again. */
export function rosterOf(io: Io): Roster {
  const directory = agentsDirectory(io);
  const roster = rosters.get(directory) ?? loadRoster(directory);
  rosters.set(directory, roster);
  return roster;
}

export async function validateFile(
  io: Io,
  settings: ResolvedSettings,
  path: string,
): Promise<{ report: ValidationReport; bytes: Uint8Array }> {
  // One byte more than a plan may have: the validator says so.
  const bytes = await readInput(io, path, `the plan ${path}`, MAX_PLAN_BYTES + 1);
  const roster = rosterOf(io);
  const { disabled } = parseDisabled(
    settings.values.MAESTRO_DISABLED_AGENTS,
    roster.agents.map((agent) => agent.name),
  );
  const location = locateState(io.cwd, settings.values.MAESTRO_STATE_DIR);
  const report = validatePlan(bytes, { agents: roster.agents, disabled, stateDir: recordedPath(location) });
  return { report, bytes };
}

export interface CheckedPlan extends ApprovedPlan {
  report: ValidationReport;
}

/** The plan, or a refusal that names the first fault. */
export async function approvePlan(io: Io, settings: ResolvedSettings, path: string): Promise<CheckedPlan> {
  const { report, bytes } = await validateFile(io, settings, path);
  if (report.plan === undefined) {
    const [first] = report.errors;
    const more = report.errors.length > 1 ? ` (and ${report.errors.length - 1} more)` : "";
    throw new MaestroError("invalid_plan", `The plan is not valid: ${first?.code}: ${first?.message}${more}`, {
      hint: `Run "maestro validate ${path}" to see all of it.`,
    });
  }
  return { plan: report.plan, bytes, path: relativeToProject(io, path), report };
}

function relativeToProject(io: Io, path: string): string {
  const real = realpathSync(resolve(io.cwd, path));
  const inside = relative(realpathSync(io.cwd), real);
  return (isAbsolute(inside) || inside.split(sep)[0] === ".." ? real : inside).split(sep).join("/");
}
