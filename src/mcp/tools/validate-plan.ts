// maestro_validate_plan: validates a plan and estimates its run. With `baseline` it runs the plan's validation commands on a snapshot, with
// `write` it writes profile, cost and baseline into the plan file.

import { isDeepStrictEqual } from "node:util";
import { loadRoster } from "../../agents/roster.ts";
import { planCost } from "../../engine/plan-cost.ts";
import { Stopping } from "../../engine/process/stopping.ts";
import { requireKnownRuntimes } from "../../engine/runtimes/repertoire.ts";
import { MaestroError } from "../../errors.ts";
import { type BaselineCommand, baselineList, commandsOf, isRed, resultText } from "../../plan/baseline.ts";
import { MAX_TEXT_CHARS, type PlanPhase } from "../../plan/plan.ts";
import type { ValidationReport } from "../../plan/validate.ts";
import { agentsFolder } from "../../program-root.ts";
import { passedNames } from "../../runtimes/environment.ts";
import { readPlan, rewritePlan } from "../../store/files/plan-file.ts";
import { readPrices } from "../../store/files/prices-file.ts";
import { readSession } from "../../store/read-session.ts";
import { withFacts } from "../../views/plan-sections.ts";
import { isEstimated } from "../../views/report/estimate.ts";
import type { Answer } from "../answer.ts";
import { briefValidation } from "../brief/brief-validation.ts";
import { Refusal } from "../failure.ts";
import { allOrListField, flagField, textField } from "../fields.ts";
import { action, type Context, ONLY, type Tool } from "../tool.ts";
import { planReport } from "./session-create.ts";

const COMMAND_LIMIT_MS = 120_000;
/** The client gives up a call after ten minutes. */
const CALL_LIMIT_MS = 480_000;
/** More than the largest plan has. */
const MAX_COMMANDS = 20_000;
const MAX_RED = 4;
const MAX_SHOWN_CHARS = 60;

export const validatePlanTool: Tool = {
  name: "maestro_validate_plan",
  description:
    "Check an implementation plan file: errors, warnings, dependency graph, execution profile, estimate of time, tokens and cost. baseline runs its validation commands on a snapshot; write puts profile, cost and baseline into the plan.",
  actions: {
    [ONLY]: action(
      {
        plan_path: textField(4_096),
        baseline: allOrListField(MAX_TEXT_CHARS, MAX_COMMANDS, "true: the commands of the plan"),
        write: flagField("before the user approves the plan").optional(),
        full: flagField("all of it").optional(),
      },
      check,
    ),
  },
};

interface Input {
  plan_path: string;
  /** A list is what the user's confirmation showed: the BeforeTool hook puts it there. */
  baseline?: true | string[] | undefined;
  write?: boolean | undefined;
  full?: boolean | undefined;
}

async function check(context: Context, input: Input): Promise<Answer> {
  const { bytes, path } = readPlan(context.location, input.plan_path);
  const first = planReport(context, bytes);
  const phases = (first.plan ?? first.mergeable)?.phases;
  requireKnownRuntimes(context, phases ?? []);
  const wanted = phases !== undefined && (input.baseline !== undefined || input.write === true);
  if (!wanted) return { body: bodyOf(context, first, input.full === true), full: input.full };
  const baseline = input.baseline === undefined ? undefined : await take(context, path, phases, input.baseline);
  const report = planReport(context, bytes, baseline);
  const body = bodyOf(context, report, input.full === true);
  if (input.write) write(context, input.plan_path, { path, bytes, report, phases, baseline });
  const { dependency_graph: _, execution_profile: __, ...few } = body;
  const shown = {
    ...(baseline === undefined ? {} : { baseline: input.full ? baseline : briefly(baseline) }),
    ...(input.write ? { written: path } : {}),
  };
  return { body: { ...shown, ...(input.full ? body : few) }, full: input.full };
}

function bodyOf(context: Context, report: ValidationReport, full: boolean) {
  const { valid, errors, warnings, dependency_graph, profile } = report;
  const whole = { valid, errors, warnings, dependency_graph, execution_profile: profile };
  return { ...(full ? whole : briefValidation(report)), estimate: estimateOf(context, report) };
}

