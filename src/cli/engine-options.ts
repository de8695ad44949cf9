// The options that run, resume, rehearse and dispatch have in common, and what they come to together with the settings.

import { type DurationUnit, parseDuration } from "../duration.ts";
import { MaestroError } from "../errors.ts";
import type { ResolvedSettings } from "../settings.ts";

export interface EngineFlags {
  mode?: string;
  maxConcurrent?: string;
  timeout?: string;
  stagger?: string;
  model?: string;
  keepGoing?: boolean;
  phases?: string;
  grace?: string;
  validationTimeout?: string;
  quotaWait?: string;
  passEnv?: string[];
  json?: boolean;
  yes?: boolean;
}

export interface EngineSettings {
  /** Infinity: all that are ready. */
  slots: number;
  timeoutMs: number;
  staggerMs: number;
  graceMs: number;
  validationTimeoutMs: number;
  quotaWaitMs: number;
  quotaBaseMs: number;
  passEnv: string[];
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
    passEnv: (flags.passEnv ?? []).flatMap((names) => names.split(",")).filter(isVariable),
  };
}

/** A length of time from the command line; undefined when the option was not given. */
export function duration(
  option: string,
  given: string | undefined,
  unit: DurationUnit,
  least: number,
): number | undefined {
  if (given === undefined) return undefined;
  const milliseconds = parseDuration(given, unit);
  if (milliseconds !== undefined && milliseconds >= least) return milliseconds;
  throw new MaestroError("usage", `${option} must be a length of time (got: ${given})`, {
    hint: "Write it as 90s, 10m or 1h.",
  });
}

function isVariable(name: string): boolean {
  if (/^[A-Za-z_]\w*$/.test(name)) return true;
  if (name === "") return false;
  throw new MaestroError("usage", `--pass-env takes the names of variables (got: ${name})`);
}

function count(given: string): number {
  if (/^\d{1,6}$/.test(given)) return Number(given);
  throw new MaestroError("usage", `--max-concurrent must be a non-negative integer (got: ${given})`, {
    hint: "0 means all that are ready.",
  });
}
