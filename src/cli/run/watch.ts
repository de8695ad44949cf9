// maestro watch: a session that some other process runs, as that process would show it.

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

const LOOK_MS = 250;

export async function watch(io: Io, flags: { json?: boolean }): Promise<number> {
  const store = openStore(io, settingsOf(io));
  const redact = redactorOf(io);
  const state = store.read();
  if (state.state !== "open") {
    throw new MaestroError("environment", "There is nothing to watch: no session is active", {
      hint: 'Start one with "maestro run <plan> --detach".',
    });
  }
  const id = state.session.session_id;
  if (runningEngine(store.location) === undefined) {
    io.out(`No engine is running session ${id} (${state.session.status}). "maestro status" shows where it stands.\n`);
    return 0;
  }
  const pulse: Pulse & { activity: Map<string, string> } = { activity: new Map(), slots: Number.POSITIVE_INFINITY };
  let isLeaving = false;
  const leave = io.onSignal(() => {
    isLeaving = true;
  });
  const hide = showRun(io, store, pulse, flags.json ? "json" : "auto");
  // Told also of what is recorded between the last look and the archive.
  let last: Session = state.session;
  const stop = store.observe((_, session) => {
    last = session;
  });
  for (let isRunning = true; isRunning && !isLeaving && store.session !== undefined; ) {
    listen(store, last, pulse.activity, redact);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    isRunning = runningEngine(store.location) !== undefined;
    store.refresh();
  }
  stop();
  hide();
  leave();
  if (!flags.json && !isLeaving) io.out(`Session ${id}: ${last.status}\n`);
  return 0;
}

/** The last words of what runs. */
function listen(
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
