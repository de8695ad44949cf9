// The options that run, resume, rehearse and dispatch have in common, and what they come to together with the settings.

import { type Command, Option } from "commander";
import { type DurationUnit, parseDuration } from "../../duration.ts";
import { MaestroError } from "../../errors.ts";
import type { ResolvedSettings, Settings } from "../../settings.ts";

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
  isolation?: "worktree" | "none";
  ownership?: "strict" | "warn";
  sandbox?: boolean;
  allowOverlap?: boolean;
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
  /** auto: a worktree each where attempts run side by side and the project is one of git. */
  isolation: "auto" | "worktree" | "none";
  /** auto: strict in parallel mode, warn otherwise. */
  ownership: "auto" | "strict" | "warn";
  sandbox: boolean;
  /** The command that makes a worktree ready; "": there is none. */
  setup: string;
}

/** Adds to a verb what all that carry a plan out take. */
export function engineOptions(made: Command): Command {
  return made
    .addOption(new Option("--mode <mode>", "how phases are carried out").choices(["parallel", "sequential", "ask"]))
    .option("--max-concurrent <n>", "agents at the same time; 0: all that are ready")
    .option("--timeout <time>", "limit of an attempt: 90s, 10m (a bare number: minutes)")
    .option("--stagger <time>", "time between two launches: 5s (a bare number: seconds)")
    .option("--model <model>", "model for all agents")
    .option("--runtime <name>", "what plays the agents", "gemini")
    .addOption(
      new Option(
        "--isolation <how>",
        "a git worktree for each attempt, or one tree for all (default: a worktree where attempts run side by side)",
      ).choices(["worktree", "none"]),
    )
    .addOption(
      new Option(
        "--ownership <how>",
        "changes outside a phase's files: refused, or told (default: strict in parallel mode, warn otherwise)",
      ).choices(["strict", "warn"]),
    )
    .option("--sandbox", "let agents write to their worktree only (Linux with bubblewrap)")
    .option("--allow-overlap", "let phases that run at the same time own the same file: their changes are merged")
    .option("--keep-going", "after a failure, go on with phases that do not depend on it")
    .option("--grace <time>", "how long a stopped agent has to end", "5s")
    .option("--validation-timeout <time>", "limit of a validation command", "10m")
    .option("--quota-wait <time>", "how long to wait for the provider without any progress", "60m")
    .option("--pass-env <names>", "variables that agents get besides the allowed ones (A,B)", collect)
    .option("--phases <ids>", "only these phases: 1,2")
    .option("--keep-open", "do not archive the completed session")
    .option("-y, --yes", "consent, archive and take the proposed next step without asking")
    .option("--json", "print events as they happen, one JSON object a line")
    .addOption(new Option("--ready-fd <fd>").hideHelp());
}

/** An option that may be given more than once. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
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
    hint: "Changes of the same file are merged from worktrees: pass --isolation worktree, or let one phase own the file.",
  });
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
