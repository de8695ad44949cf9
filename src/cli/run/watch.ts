// maestro watch: shows a session that another process is running, as that process would show it.

import { MaestroError } from "../../errors.ts";
import { findPhase, type Session } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { Batch } from "../../store/files/batch.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { stripControls } from "../../text.ts";
import { openStore, redactorOf, settingsOf } from "../context.ts";
import type { Io } from "../io.ts";
import { batchPath } from "../work/results.ts";
import { type Pulse, showRun } from "./show.ts";

const POLL_MS = 250;

export async function watch(io: Io, flags: { json?: boolean }): Promise<number> {
  const store = openStore(io, settingsOf(io));
  const redact = redactorOf(io);
  const state = store.read();
  if (state.state !== "open") {
    throw new MaestroError("environment", "Nothing to watch: no session is active", {
      hint: 'Start one with "maestro run <plan> --detach".',
    });
  }
  const id = state.session.session_id;
  if (runningEngine(store.location) === undefined) {
    io.out(`No engine is running session ${id} (${state.session.status}). See its progress with "maestro status".\n`);
    return 0;
  }
  const pulse: Pulse & { activity: Map<string, string> } = { activity: new Map(), slots: Number.POSITIVE_INFINITY };
  let isLeaving = false;
  const stopListening = io.onSignal(() => {
    isLeaving = true;
  });
  const hide = showRun(io, store, pulse, flags.json ? "json" : "auto");
  // The observer also sees events that are recorded between the last poll and the archiving.
  let last: Session = state.session;
  const stop = store.observe((_, session) => {
    last = session;
  });
  for (let isRunning = true; isRunning && !isLeaving && store.session !== undefined; ) {
    readActivity(store, last, pulse.activity, redact);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    isRunning = runningEngine(store.location) !== undefined;
    store.refresh();
  }
  stop();
  hide();
  stopListening();
  if (!flags.json && !isLeaving) io.out(`Session ${id}: ${last.status}\n`);
  return 0;
}

/** Updates the activity of each running phase to the last line of its attempt's log. */
function readActivity(
  store: SessionStore,
  session: Session,
  activity: Map<string, string>,
  redact: (text: string) => string,
): void {
  activity.clear();
  for (const id of session.running) {
    const attempt = findPhase(session, id)?.attempts.at(-1);
    if (attempt === undefined || attempt.result !== null) continue;
    const batch = new Batch(batchPath(store.location, attempt.batch), attempt.batch);
    try {
      const line = stripControls(batch.read(attempt.name, "log", 500))
        .trimEnd()
        .split("\n")
        .at(-1)
        ?.trim();
      if (line) activity.set(id, redact(line));
    } finally {
      batch.close();
    }
  }
}
