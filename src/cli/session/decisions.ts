// maestro retry, skip, abort and stop: the user's decisions about a session. They are written to the journal, where a running
// engine reads them; only stop signals the engine process.

import { abortSession, skipPhase } from "../../engine/recovery/recover.ts";
import { MaestroError } from "../../errors.ts";
import { type Adjustments, MAX_CRITERIA } from "../../session/events.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { decidePhase } from "../../store/decisions.ts";
import { stopEngine } from "../../store/stop-engine.ts";
import { stripControls } from "../../text.ts";
import { redactorOf, settingsOf, tellUser, withStore } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { duration } from "../run/engine-options.ts";
import { withRecovery } from "./recovery.ts";
import { agentChoice, checkedModel, toldText } from "./retry-texts.ts";

const STOP_PATIENCE_MS = 7_000;

export interface DecisionFlags {
  reason?: string;
  json?: boolean;
}

interface RetryFlags extends DecisionFlags {
  guidance?: string;
  agent?: string;
  model?: string;
  timeout?: string;
  criteria?: string[];
}

export function retry(io: Io, phase: string, flags: RetryFlags): number {
  const settings = settingsOf(io);
  const adjustments = adjustmentsOf(io, flags);
  const agents = () => agentChoice(io, settings);
  const decision = { ...decisionOf(io, settings, phase, flags), adjustments, agents, to: "in_progress" as const };
  const isRunning = withStore(io, settings, (store) => decidePhase(store, decision));
  return tell(io, phase, { status: "in_progress", what: "will be retried", isRunning }, flags);
}

function adjustmentsOf(io: Io, { guidance, agent, model, timeout, criteria }: RetryFlags): Adjustments {
  if (criteria !== undefined && criteria.length > MAX_CRITERIA) {
    throw new MaestroError("usage", `At most ${MAX_CRITERIA} --criteria can be given (got: ${criteria.length})`);
  }
  return {
    guidance: guidance === undefined ? undefined : toldText(io, "--guidance", guidance),
    agent,
    model: checkedModel("--model", model),
    timeout_ms: duration("--timeout", timeout, "m", 1),
    criteria: criteria?.map((one) => toldText(io, "--criteria", one)),
  };
}

export async function skip(io: Io, phase: string, flags: DecisionFlags): Promise<number> {
  const settings = settingsOf(io);
  const decision = decisionOf(io, settings, phase, flags);
  const isRunning = await withRecovery(io, settings, (recovery) => skipPhase(recovery, decision));
  return tell(io, phase, { status: "skipped", what: "is skipped", isRunning }, flags);
}

function decisionOf(io: Io, { values }: ResolvedSettings, phase: string, flags: DecisionFlags) {
  return { phase, reason: recordedReason(io, flags), maxRetries: values.MAESTRO_MAX_RETRIES, now: io.now() };
}

function tell(
  io: Io,
  phase: string,
  { status, what, isRunning }: { status: string; what: string; isRunning: boolean },
  { json }: DecisionFlags,
): number {
  const next = isRunning ? "the running engine applies this" : 'continue with "maestro resume"';
  if (json) printJson(io, { phase, status, engine_running: isRunning });
  else tellUser(io, `Phase ${phase} ${what}; ${next}\n`);
  return 0;
}

export function recordedReason(io: Io, { reason }: DecisionFlags): string | undefined {
  return reason === undefined ? undefined : redactorOf(io)(stripControls(reason));
}

export async function abort(io: Io, flags: DecisionFlags): Promise<number> {
  const reason = recordedReason(io, flags);
  const { id } = await withRecovery(io, settingsOf(io), (recovery) => abortSession(recovery, reason));
  if (flags.json) printJson(io, { session_id: id, status: "failed", aborted: true });
  else tellUser(io, `Session ${id} is aborted. Archive it with "maestro archive".\n`);
  return 0;
}

export async function stop(io: Io, flags: { force?: boolean; json?: boolean }): Promise<number> {
  const location = withStore(io, settingsOf(io), (store) => store.location);
  const late = setTimeout(
    () => io.err('Still waiting for the engine to stop; "maestro stop --force" kills it.\n'),
    STOP_PATIENCE_MS,
  );
  const pid = await stopEngine(location, flags.force).finally(() => clearTimeout(late));
  if (flags.json) printJson(io, { stopped: true, pid });
  else tellUser(io, `Stopped the engine (process ${pid}). Resume with "maestro resume".\n`);
  return 0;
}
