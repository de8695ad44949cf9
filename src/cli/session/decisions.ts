// maestro retry, skip, abort, stop: what a person decides about a session. Decisions go into the journal; an engine that runs
// sees them there. Only stop speaks to the engine itself.

import { abortSession, decidePhase } from "../../store/decisions.ts";
import { engineGone, stopEngine } from "../../store/stop-engine.ts";
import { stripControls } from "../../text.ts";
import { redactorOf, settingsOf, withStore } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { duration } from "../run/engine-options.ts";
import { SETTLE_TURNS, type Settled, settle, warn } from "./tidy.ts";

const STOP_PATIENCE_MS = 7_000;

interface DecisionFlags {
  reason?: string;
  json?: boolean;
}

export function retry(io: Io, phase: string, flags: DecisionFlags & { timeout?: string }): number {
  return decide(io, phase, "in_progress", flags, duration("--timeout", flags.timeout, "m", 1));
}

export async function skip(io: Io, phase: string, flags: DecisionFlags): Promise<number> {
  const code = decide(io, phase, "skipped", flags);
  await settle(io, settingsOf(io), false);
  return code;
}

function decide(
  io: Io,
  phase: string,
  to: "in_progress" | "skipped",
  flags: DecisionFlags,
  timeoutMs?: number,
): number {
  const settings = settingsOf(io);
  const { MAESTRO_MAX_RETRIES: maxRetries } = settings.values;
  const reason = reasonOf(io, flags);
  const isRunning = withStore(io, settings, (store) =>
    decidePhase(store, { phase, to, reason, maxRetries, now: io.now(), timeoutMs }),
  );
  const what = to === "skipped" ? "is skipped" : "will be tried again";
  const next = isRunning ? "the running engine takes it up" : 'go on with "maestro resume"';
  if (flags.json) printJson(io, { phase, status: to, engine_running: isRunning });
  else io.out(`Phase ${phase} ${what}; ${next}\n`);
  return 0;
}

function reasonOf(io: Io, { reason }: DecisionFlags): string | undefined {
  return reason === undefined ? undefined : redactorOf(io)(stripControls(reason));
}

export async function abort(io: Io, flags: DecisionFlags): Promise<number> {
  const reason = reasonOf(io, flags);
  const settings = settingsOf(io);
  const { id, location } = withStore(io, settings, (store) => ({
    id: abortSession(store, reason, io.now()),
    location: store.location,
  }));
  // Somebody may have been about to resume it: that one sees the decision, and ends.
  let isGone = await engineGone(location);
  let settled: Settled = "busy";
  for (let turn = 0; turn < SETTLE_TURNS && isGone && settled === "busy"; turn++) {
    settled = await settle(io, settings, true);
    isGone = await engineGone(location);
  }
  if (!isGone || settled === "busy") io.err("WARNING: The engine has not ended yet\n");
  if (typeof settled !== "string") warn(io, settled);
  if (flags.json) printJson(io, { session_id: id, status: "failed", aborted: true });
  else io.out(`Session ${id} is aborted. "maestro archive" puts it away.\n`);
  return 0;
}

export async function stop(io: Io, flags: { force?: boolean; json?: boolean }): Promise<number> {
  const location = withStore(io, settingsOf(io), (store) => store.location);
  const late = setTimeout(() => io.err('Still ending; "maestro stop --force" does not wait.\n'), STOP_PATIENCE_MS);
  const pid = await stopEngine(location, flags.force).finally(() => clearTimeout(late));
  if (flags.json) printJson(io, { stopped: true, pid });
  else io.out(`Stopped the engine (process ${pid}). Go on with "maestro resume".\n`);
  return 0;
}
