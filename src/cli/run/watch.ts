// maestro watch: shows a session that another process is running, as that process would show it.

import { MaestroError } from "../../errors.ts";
import { phaseState } from "../../session/phase/phase-state.ts";
import { isDelegated } from "../../session/seen.ts";
import type { Session } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { seenSession } from "../../store/seen-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { decisionLines } from "../../views/decision/open-decisions.ts";
import { decisionLook, openStore, redactorOf, settingsOf, tellUser } from "../context.ts";
import type { Io } from "../io.ts";
import { RunningOutput } from "../work/running-output.ts";
import { duration } from "./engine-options.ts";
import { type Pulse, showRun } from "./show.ts";

const POLL_MS = 250;

export interface WatchFlags {
  json?: boolean;
  wait?: string;
}

export async function watch(io: Io, flags: WatchFlags): Promise<number> {
  const waitMs = duration("--wait", flags.wait, "s", 0) ?? 0;
  const settings = settingsOf(io);
  const store = openStore(io, settings);
  const output = new RunningOutput(store.location, redactorOf(io), io.env);
  let isLeaving = false;
  const stopListening = io.onSignal(() => {
    isLeaving = true;
  });
  const isWorking = () => runningEngine(store.location) !== undefined || hasDelegated(store, io.now());
  const isReady = () => store.read().state === "open" && isWorking();
  const until = performance.now() + waitMs;
  if (!isReady() && waitMs > 0) io.err("Waiting for an engine\n");
  while (!isReady() && !isLeaving && performance.now() < until) await pause();
  const state = store.read();
  if (state.state !== "open" || !isWorking()) {
    stopListening();
    if (isLeaving) return 0;
    if (state.state === "open") return notRunning(io, state.session);
    throw new MaestroError("environment", "Nothing to watch: no session is active", {
      hint: 'Start one with "maestro run <plan> --detach".',
    });
  }
  const pulse: Pulse = { activity: new Map(), tokens: new Map(), slots: Number.POSITIVE_INFINITY };
  const hide = showRun(io, store, pulse, flags.json ? "json" : "auto");
  // The observer also sees events that are recorded between the last poll and the archiving.
  let last: Session = state.session;
  const stop = store.observe((_, session) => {
    last = session;
  });
  for (let isRunning = true; isRunning && !isLeaving && store.session !== undefined; ) {
    Object.assign(pulse, output.read(last));
    await pause();
    store.refresh();
    isRunning = isWorking();
  }
  stop();
  hide();
  stopListening();
  if (flags.json || isLeaving) return 0;
  tellUser(io, `${endLine(last)}\n`);
  for (const line of decisionLines(last, decisionLook(io, settings))) io.out(`${line}\n`);
  return 0;
}

/** What is watched may also end by `kill -9`: then the journal has no end of the run. */
function endLine(session: Session): string {
  const { session_id: id, status } = session;
  const next = 'Resume it with "maestro resume".';
  if (status === "interrupted") return `Session ${id}: ${status}. ${next}`;
  const cutOff = session.phases.filter((phase) => phaseState(session, phase, false) === "interrupted");
  if (status !== "in_progress" || cutOff.length === 0) return `Session ${id}: ${status}`;
  const ids = cutOff.slice(0, 10).map((phase) => phase.id);
  const more = cutOff.length > ids.length ? ", ..." : "";
  return `Session ${id}: nothing runs it any more. Interrupted: phase ${ids.join(", ")}${more}. ${next}`;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

function notRunning(io: Io, { session_id, status }: Session): number {
  tellUser(io, `No engine is running session ${session_id} (${status}). See its progress with "maestro status".\n`);
  return 0;
}

/** Whether the agent of a native delegation is running. */
function hasDelegated(store: SessionStore, now: Date): boolean {
  const { session } = store;
  return session !== undefined && seenSession(store.location, session, now).phases.some(isDelegated);
}
