// What most verbs need: settings, the roster of agents, the store of the project.

import { readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseDisabled } from "../agents/resolve.ts";
import { loadRoster, type Roster } from "../agents/roster.ts";
import { errno, MaestroError, reasonOf } from "../errors.ts";
import { type ValidationReport, validatePlan } from "../plan/validate.ts";
import { eventFault } from "../session/events.ts";
import { EXTENSION_PATH, type ResolvedSettings, resolveSettings } from "../settings.ts";
import { locateState, recordedPath } from "../store/location.ts";
import type { ApprovedPlan } from "../store/operations.ts";
import { SessionStore } from "../store/session-store.ts";
import { reviewView } from "../store/view-review.ts";
import type { Io } from "./io.ts";

/** The directory above dist/, where this program's agents/ are. */
const programRoot = resolve(dirname(fileURLToPath(import.meta.url)), "..");

export function agentsDirectory(io: Io): string {
  return join(io.env[EXTENSION_PATH]?.trim() || programRoot, "agents");
}

export function settingsOf(io: Io): ResolvedSettings {
  const settings = resolveSettings(io.cwd, io.env);
  for (const caution of settings.cautions) io.err(`WARNING: ${caution}\n`);
  return settings;
}

export function openStore(io: Io, settings: ResolvedSettings): SessionStore {
  return new SessionStore(locateState(io.cwd, settings.values.MAESTRO_STATE_DIR), {
    now: io.now,
    warn: (message) => io.err(`WARNING: ${message}\n`),
    review: (session, text) => reviewView(session, text, settings.values.MAESTRO_MAX_RETRIES),
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

export function rosterOf(io: Io): Roster {
  return loadRoster(agentsDirectory(io));
}

export function validateFile(
  io: Io,
  settings: ResolvedSettings,
  path: string,
): { report: ValidationReport; bytes: Uint8Array } {
  const bytes = readPlan(io, path);
  const roster = rosterOf(io);
  const { disabled } = parseDisabled(
    settings.values.MAESTRO_DISABLED_AGENTS,
    roster.agents.map((agent) => agent.name),
  );
  const location = locateState(io.cwd, settings.values.MAESTRO_STATE_DIR);
  const report = validatePlan(bytes, { agents: roster.agents, disabled, stateDir: recordedPath(location) });
  return { report, bytes };
}

/** The plan, or a refusal that names the first fault. */
export function approvePlan(io: Io, settings: ResolvedSettings, path: string): ApprovedPlan {
  const { report, bytes } = validateFile(io, settings, path);
  if (report.plan === undefined) {
    const [first] = report.errors;
    const more = report.errors.length > 1 ? ` (and ${report.errors.length - 1} more)` : "";
    throw new MaestroError("invalid_plan", `The plan is not valid: ${first?.code}: ${first?.message}${more}`, {
      hint: `Run "maestro validate ${path}" to see all of it.`,
    });
  }
  return { plan: report.plan, bytes, path: relativeToProject(io, path) };
}

function readPlan(io: Io, path: string): Uint8Array {
  try {
    return readFileSync(resolve(io.cwd, path));
  } catch (error) {
    if (errno(error) === undefined) throw error;
    throw new MaestroError("usage", `Cannot read the plan ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

function relativeToProject(io: Io, path: string): string {
  const real = realpathSync(resolve(io.cwd, path));
  const inside = relative(realpathSync(io.cwd), real);
  return (isAbsolute(inside) || inside.split(sep)[0] === ".." ? real : inside).split(sep).join("/");
}
