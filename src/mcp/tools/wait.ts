// maestro_wait: returns when something that the user should hear has happened in the run, at the latest after the given time. Read-only;
// waiting costs next to nothing, and ends with the request, the input or the server.

import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { refuseDecision } from "../../engine/process/inside-attempt.ts";
import { errno, MaestroError } from "../../errors.ts";
import { commandLineOf } from "../../extension-path.ts";
import { programRoot } from "../../program-root.ts";
import { clipText } from "../../prompt/data.ts";
import { noSession } from "../../session/decide/operation.ts";
import { positionOf } from "../../session/position.ts";
import type { Session } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { readSession } from "../../store/read-session.ts";
import { seenSession } from "../../store/seen-session.ts";
import { decisionLines, openDecisions, undecided } from "../../views/decision/open-decisions.ts";
import type { NewsItem } from "../../views/record/news.ts";
import { type Answer, bytesOf, fitting, MAX_ANSWER_BYTES } from "../answer.ts";
import { choice, countField } from "../fields.ts";
import { nextStep } from "../next-step.ts";
import { action, type Context, ONLY, type Tool } from "../tool.ts";

const DEFAULT_SECONDS = 240;
/** The client gives up a call after ten minutes. */
const MAX_SECONDS = 570;
/** Finds an engine that was killed, and changes that the system does not report. */
const POLL_MS = 800;
/** Changes of the state directory come in bursts. */
const SETTLE_MS = 25;
const PROGRESS_MS = 5_000;
const MAX_BLOCK = 700;
const MAX_NAMED = 8;
/** What an answer has besides its events and the state of the run, in bytes. */
const FRAME_BYTES = 100;

const goals = ["phase", "decision", "end"] as const;

export const wait: Tool = {
  name: "maestro_wait",
  description:
    "Wait for the run: returns when a phase ended, a decision of the user is open or the run is over, with one line per event since the last wait.",
  actions: {
    [ONLY]: action(
      {
        seconds: countField(`at most; default ${DEFAULT_SECONDS}`).optional(),
        until: choice(goals, "default phase").optional(),
        since: countField("a revision: repeat what happened after it").optional(),
      },
      waitFor,
    ),
  },
};

interface Input {
  seconds?: number | undefined;
  until?: (typeof goals)[number] | undefined;
  since?: number | undefined;
}

/** Why a wait is over: what happened, or the time is up. */
type Why = "phase" | "decision" | "end" | "time";

async function waitFor(
  context: Context,
  { seconds = DEFAULT_SECONDS, until = "phase", since }: Input,
): Promise<Answer> {
  // An attempt that waits for its own run would never get an answer.
  refuseDecision(context.env, context.location);
  const first = sessionOf(context);
  const from = since ?? context.news.begin(first);
  const milliseconds = Math.min(seconds, MAX_SECONDS) * 1000;
  const why = (await reached(context, milliseconds, () => reasonOf(context, until, from))) ?? "time";
  const session = currentSession(context);
  const { seq } = session ?? first;
  // A cancelled wait has told nothing.
  if (!context.signal.aborted) context.news.told(seq);
  const state = session === undefined ? gone : stateOf(context, session);
  const events = eventsOf(context.news.after(from), MAX_ANSWER_BYTES - FRAME_BYTES - bytesOf(state));
  return { body: { ended: why, ...events, ...state, since: seq } };
}

function sessionOf({ store }: Context): Session {
  const read = readSession(store);
  if (read.state === "broken") throw new MaestroError("parse_failed", `The session cannot be read: ${read.reason}`);
  if (read.state === "none") throw noSession();
  return read.session;
}

const gone = { session: "archived or removed" };

/** Undefined after another process has archived it. */
function currentSession({ store, location, now }: Context): Session | undefined {
  return store.session === undefined ? undefined : seenSession(location, store.session, now());
}

