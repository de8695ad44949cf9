// maestro_decide: applies the user's decisions about a run, with the same recovery as the verbs retry, skip, abort, stop, approve, reject and reopen.

import { parseDisabled } from "../../agents/resolve.ts";
import { loadRoster } from "../../agents/roster.ts";
import { parseDuration } from "../../duration.ts";
import type { Recovery } from "../../engine/recovery/recover.ts";
import { MaestroError } from "../../errors.ts";
import { commandLineOf } from "../../extension-path.ts";
import { agentsFolder, programRoot } from "../../program-root.ts";
import { clipText } from "../../prompt/data.ts";
import { requireSession } from "../../session/decide/operation.ts";
import type { AgentChoice } from "../../session/decide/other-agent.ts";
import { MAX_CRITERIA } from "../../session/events.ts";
import { MAX_TOLD_CHARS } from "../../session/retry.ts";
import { decidePhase, reopenPhase } from "../../store/decisions.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { stopEngine } from "../../store/stop-engine.ts";
import { decisionLines } from "../../views/decision/open-decisions.ts";
import type { Answer } from "../answer.ts";
import { agentName, flagField, id, modelField, textField, textsField, timeField } from "../fields.ts";
import { action, type Context, type Tool } from "../tool.ts";

/** Of the block that is shown again. */
const MAX_BLOCK = 1_100;

const reason = textField(10_000).optional();
const user_decision = flagField("the user has said so").optional();

export const decideTool: Tool = {
  name: "maestro_decide",
  description:
    "Apply the user's decision about a run: stop the engine (it can be resumed), retry, skip or reopen a phase, approve or reject reviewed work, abort the session for good. All but stop need user_decision: true.",
  actions: {
    stop: action({ reason, user_decision }, async ({ location }) => {
      const pid = await stopEngine(location);
      return { body: { stopped: true, pid, next: "maestro_run resumes it." } };
    }),
    retry: action(
      {
        phase_id: id(),
        reason,
        guidance: textField(MAX_TOLD_CHARS, "for the next prompt").optional(),
        agent: agentName().optional(),
        model: modelField().optional(),
        timeout: timeField("its attempts may take that long: 90s, 20m").optional(),
        criteria: textsField(MAX_TOLD_CHARS, MAX_CRITERIA, "instead of the plan's").optional(),
        user_decision,
      },
      (context, { timeout, guidance, agent, model, criteria, ...input }) => {
        requireDecision("retry", input.user_decision);
        const adjustments = { guidance, agent, model, timeout_ms: durationOf(timeout), criteria };
        const decision = { ...decisionOf(context, input), adjustments, agents: () => agentChoice(context) };
        const isRunning = decidePhase(context.store, { ...decision, to: "in_progress" });
        return answerAbout(context, input.phase_id, "in_progress", isRunning);
      },
    ),
    approve: action(
      {
        phase_id: id("phase or batch under review"),
        tree: textField(64, "as shown").optional(),
        reason,
        user_decision,
      },
      async (context, { phase_id: name, tree: shown, reason: why, user_decision: isDecided }) => {
        requireDecision("approve", isDecided);
        const { approveReview, approvalRefusal } = await import("../../engine/integrate/review.ts");
        const approval = await approveReview(await recoveryOf(context), { name, shown, reason: why });
        if (approval.kind === "approved") return answerAbout(context, name, "approved", approval.isRunning);
        return shownAgain(context, name, approvalRefusal(approval));
      },
    ),
    reject: action(
      { phase_id: id(), guidance: textField(MAX_TOLD_CHARS, "for the next prompt"), reason, user_decision },
      (context, input) => {
        requireDecision("reject", input.user_decision);
        return reopened(context, { ...input, isRejection: true });
      },
    ),
    reopen: action(
      { phase_id: id(), guidance: textField(MAX_TOLD_CHARS, "for the next prompt").optional(), reason, user_decision },
      (context, input) => {
        requireDecision("reopen", input.user_decision);
        return reopened(context, input);
      },
    ),
    skip: action({ phase_id: id(), reason, user_decision }, async (context, input) => {
      requireDecision("skip", input.user_decision);
      const { skipPhase } = await recoveryRoom();
      const isRunning = await skipPhase(await recoveryOf(context), decisionOf(context, input));
      return answerAbout(context, input.phase_id, "skipped", isRunning);
    }),
    abort: action({ reason, user_decision }, async (context, input) => {
      requireDecision("abort", input.user_decision);
      const { abortSession } = await recoveryRoom();
      const { id: session_id, hasEngineEnded } = await abortSession(await recoveryOf(context), input.reason);
      const revision = context.store.session?.seq ?? 0;
      return { body: { session_id, status: "failed", aborted: true, engine_ended: hasEngineEnded, revision } };
    }),
  },
};

