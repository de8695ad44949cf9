// maestro validate <plan>: checks a plan and draws how it would run; with --baseline, runs its validation commands on a snapshot first.

import { planCost } from "../../engine/plan-cost.ts";
import { Stopping } from "../../engine/process/stopping.ts";
import { requireKnownRuntimes } from "../../engine/runtimes/repertoire.ts";
import { MaestroError } from "../../errors.ts";
import { NEEDS_A_PERSON, signalCodes } from "../../exit-codes.ts";
import { type BaselineCommand, commandsOf } from "../../plan/baseline.ts";
import { drawPlan } from "../../plan/draw.ts";
import type { Plan } from "../../plan/plan.ts";
import type { ValidationReport } from "../../plan/validate.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { readPlan, recordedPlan, rewritePlan } from "../../store/files/plan-file.ts";
import { readSession } from "../../store/read-session.ts";
import { baselineText, withFacts } from "../../views/plan-sections.ts";
import { budgetForecast } from "../../views/text/budget.ts";
import { oneLine } from "../../views/text/cell.ts";
import { chosenBudget, planEstimate } from "../budget.ts";
import { openStore, redactorOf, rosterOf, settingsOf, validateFile, withStore } from "../context.ts";
import { refuseInsideAttempt } from "../inside-attempt.ts";
import { type Io, printJson } from "../io.ts";
import { pricesOf } from "../prices.ts";
import { duration, engineSettings } from "../run/engine-options.ts";
import { mayRunCommands } from "./commands-consent.ts";

export interface ValidateFlags {
  json?: boolean;
  baseline?: boolean;
  baselineTimeout?: string;
  passEnv?: string[];
  write?: boolean;
  yes?: boolean;
}

const DEFAULT_TIMEOUT_MS = 120_000;

export async function validate(io: Io, path: string, flags: ValidateFlags): Promise<number> {
  const settings = settingsOf(io);
  const checked = await validateFile(io, settings, path);
  const plan = checked.report.plan ?? checked.report.mergeable;
  if (plan === undefined || !(flags.baseline || flags.write)) {
    const code = tell(io, settings, path, checked.report, flags);
    requireKnownRuntimes(io, plan?.phases ?? []);
    return code;
  }
  refuseInsideAttempt(io);
  let baseline: BaselineCommand[] | undefined;
  if (flags.baseline) {
    const taken = await take(io, settings, path, plan, flags);
    if (typeof taken === "number") return taken;
    baseline = taken;
  }
  const { report, bytes } = await validateFile(io, settings, path, baseline);
  const code = tell(io, settings, path, report, flags, baseline);
  if (flags.write) write(io, settings, path, { report, plan, bytes, baseline });
  requireKnownRuntimes(io, plan.phases);
  return code;
}

/** The baseline, or the exit code when it was not taken. */
async function take(
  io: Io,
  settings: ResolvedSettings,
  path: string,
  plan: Plan,
  flags: ValidateFlags,
): Promise<BaselineCommand[] | number> {
  const commands = commandsOf(plan.phases);
  const timeoutMs = duration("--baseline-timeout", flags.baselineTimeout, "m", 1) ?? DEFAULT_TIMEOUT_MS;
  const { passEnv, setup } = engineSettings(settings, flags);
  if (commands.length === 0) return [];
  if (!(await mayRunCommands(io, commands, setup, flags))) return NEEDS_A_PERSON;
  const { planBaseline } = await import("../../engine/baseline/plan-baseline.ts");
  const store = openStore(io, settings);
  const stopping = new Stopping();
  let signal: keyof typeof signalCodes | undefined;
  const stopListening = io.onSignal((caught) => {
    signal = caught;
    stopping.stop("stopped");
  });
  try {
    const tellCommand = (command: string) => io.err(`$ ${oneLine(command)}\n`);
    const place = { ...io, store, redact: redactorOf(io), passEnv, setup };
    const taken = await planBaseline(
      { ...place, warn: (message) => io.err(`WARNING: ${message}\n`) },
      { commands, timeoutMs, plan: recordedPlan(io.cwd, path), tell: tellCommand },
      stopping,
    );
    if (taken !== null) return taken;
    io.err("Interrupted; no baseline was taken.\n");
    return signal === undefined ? 1 : signalCodes[signal];
  } finally {
    stopListening();
    store.close();
  }
}

interface Written {
  report: ValidationReport;
  plan: Plan;
  bytes: Uint8Array;
  baseline: BaselineCommand[] | undefined;
}

/** The plan is approved by its hash, so it is written before the approval and never afterwards. */
function write(io: Io, settings: ResolvedSettings, path: string, { report, plan, bytes, baseline }: Written): void {
  const { profile } = report;
  if (profile === null) return;
  withStore(io, settings, (store) => {
    const { path: recorded } = readPlan(store.location, path);
    const read = readSession(store);
    if (read.state === "open" && read.session.implementation_plan === recorded) {
      throw new MaestroError("conflict", `Cannot write to ${recorded}: session ${read.session.session_id} follows it`, {
        hint: 'The user approved exactly this plan. Edit the file, then run "maestro session revise".',
      });
    }
    const costOf = planCost(rosterOf(io).agents, settings.values, pricesOf(io, settings));
    const text = withFacts(Buffer.from(bytes).toString("utf8"), { profile, phases: plan.phases, costOf, baseline });
    rewritePlan(store.location, path, bytes, Buffer.from(text));
    io.err(`Written to ${recorded}\n`);
  });
}

function tell(
  io: Io,
  settings: ResolvedSettings,
  path: string,
  report: ValidationReport,
  { json }: ValidateFlags,
  baseline?: readonly BaselineCommand[],
): number {
  if (json) {
    const { plan: _, mergeable: __, ...published } = report;
    printJson(io, baseline === undefined ? published : { ...published, baseline });
  } else {
    const shown = [
      ...budgetLines(io, settings, report),
      ...(baseline === undefined ? [] : ["", ...baselineText(baseline)]),
    ];
    io.out(`${textLines(path, report, shown).join("\n")}\n`);
  }
  return report.valid ? 0 : 2;
}

/** How the plan's estimate compares with the budget that a run would have. */
function budgetLines(io: Io, settings: ResolvedSettings, { plan }: ValidationReport): string[] {
  const cap = chosenBudget(settings, {});
  if (plan === undefined || cap === undefined) return [];
  return [`budget  ${budgetForecast(cap, planEstimate(io, settings, plan.phases))}`];
}

function textLines(path: string, report: ValidationReport, baseline: readonly string[]): string[] {
  const issues = [
    ...report.errors.map((issue) => `  error   ${issue.code}: ${issue.message}${suggestion(issue)}`),
    ...report.warnings.map((issue) => `  warning ${issue.code}: ${issue.message}${suggestion(issue)}`),
  ];
  if (report.plan === undefined) {
    const count = report.errors.length;
    return [`${path} is not a valid plan: ${count} ${count === 1 ? "error" : "errors"}`, ...issues, ...baseline];
  }
  return [...drawPlan(report.plan, report), ...baseline, ...(issues.length === 0 ? [] : ["", ...issues])];
}

function suggestion(issue: { message: string; suggestion?: string }): string {
  if (issue.suggestion === undefined || issue.message.includes(issue.suggestion)) return "";
  return ` (did you mean "${issue.suggestion}"?)`;
}
