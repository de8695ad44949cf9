// Combines the command line options of a run with the settings into the limits that the engine starts with.

import { AMOUNTS_EXPECTED, type Amounts, parseAmounts } from "../../amounts.ts";
import { type DurationUnit, parseDuration } from "../../duration.ts";
import { MaestroError } from "../../errors.ts";
import { passedNames } from "../../runtimes/environment.ts";
import type { ReviewMode } from "../../session/events.ts";
import type { ResolvedSettings, Settings } from "../../settings.ts";

export interface EngineFlags {
  mode?: string;
  review?: ReviewMode;
  maxConcurrent?: string;
  workers?: string;
  exchange?: string;
  passwordFile?: string;
  timeout?: string;
  stagger?: string;
  model?: string;
  budget?: string[];
  keepGoing?: boolean;
  phases?: string;
  grace?: string;
  validationTimeout?: string;
  quotaWait?: string;
  passEnv?: string[];
  isolation?: "worktree" | "none";
  ownership?: "strict" | "warn";
  sandbox?: boolean;
  allowOverlap?: boolean;
  leaveOpen?: boolean;
  json?: boolean;
  yes?: boolean;
}

/** The amounts of --budget; undefined when it is not given. */
export function budgetFlag({ budget }: EngineFlags): Amounts | undefined {
  if (budget === undefined || budget.length === 0) return undefined;
  const amounts = parseAmounts(budget.join(","));
  if (amounts !== undefined) return amounts;
  throw new MaestroError("usage", `--budget must be ${AMOUNTS_EXPECTED} (got: ${budget.join(",")})`, {
    hint: "Name each unit once: --budget 5usd --budget 2Mtok.",
  });
}

export interface EngineSettings {
  /** How many attempts may run at once; Infinity for no limit. */
  slots: number;
  timeoutMs: number;
  staggerMs: number;
  graceMs: number;
  validationTimeoutMs: number;
  quotaWaitMs: number;
  quotaBaseMs: number;
  /** Names and globs. */
  passEnv: string[];
  /** auto: one worktree per attempt when attempts run in parallel and the project is a git repository. */
  isolation: "auto" | "worktree" | "none";
  /** auto: strict in parallel mode, warn otherwise. */
  ownership: "auto" | "strict" | "warn";
  sandbox: boolean;
  /** The command that prepares a worktree; "" for none. */
  setup: string;
}

export function engineSettings({ values }: ResolvedSettings, flags: EngineFlags): EngineSettings {
  const concurrent = flags.maxConcurrent === undefined ? values.MAESTRO_MAX_CONCURRENT : count(flags.maxConcurrent);
  return {
    slots: concurrent === 0 ? Number.POSITIVE_INFINITY : concurrent,
    timeoutMs: duration("--timeout", flags.timeout, "m", 1) ?? Math.round(values.MAESTRO_AGENT_TIMEOUT * 60_000),
    staggerMs: duration("--stagger", flags.stagger, "s", 0) ?? values.MAESTRO_STAGGER_DELAY * 1000,
    graceMs: duration("--grace", flags.grace, "s", 0) ?? 5000,
    validationTimeoutMs: duration("--validation-timeout", flags.validationTimeout, "m", 1) ?? 600_000,
    quotaWaitMs: duration("--quota-wait", flags.quotaWait, "m", 0) ?? 3_600_000,
    quotaBaseMs: Math.round(values.MAESTRO_QUOTA_DELAY * 1000),
    passEnv: [...passedNames(values.MAESTRO_PASS_ENV), ...(flags.passEnv ?? []).flatMap(passedNames).map(variable)],
    isolation: isolationOf(values, flags),
    ownership: flags.ownership ?? values.MAESTRO_OWNERSHIP,
    sandbox: flags.sandbox ?? values.MAESTRO_SANDBOX,
    setup: values.MAESTRO_WORKTREE_SETUP,
  };
}

function isolationOf(values: Settings, flags: EngineFlags): EngineSettings["isolation"] {
  const isolation = flags.isolation ?? values.MAESTRO_ISOLATION;
  if (isolation !== "none" || !flags.allowOverlap) return isolation;
  const source = flags.isolation === undefined ? "MAESTRO_ISOLATION=none" : "--isolation none";
  throw new MaestroError("usage", `--allow-overlap cannot be used with ${source}`, {
    hint: "Merging changes to the same file needs worktrees: pass --isolation worktree, or let one phase own the file.",
  });
}

/** A duration in milliseconds from the command line; undefined when the option is absent. */
export function duration(
  option: string,
  given: string | undefined,
  unit: DurationUnit,
  least: number,
): number | undefined {
  if (given === undefined) return undefined;
  const milliseconds = parseDuration(given, unit);
  if (milliseconds !== undefined && milliseconds >= least) return milliseconds;
  throw new MaestroError("usage", `${option} must be a duration (got: ${given})`, {
    hint: "Write it as 90s, 10m or 1h.",
  });
}

function variable(name: string): string {
  if (/^[A-Za-z_*?][\w*?]*$/.test(name)) return name;
  throw new MaestroError("usage", `--pass-env must be a list of variable names and globs (got: ${name})`);
}

function count(given: string): number {
  if (/^\d{1,6}$/.test(given)) return Number(given);
  throw new MaestroError("usage", `--max-concurrent must be a non-negative integer (got: ${given})`, {
    hint: "0 means no limit.",
  });
}