/** The user sees what has changed, and decides again. */
function shownAgain({ store, settings, location }: Context, name: string, why: string): Answer {
  const session = requireSession(store.session);
  const isDriven = runningEngine(location) !== undefined;
  const look = { maxRetries: settings.MAESTRO_MAX_RETRIES, program: commandLineOf(programRoot), isDriven };
  const block = clipText(decisionLines(session, look).join("\n"), MAX_BLOCK);
  const next = "Show the user this block, and ask again.";
  return {
    body: {
      phase_id: name,
      approved: false,
      message: `Cannot approve ${name}: ${why}`,
      block,
      next,
      revision: session.seq,
    },
  };
}

function reopened(
  context: Context,
  input: PhaseInput & { guidance?: string | undefined; isRejection?: boolean },
): Answer {
  const { phase_id: phase, guidance, reason: why, isRejection = false } = input;
  const isRunning = reopenPhase(context.store, { phase, guidance, reason: why, isRejection });
  return answerAbout(context, phase, "in_progress", isRunning);
}

/** Loaded on demand: most servers never recover anything, and the code for git and worktrees is large. */
const recoveryRoom = () => import("../../engine/recovery/recover.ts");

async function recoveryOf({ store, cwd, env, now, warn, beforeEnd }: Context): Promise<Recovery> {
  const { openProject } = await import("../../engine/open-project.ts");
  return {
    store,
    now,
    env,
    open: () => openProject({ cwd, env, location: store.location, beforeSignalEnds: beforeEnd }),
    tell: warn,
    warn: ({ message, hint }) => warn(hint === undefined ? message : `${message}. ${hint}`),
  };
}

interface PhaseInput {
  phase_id: string;
  reason?: string | undefined;
  user_decision?: boolean | undefined;
}

function decisionOf({ settings, now }: Context, { phase_id: phase, reason: why }: PhaseInput) {
  return { phase, reason: why, maxRetries: settings.MAESTRO_MAX_RETRIES, now: now() };
}

function answerAbout(
  { store }: Context,
  phase_id: string,
  to: "in_progress" | "skipped" | "approved",
  isRunning: boolean,
): Answer {
  const yourself = to === "in_progress" ? "delegate it again" : "start what is ready";
  const next = isRunning ? "The engine acts on it." : `maestro_run resumes, or ${yourself}.`;
  const revision = requireSession(store.session).seq;
  return { body: { phase_id, phase_status: to, engine_running: isRunning, next, revision } };
}

function agentChoice({ env, settings }: Context): AgentChoice {
  const { agents } = loadRoster(agentsFolder(env));
  const names = agents.map(({ name }) => name);
  return { agents, disabled: parseDisabled(settings.MAESTRO_DISABLED_AGENTS, names).disabled };
}

function requireDecision(what: string, isDecided: boolean | undefined): void {
  if (isDecided === true) return;
  throw new MaestroError("illegal_transition", `Only the user may ${what}`, {
    hint: "Ask, and pass user_decision: true when the user has said so.",
  });
}

function durationOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const milliseconds = parseDuration(given, "m");
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
  throw new MaestroError("usage", `"timeout" must be a duration (got: ${JSON.stringify(given)})`, {
    hint: "Write it as 90s, 20m or 1h.",
  });
}
