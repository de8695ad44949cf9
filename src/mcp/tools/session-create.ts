// The action `create` of maestro_session_write: creates the session from a plan file, or from a plan in the call.

import { loadRoster } from "../../agents/roster.ts";
import { MaestroError } from "../../errors.ts";
import { type BaselineCommand, commandsOf, isRed } from "../../plan/baseline.ts";
import { approvedPlan } from "../../plan/mark/approved.ts";
import type { ValidationReport } from "../../plan/validate.ts";
import { agentsFolder } from "../../program-root.ts";
import { executionModes, reviewModes } from "../../session/event-parts.ts";
import { positionOf } from "../../session/position.ts";
import { checkPlan, planNameFault, readPlan, rewritePlan, savePlan } from "../../store/files/plan-file.ts";
import { createSession, type Recorder, refuseSecond } from "../../store/operations.ts";
import type { Answer } from "../answer.ts";
import { Refusal } from "../failure.ts";
import { flagField, textField, verbatim, word } from "../fields.ts";
import type { Context } from "../tool.ts";

/** Fits into one line of the transport. */
const MAX_CONTENT_CHARS = 3_000_000;
const MAX_IDS = 50;

export const planFields = {
  plan_path: textField(4_096).optional(),
  plan_content: verbatim(MAX_CONTENT_CHARS, "the whole plan file").optional(),
  plan_filename: textField(160, "YYYY-MM-DD-<slug>-impl-plan.md").optional(),
  task: textField(100_000, "what the user asked for"),
  execution_mode: word(executionModes).optional(),
  review: word(reviewModes).optional(),
  approved: flagField("the user approved exactly this plan").optional(),
};

export interface PlanInput {
  plan_path?: string | undefined;
  plan_content?: string | undefined;
  plan_filename?: string | undefined;
  task: string;
  execution_mode?: (typeof executionModes)[number] | undefined;
  review?: (typeof reviewModes)[number] | undefined;
  approved?: boolean | undefined;
}

export async function createFrom(context: Context, recorder: Recorder, input: PlanInput): Promise<Answer> {
  const { store, settings, now } = context;
  // Reads and checks the plan before anything is written.
  const at = now();
  const source = sourceOf(context, input, at);
  const report = planReport(context, source.bytes);
  if (report.plan === undefined) throw invalidPlan(report);
  const preset = settings.MAESTRO_EXECUTION_MODE;
  const executionMode = input.execution_mode ?? (preset === "ask" ? null : preset);
  // Checked before the plan is saved: no plan is written for a session that cannot be created.
  recorder.update((session) => ({ events: [], result: refuseSecond(session) }));
  const path = "name" in source ? save(context, source.name, source.bytes) : source.path;
  if ("draft" in source) rewritePlan(context.location, source.given, source.draft, source.bytes);
  const approved = { plan: report.plan, bytes: source.bytes, path, approved: input.approved, review: input.review };
  const { knownBaseline } = await import("../../engine/baseline/plan-baseline.ts");
  const baseline = await knownBaseline(context, { plan: path, commands: commandsOf(report.plan.phases) });
  const session_id = createSession(recorder, { ...approved, task: input.task, executionMode, baseline, now: at });
  const { session } = store;
  const ready = session === undefined ? [] : positionOf(session).ready;
  return {
    body: {
      session_id,
      implementation_plan: path,
      execution_mode: executionMode,
      ...(input.approved ? { approved: true } : {}),
      total_phases: report.plan.phases.length,
      ready: ready.slice(0, MAX_IDS),
      ...(baseline === undefined ? {} : { baseline_red: baseline.filter(isRed).length }),
      plan_warnings: report.warnings.slice(0, MAX_IDS),
      revision: session?.seq ?? 0,
    },
    rest: "maestro_session_read and maestro_validate_plan have the rest.",
  };
}

/** The plan as it is recorded: in a file, in a file that the approval changes (`draft` is what it holds now), or to be saved. */
type Source =
  | { path: string; bytes: Buffer }
  | { path: string; bytes: Buffer; given: string; draft: Buffer }
  | { name: string; bytes: Buffer };

function sourceOf({ location }: Context, input: PlanInput, at: Date): Source {
  const { plan_path, plan_content, plan_filename, approved } = input;
  const marked = (text: string) => Buffer.from(approved ? approvedPlan(text, at) : text);
  if (plan_path !== undefined && plan_content === undefined && plan_filename === undefined) {
    const read = readPlan(location, plan_path);
    const bytes = approved ? marked(read.bytes.toString("utf8")) : read.bytes;
    return bytes.equals(read.bytes) ? read : { path: read.path, bytes, given: plan_path, draft: read.bytes };
  }
  if (plan_path !== undefined || plan_content === undefined || plan_filename === undefined) {
    throw new MaestroError("usage", "A session is created from plan_path, or from plan_content and plan_filename", {
      hint: "Pass one or the other, not both.",
    });
  }
  const fault = planNameFault(plan_filename);
  if (fault !== undefined) {
    const hint = "Use a plain name such as 2026-02-14-task-api-impl-plan.md, without a directory.";
    throw new MaestroError("path", fault, { hint });
  }
  return { bytes: marked(plan_content), name: plan_filename };
}

/** Validates the plan against the available agents. */
export function planReport(
  { env, settings, location, redact }: Context,
  bytes: Uint8Array,
  baseline?: readonly BaselineCommand[],
): ValidationReport {
  const roster = loadRoster(agentsFolder(env));
  const { MAESTRO_DISABLED_AGENTS: disabledAgents, MAESTRO_BUDGET: budget } = settings;
  return checkPlan(bytes, { location, roster, disabledAgents, redact, baseline, budget });
}

export function invalidPlan(report: ValidationReport): Refusal {
  const { length } = report.errors;
  return new Refusal("invalid_plan", `The plan is not valid: ${length} ${length === 1 ? "error" : "errors"}`, {
    hint: "Correct them and call again. maestro_validate_plan checks a file without changing anything.",
    details: { errors: report.errors },
  });
}

function save({ location, store }: Context, name: string, bytes: Uint8Array): string {
  const write = () => savePlan(location, name, bytes);
  // Without a state directory neither a lock nor another process to conflict with exists.
  return store.locked(write) ?? write();
}