/** Undefined while nothing has happened that ends the wait. */
function reasonOf(context: Context, until: Input["until"], from: number): Why | undefined {
  context.store.refresh();
  const { session } = context.store;
  if (session === undefined) return "end";
  if (undecided(session).length > 0) return "decision";
  if (runningEngine(context.location) === undefined) return "end";
  const isOver = ({ ended }: NewsItem) => ended !== undefined && hasStayed(session, ended);
  return until === "phase" && context.news.after(from).some(isOver) ? "phase" : undefined;
}

/** A failed phase that is retried has not ended. */
function hasStayed(session: Session, { phase, as }: NonNullable<NewsItem["ended"]>): boolean {
  return session.phases.some(({ id, status }) => id === phase && status === as);
}

/** Resolves with the reason as soon as `reason` returns one; with undefined when the time is up or the call is over. */
function reached(context: Context, milliseconds: number, reason: () => Why | undefined): Promise<Why | undefined> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    let settling: NodeJS.Timeout | undefined;
    let watcher: FSWatcher | undefined;
    const finish = (end: () => void) => {
      clearTimeout(settling);
      clearTimeout(deadline);
      clearInterval(poll);
      clearInterval(beat);
      watcher?.close();
      context.signal.removeEventListener("abort", abort);
      end();
    };
    const abort = () => finish(() => resolve(undefined));
    const check = () => {
      settling = undefined;
      try {
        const why = reason();
        if (why !== undefined) finish(() => resolve(why));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const deadline = setTimeout(abort, milliseconds);
    const poll = setInterval(check, POLL_MS);
    const beat = setInterval(() => tellProgress(context, performance.now() - begun, milliseconds), PROGRESS_MS);
    context.signal.addEventListener("abort", abort);
    watcher = watched(context, () => {
      settling ??= setTimeout(check, SETTLE_MS);
    });
    if (context.signal.aborted) abort();
    else check();
  });
}

/** Undefined where the system cannot watch the directory: then only the poll finds changes. */
function watched({ location }: Context, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(join(location.root, ...location.components, "state"), changed);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}

function tellProgress(context: Context, elapsed: number, milliseconds: number): void {
  const session = currentSession(context);
  const message = session === undefined ? "" : doneText(session);
  context.progress?.(Math.round(elapsed / 1000), Math.round(milliseconds / 1000), message);
}

function doneText(session: Session): string {
  const { counts } = positionOf(session);
  return `${counts.completed + counts.skipped} of ${session.total_phases} phases done`;
}

/** The newest events that fit, oldest first. */
function eventsOf(news: readonly NewsItem[], room: number): object {
  const lines = news.map(({ line }) => line).reverse();
  const shown = news.length === 0 ? [] : fitting(lines, room);
  const earlier = lines.length - shown.length;
  return { events: shown.reverse(), ...(earlier === 0 ? {} : { earlier_events: earlier }) };
}

function stateOf(context: Context, session: Session): object {
  const engine = runningEngine(context.location) ?? null;
  const running = session.phases.filter(({ status }) => status === "in_progress");
  const named = running.slice(0, MAX_NAMED).map(({ id, agents }) => `${id} (${agents.join(", ")})`);
  const decision = decisionOf(context, session);
  return {
    session: doneText(session),
    ...(engine === null ? { engine: null } : { engine: engine.pid, running: named }),
    ...(decision === undefined ? {} : { decision }),
    ...(engine === null && decision === undefined ? { next: nextStep(session, positionOf(session), engine) } : {}),
  };
}

function lookOf({ location, settings }: Context) {
  const isDriven = runningEngine(location) !== undefined;
  return { maxRetries: settings.MAESTRO_MAX_RETRIES, program: commandLineOf(programRoot), isDriven };
}

/** The first open decision, with the block for the user. */
function decisionOf(context: Context, session: Session): object | undefined {
  const look = lookOf(context);
  const [first] = openDecisions(session, look, 1);
  if (first === undefined) return undefined;
  const { message: _, phases = [], options, ...about } = first;
  const block = clipText(decisionLines(session, look).join("\n"), MAX_BLOCK);
  const covered = phases.length === 0 ? {} : { phases: phases.slice(0, MAX_NAMED) };
  return { ...about, ...covered, options: options.map(({ name }) => name), block };
}
