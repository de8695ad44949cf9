// What most verbs need: the settings, the roster of agents, the project's session store and the checked plan.

import { loadRoster, type Roster } from "../agents/roster.ts";
import { MaestroError } from "../errors.ts";
import type { BaselineCommand } from "../plan/baseline.ts";
import type { ValidationReport } from "../plan/validate.ts";
import { agentsFolder } from "../program-root.ts";
import { projectRedactor } from "../secrets/redact.ts";
import { resolveStateDirectory } from "../setting-layers.ts";
import { type ResolvedSettings, resolveSettings, tolerantSettings } from "../settings.ts";
import { checkPlan, PLAN_READ_LIMIT, recordedPlan } from "../store/files/plan-file.ts";
import { locateState } from "../store/location.ts";
import type { ApprovedPlan } from "../store/operations.ts";
import { projectStore } from "../store/project-store.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { StoreOptions } from "../store/store-options.ts";
import { shellWord } from "../text.ts";
import { readInput } from "./input.ts";
import type { Io } from "./io.ts";
import { pasteable, programFor } from "./launcher.ts";

export function agentsDirectory(io: Io): string {
  return agentsFolder(io.env);
}

const printed = new WeakMap<Io, Set<string>>();

/** Prints each caution once per command, however often the settings are read. */
export function settingsOf(io: Io): ResolvedSettings {
  const settings = resolveSettings(io.cwd, io.env);
  const known = printed.get(io) ?? new Set();
  printed.set(io, known);
  for (const caution of settings.cautions.filter((one) => !known.has(one))) {
    known.add(caution);
    io.err(`WARNING: ${caution}\n`);
  }
  return settings;
}

/** For verbs that need little more than the state directory: other invalid values become defaults, with a warning each. */
export function lenientSettingsOf(io: Io): Pick<ResolvedSettings, "values"> {
  try {
    return settingsOf(io);
  } catch (error) {
    if (!(error instanceof MaestroError) || error.code !== "config") throw error;
    const MAESTRO_STATE_DIR = resolveStateDirectory(io.cwd, io.env);
    const values = tolerantSettings(io.cwd, io.env, (problem) => io.err(`WARNING: ${problem}\n`));
    return { values: { ...values, MAESTRO_STATE_DIR } };
  }
}

export function openStore(
  io: Io,
  settings: Pick<ResolvedSettings, "values">,
  options: Pick<StoreOptions, "viewDelayMs"> = {},
): SessionStore {
  return projectStore(locateState(io.cwd, settings.values.MAESTRO_STATE_DIR), {
    ...options,
    now: io.now,
    env: io.env,
    redact: redactorOf(io),
    warn: (message) => io.err(`WARNING: ${message}\n`),
    maxRetries: () => settings.values.MAESTRO_MAX_RETRIES,
  });
}

/** Runs `use` with the store, then closes it, which writes the view; also when `use` throws. */
export function withStore<T>(io: Io, settings: Pick<ResolvedSettings, "values">, use: (store: SessionStore) => T): T {
  const store = openStore(io, settings);
  try {
    return use(store);
  } finally {
    store.close();
  }
}

/** Redacts the secrets of the environment and of the project's .env, which Gemini CLI reads too. */
export function redactorOf(io: Io): (text: string) => string {
  return projectRedactor(io.cwd, io.env);
}

/** The command that starts Maestro for this user: `maestro` if their PATH leads to this program. */
export function programOf(io: Io): string {
  return programFor(io.env.PATH);
}

/** Prints text for a person on standard output, with commands that work for this user. */
export function tellUser(io: Io, text: string): void {
  io.out(pasteable(text, io.env.PATH));
}

/** How open decisions are shown to this user. */
export function decisionLook(io: Io, { values }: ResolvedSettings): { maxRetries: number; program: string } {
  return { maxRetries: values.MAESTRO_MAX_RETRIES, program: programOf(io) };
}

const rosters = new Map<string, Roster>();

/** Cached, because a run asks for the roster many times. */
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
  baseline?: readonly BaselineCommand[],
): Promise<{ report: ValidationReport; bytes: Uint8Array }> {
  const bytes = await readPlan(io, settings, path);
  return { report: reportOf(io, settings, bytes, baseline), bytes };
}

async function readPlan(io: Io, { values }: ResolvedSettings, path: string): Promise<Uint8Array> {
  const hint = `Check the path. Maestro keeps plans in ${values.MAESTRO_STATE_DIR}/plans.`;
  return readInput(io, path, `the plan ${path}`, { limit: PLAN_READ_LIMIT, hint });
}

function reportOf(
  io: Io,
  settings: ResolvedSettings,
  bytes: Uint8Array,
  baseline?: readonly BaselineCommand[],
): ValidationReport {
  const location = locateState(io.cwd, settings.values.MAESTRO_STATE_DIR);
  const { MAESTRO_DISABLED_AGENTS: disabledAgents, MAESTRO_BUDGET: budget } = settings.values;
  const surroundings = { location, roster: rosterOf(io), disabledAgents, redact: redactorOf(io), budget };
  return checkPlan(bytes, { ...surroundings, baseline });
}

export interface CheckedPlan extends ApprovedPlan {
  report: ValidationReport;
}

export interface Approval {
  /** Accept phases that run at the same time and own the same file, with a warning. */
  allowOverlap?: boolean | undefined;
}

/** Returns the plan, or throws an error that names its first problem. */
export async function approvePlan(
  io: Io,
  settings: ResolvedSettings,
  path: string,
  { allowOverlap }: Approval = {},
): Promise<CheckedPlan> {
  const bytes = await readPlan(io, settings, path);
  return approveText(io, settings, path, bytes, { allowOverlap });
}

/** As approvePlan, for a text that is not in the file yet. */
export function approveText(
  io: Io,
  settings: ResolvedSettings,
  path: string,
  bytes: Uint8Array,
  { allowOverlap }: Approval = {},
): CheckedPlan {
  const report = reportOf(io, settings, bytes);
  const plan = report.plan ?? (allowOverlap ? report.mergeable : undefined);
  if (plan === undefined) {
    const [first] = report.errors;
    const more = report.errors.length > 1 ? ` (and ${report.errors.length - 1} more)` : "";
    throw new MaestroError("invalid_plan", `The plan is not valid: ${first?.code}: ${first?.message}${more}`, {
      hint: `Run "maestro validate ${shellWord(path)}" to see every problem.`,
    });
  }
  for (const { message } of report.errors) io.err(`WARNING: ${message}\n`);
  return { plan, bytes, path: recordedPlan(io.cwd, path), report };
}
