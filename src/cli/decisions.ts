// maestro retry, skip, abort, stop: what a person decides about a session. Decisions go into the journal; an engine that runs
// sees them there. Only stop speaks to the engine itself.

import { hostname } from "node:os";
import { errno, MaestroError } from "../errors.ts";
import { requirePhase, requireSession } from "../session/decide.ts";
import { decideAbort } from "../session/decide-attempt.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { movePhase } from "../store/operations.ts";
import type { SessionStore } from "../store/session-store.ts";
import { stripControls } from "../text.ts";
import { redactorOf, settingsOf, withStore } from "./context.ts";
import { duration } from "./engine-options.ts";
import { type Io, printJson } from "./io.ts";

const STOP_WAIT_MS = 60_000;
const STOP_PATIENCE_MS = 7_000;

interface DecisionFlags {
  reason?: string;
  json?: boolean;
}

export function retry(io: Io, phase: string, flags: DecisionFlags & { timeout?: string }): number {
  return decide(io, phase, "in_progress", flags, duration("--timeout", flags.timeout, "m", 1));
}

export function skip(io: Io, phase: string, flags: DecisionFlags): number {
  return decide(io, phase, "skipped", flags);
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
  const isRunning = withStore(io, settings, (store) => {
    if (to === "in_progress") refuseUnfailed(store, phase);
    store.read();
    // An engine that has recorded the end of its run does not look again.
    const isLooking = store.session?.status === "in_progress";
    movePhase(store, { phase, to, userDecision: true, reason, maxRetries, now: io.now(), timeoutMs });
    return isLooking && runningEngine(store.location) !== undefined;
  });
  const what = to === "skipped" ? "is skipped" : "will be tried again";
  const next = isRunning ? "the running engine takes it up" : 'go on with "maestro resume"';
  if (flags.json) printJson(io, { phase, status: to, engine_running: isRunning });
  else io.out(`Phase ${phase} ${what}; ${next}\n`);
  return 0;
}

function reasonOf(io: Io, { reason }: DecisionFlags): string | undefined {
  return reason === undefined ? undefined : redactorOf(io)(stripControls(reason));
}

/** Whatever else can start starts by itself. */
function refuseUnfailed(store: SessionStore, id: string): void {
  store.read();
  const { status } = requirePhase(requireSession(store.session), id);
  if (status === "failed") return;
  throw new MaestroError(
    "illegal_transition",
    `Phase ${id} is ${status.replace("_", " ")}: only a failed phase is retried`,
    {
      hint: 'Go on with "maestro resume", which starts what is ready or was interrupted.',
    },
  );
}

export async function abort(io: Io, flags: DecisionFlags): Promise<number> {
  const reason = reasonOf(io, flags);
  const { id, store } = withStore(io, settingsOf(io), (opened) => {
    opened.update((current) => {
      const session = requireSession(current);
      if (session.status === "completed" || session.aborted) {
        const what = session.aborted ? "was aborted already" : "is completed";
        throw new MaestroError("illegal_transition", `Session ${session.session_id} ${what}`, {
          hint: 'Put it away with "maestro archive".',
        });
      }
      return { events: decideAbort(session, reason, io.now()), result: undefined };
    });
    return { id: requireSession(opened.session).session_id, store: opened };
  });
  if (!(await engineGone(store))) io.err("WARNING: The engine has not ended yet\n");
  if (flags.json) printJson(io, { session_id: id, status: "failed", aborted: true });
  else io.out(`Session ${id} is aborted. "maestro archive" puts it away.\n`);
  return 0;
}

export async function stop(io: Io, flags: { force?: boolean; json?: boolean }): Promise<number> {
  const { store, owner } = withStore(io, settingsOf(io), (opened) => ({
    store: opened,
    owner: runningEngine(opened.location),
  }));
  if (owner === undefined) throw new MaestroError("environment", "There is nothing to stop: no engine is running");
  if (owner.host !== hostname()) {
    throw new MaestroError("environment", `The engine runs on ${owner.host} (process ${owner.pid}): stop it there`);
  }
  signal(owner.pid, flags.force ? "SIGKILL" : "SIGTERM");
  const late = setTimeout(() => io.err('Still ending; "maestro stop --force" does not wait.\n'), STOP_PATIENCE_MS);
  const isGone = await engineGone(store);
  clearTimeout(late);
  if (!isGone) {
    throw new MaestroError("environment", `Process ${owner.pid} does not end`, {
      hint: '"maestro stop --force" kills it; its agents end with it.',
    });
  }
  if (flags.json) printJson(io, { stopped: true, pid: owner.pid });
  else io.out(`Stopped the engine (process ${owner.pid}). Go on with "maestro resume".\n`);
  return 0;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errno(error) !== "ESRCH") throw error;
  }
}

/** Waits until no engine runs the session any more; false when it takes too long. */
async function engineGone(store: SessionStore): Promise<boolean> {
  for (const deadline = performance.now() + STOP_WAIT_MS; performance.now() < deadline; ) {
    if (runningEngine(store.location) === undefined) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
