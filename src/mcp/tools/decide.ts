// maestro_decide: applies the user's decisions about a run, with the same recovery as the verbs retry, skip, abort and stop.

import { parseDuration } from "../../duration.ts";
import type { Recovery } from "../../engine/recovery/recover.ts";
import { MaestroError } from "../../errors.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { decidePhase } from "../../store/decisions.ts";
import { stopEngine } from "../../store/stop-engine.ts";
import type { Answer } from "../answer.ts";
import { flagField, id, textField, timeField } from "../fields.ts";
import { action, type Context, type Tool } from "../tool.ts";

const reason = textField(10_000).optional();
const user_decision = flagField("the user has said so").optional();

export const decide: Tool = {
  name: "maestro_decide",
  description:
    "Apply the user's decision about a run: stop the engine (it can be resumed), retry or skip a phase, abort the session for good. All but stop need user_decision: true.",
  actions: {
    stop: action({ reason, user_decision }, async ({ location }) => {
      const pid = await stopEngine(location);
      return { body: { stopped: true, pid, next: 'Run "maestro resume".' } };
    }),
    retry: action(
      {
        phase_id: id(),
        reason,
        timeout: timeField("its attempts may take that long: 90s, 20m").optional(),
        user_decision,
      },
      (context, input) => {
        requireDecision("retry", input.user_decision);
        const timeoutMs = durationOf(input.timeout);
        const isRunning = decidePhase(context.store, { ...decisionOf(context, input), to: "in_progress", timeoutMs });
        return answerAbout(context, input.phase_id, "in_progress", isRunning);
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

/** Loaded on demand: most servers never recover anything, and the code for git and worktrees is large. */
const recoveryRoom = () => import("../../engine/recovery/recover.ts");

async function recoveryOf({ store, cwd, env, now, warn, beforeEnd }: Context): Promise<Recovery> {
  const { openProject } = await import("../../engine/open-project.ts");
  return {
    store,
    now,
    open: () => openProject({ cwd, env, beforeSignalEnds: beforeEnd }),
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

function answerAbout({ store }: Context, phase_id: string, to: "in_progress" | "skipped", isRunning: boolean): Answer {
  const yourself = to === "skipped" ? "start what is ready" : "delegate it again";
  const next = isRunning ? "The engine acts on it." : `Run "maestro resume", or ${yourself}.`;
  const revision = requireSession(store.session).seq;
  return { body: { phase_id, phase_status: to, engine_running: isRunning, next, revision } };
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