async function take(
  context: Context,
  plan: string,
  phases: readonly PlanPhase[],
  listed: true | readonly string[],
): Promise<BaselineCommand[]> {
  const { settings, beforeEnd, signal, redact } = context;
  // Redacted as in the arguments: a command with a secret is not run, neither here nor in a session.
  const commands = commandsOf(phases).map(redact);
  const setup = settings.MAESTRO_WORKTREE_SETUP;
  if (listed !== true) refuseOthers(baselineList(phases, setup).map(redact), listed);
  if (commands.length === 0) return [];
  const { planBaseline } = await import("../../engine/baseline/plan-baseline.ts");
  const stopping = new Stopping();
  const stop = () => stopping.stop("stopped");
  const cancel = beforeEnd(stop);
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) stop();
    const passEnv = passedNames(settings.MAESTRO_PASS_ENV);
    const place = { ...context, passEnv, setup };
    const until = performance.now() + CALL_LIMIT_MS;
    const taken = await planBaseline(place, { commands, timeoutMs: COMMAND_LIMIT_MS, until, plan }, stopping);
    if (taken === null)
      throw new MaestroError(
        "environment",
        "The baseline was stopped: the call was cancelled, or the server is stopping",
      );
    return taken;
  } finally {
    signal.removeEventListener("abort", stop);
    cancel();
  }
}

/** The dialog of the CLI shows the arguments of a call and nothing else, so a list must name everything that runs. */
function refuseOthers(run: readonly string[], listed: readonly string[]): void {
  if (isDeepStrictEqual(trimmed(run), trimmed(listed))) return;
  throw new Refusal("usage", "baseline must list exactly the commands that it runs: the user confirms what is listed", {
    hint: "Call it again with baseline set to these commands. The plan has them in full.",
    details: { commands: run },
  });
}

function trimmed(commands: readonly string[]): Set<string> {
  return new Set(commands.map((command) => command.trim()));
}

/** Counts what passes, and shows what does not, each with its first failing line. */
function briefly(baseline: readonly BaselineCommand[]) {
  const red = baseline.filter(isRed);
  const shown = red.slice(0, MAX_RED).map((one) => ({
    command: one.command.slice(0, MAX_SHOWN_CHARS),
    result: resultText(one),
    ...(one.failing?.[0] === undefined ? {} : { line: one.failing[0].slice(0, MAX_SHOWN_CHARS) }),
  }));
  return { passes_already: baseline.length - red.length, red: red.length, commands: shown };
}

interface Facts {
  path: string;
  bytes: Uint8Array;
  report: ValidationReport;
  phases: readonly PlanPhase[];
  baseline: BaselineCommand[] | undefined;
}

function write(context: Context, given: string, { path, bytes, report, phases, baseline }: Facts): void {
  const { profile } = report;
  if (profile === null) return;
  const read = readSession(context.store);
  if (read.state === "open" && read.session.implementation_plan === path) {
    throw new MaestroError("conflict", `Cannot write to ${path}: session ${read.session.session_id} follows it`, {
      hint: "The user approved exactly this plan.",
    });
  }
  const text = withFacts(Buffer.from(bytes).toString("utf8"), { profile, phases, costOf: costIn(context), baseline });
  rewritePlan(context.location, given, bytes, Buffer.from(text));
}

/** Null when the phases cannot be ordered. */
function estimateOf(context: Context, { profile, plan }: ValidationReport) {
  if (profile === null) return null;
  const { estimated_minutes: minutes, estimated_tokens: tokens, estimate_basis, total_phases } = profile;
  const cost = plan === undefined ? null : costIn(context)(plan.phases);
  const basis = `${estimate_basis} of ${total_phases} phases have a time estimate`;
  return { minutes, tokens, cost_usd: cost, basis, ...(cost === null ? { cost_note: whyNoCost(plan?.phases) } : {}) };
}

/** What these phases cost with the models of their agents, in US dollars; null when that is not known. */
export function costIn({ env, settings, cwd }: Context): (phases: readonly PlanPhase[]) => number | null {
  return planCost(loadRoster(agentsFolder(env)).agents, settings, readPrices(cwd, settings.MAESTRO_PRICES));
}

function whyNoCost(phases: readonly PlanPhase[] | undefined): string {
  if (phases === undefined) return "The plan is not valid.";
  return isEstimated(phases)
    ? "A model has no known price: set MAESTRO_DEFAULT_MODEL, or MAESTRO_PRICES."
    : "Not every phase has an estimate of its tokens.";
}
