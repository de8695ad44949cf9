// maestro_decide: applies the user's decisions about a run, usually one that an engine in another process is running.

import { parseDuration } from "../../duration.ts";
import { MaestroError } from "../../errors.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { abortSession, decidePhase } from "../../store/decisions.ts";
import { engineGone, stopEngine } from "../../store/stop-engine.ts";
import type { Answer } from "../answer.ts";
import { flag, id, text, time } from "../fields.ts";
import { action, type Context, type Tool } from "../tool.ts";

const reason = text(10_000).optional();
const user_decision = flag("the user has said so").optional();

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
      { phase_id: id(), reason, timeout: time("its attempts may take that long: 90s, 20m").optional(), user_decision },
      (context, input) => decideAbout(context, "in_progress", input, durationOf(input.timeout)),
    ),
    skip: action({ phase_id: id(), reason, user_decision }, (context, input) =>
      decideAbout(context, "skipped", input, undefined),
    ),
    abort: action({ reason, user_decision }, async ({ store, location, now }, input) => {
      requireDecision("abort", input.user_decision);
      const session_id = abortSession(store, input.reason, now());
      const isGone = await engineGone(location);
      const revision = store.session?.seq ?? 0;
      return { body: { session_id, status: "failed", aborted: true, engine_ended: isGone, revision } };
    }),
  },
};

interface PhaseInput {
  phase_id: string;
  reason?: string | undefined;
  user_decision?: boolean | undefined;
}

function decideAbout(
  { store, settings, now }: Context,
  to: "in_progress" | "skipped",
  { phase_id, reason: why, user_decision: isDecided }: PhaseInput,
  timeoutMs: number | undefined,
): Answer {
  requireDecision(to === "skipped" ? "skip" : "retry", isDecided);
  const { MAESTRO_MAX_RETRIES: maxRetries } = settings;
  const isRunning = decidePhase(store, { phase: phase_id, to, reason: why, timeoutMs, maxRetries, now: now() });
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
