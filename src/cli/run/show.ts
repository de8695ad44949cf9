// Shows the progress of a run: a live table on a terminal, plain lines elsewhere, events as JSON Lines on request.

import type { TimedEvent } from "../../session/fold.ts";
import { seenSession } from "../../store/seen-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { forecast } from "../../views/live/forecast.ts";
import { type Live, liveFrame } from "../../views/live/live.ts";
import { progressLine } from "../../views/live/progress.ts";
import { type Io, printJsonLine } from "../io.ts";
import { paint } from "../paint.ts";

export type Display = "auto" | "json" | "none";

const FRAME_MS = 250;

/** The live state of a run that the journal does not record. */
export interface Pulse {
  activity: ReadonlyMap<string, string>;
  tokens: ReadonlyMap<string, number>;
  slots: number;
}

/** How far the bar was drawn: it does not go back, also when it is shown again. */
interface BarPosition {
  done: number;
}

/** Starts showing the session; returns a function that stops it. */
export function showRun(
  io: Io,
  store: SessionStore,
  pulse: Pulse,
  display: Display,
  shown: BarPosition = { done: 0 },
): () => void {
  if (display === "none") return () => undefined;
  if (display === "json") return store.observe((event) => printJsonLine(io, plain(event)));
  if (io.screen() === undefined) return showLines(io, store);
  return showTable(io, store, pulse, shown);
}

/** Lines of events that arrive in the same turn of the event loop are written together. */
function showLines(io: Io, store: SessionStore): () => void {
  let lines = "";
  const flush = () => {
    if (lines !== "") io.err(lines);
    lines = "";
  };
  const stop = store.observe((event, session) => {
    const line = progressLine(event, session);
    if (line === null) return;
    if (lines === "") setImmediate(flush);
    lines += `${line}\n`;
  });
  return () => {
    stop();
    flush();
  };
}

function showTable(io: Io, store: SessionStore, pulse: Pulse, shown: BarPosition): () => void {
  const frames = io.frames();
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    const started = performance.now();
    const size = io.screen();
    if (store.session !== undefined && size !== undefined) {
      const session = seenSession(store.location, store.session, io.now());
      const live = liveOf(io, pulse, shown.done);
      shown.done = Math.max(shown.done, forecast(session, live.now, live.slots).done);
      frames.draw(liveFrame(session, live, paint(io.color), size));
    }
    // Drawing takes at most a tenth of the time, even for a plan with thousands of phases.
    timer = setTimeout(draw, Math.max(FRAME_MS, 10 * (performance.now() - started)));
  };
  draw();
  return () => {
    clearTimeout(timer);
    draw();
    clearTimeout(timer);
    frames.close();
  };
}

function liveOf(io: Io, { activity, tokens, slots }: Pulse, shownDone: number): Live {
  return { activity, tokens, slots: Number.isFinite(slots) ? slots : null, shownDone, now: io.now() };
}

/** The event without the fields that only the journal needs. */
function plain(event: TimedEvent): object {
  const { v: _, crc: __, more: ___, ...rest } = event as TimedEvent & { v?: number; crc?: string; more?: true };
  return rest;
}
