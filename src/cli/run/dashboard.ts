// maestro dashboard: serves the page of the project's sessions on 127.0.0.1 until it is stopped, is idle, or its terminal is closed.

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Answers } from "../../dashboard/answers.ts";
import { type FeedOptions, RecordFeed } from "../../dashboard/feed.ts";
import { openPage } from "../../dashboard/open-page.ts";
import { readPage } from "../../dashboard/page.ts";
import { Dashboard } from "../../dashboard/server.ts";
import { workPatch } from "../../engine/kept-work.ts";
import { isInsideAttempt } from "../../engine/process/inside-attempt.ts";
import { MaestroError } from "../../errors.ts";
import { isDelegated } from "../../session/seen.ts";
import { lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { seenSession } from "../../store/seen-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { openStore, settingsOf } from "../context.ts";
import { type Io, printJsonLine } from "../io.ts";
import { pricesOf } from "../prices.ts";
import { requireRepository, workedAttempt } from "../work/kept-work.ts";
import { RunningOutput } from "../work/running-output.ts";
import { duration } from "./engine-options.ts";

const POLL_MS = 250;
const PULSE_MS = 1_000;
/** Beside this program, in dist/. */
const pageFile = fileURLToPath(new URL("./dashboard.html", import.meta.url));

interface DashboardFlags {
  port?: string;
  open?: boolean;
  control?: boolean;
  idle?: string;
  json?: boolean;
  /** Started by a run: ends when its standard input does. */
  withParent?: boolean;
}

export async function dashboard(io: Io, flags: DashboardFlags): Promise<number> {
  const port = portOf(flags.port);
  const idleMs = duration("--idle", flags.idle, "m", 1) ?? Number.POSITIVE_INFINITY;
  const settings = settingsOf(io);
  const store = openStore(io, settings);
  refuseInside(io, store, flags);
  const complain = (error: unknown) =>
    io.err(`ERROR: This is a defect in Maestro, please report it.\n${error instanceof Error ? error.stack : error}\n`);
  const output = new RunningOutput(store.location, store.redact, io.env);
  const feed = new RecordFeed({
    store,
    pulse: (session) => pulseOf(io, store, output, session),
    warn: (message) => io.err(`WARNING: ${message}\n`),
  });
  const answers = answersOf(io, settings, store, feed, { control: flags.control === true, complain });
  const server = new Dashboard({ port, page: readPage(pageFile), answers, complain });
  feed.poll();
  await server.start();
  try {
    // Listens before the address is printed: a program may stop the dashboard as soon as it has read the address.
    const end = untilEnd(io, server, feed, idleMs, flags);
    await announce(io, server, flags);
    await end;
    return 0;
  } finally {
    await server.close();
    answers.close();
    store.close();
  }
}

async function announce(io: Io, server: Dashboard, flags: DashboardFlags): Promise<void> {
  const url = server.newAddress();
  if (flags.json) printJsonLine(io, { url, port: server.port, pid: process.pid });
  else {
    io.out(`The dashboard is at\n\n  ${url}\n\n`);
    io.out("Its code works once; other tabs of the same browser do not need it. ");
    io.out(
      flags.control
        ? "The page can change the run. Stop it with Ctrl-C.\n"
        : "The page only reads. Stop it with Ctrl-C.\n",
    );
  }
  if (!flags.open) return;
  const page = `http://127.0.0.1:${server.port}/`;
  const isOpened = await openPage(page);
  if (!isOpened) io.err(`WARNING: Cannot open ${page}; open the address above yourself\n`);
  else io.err("The page that opens asks for the code: the part of the address after #code=\n");
}

/** Returns on a signal, when nothing has asked for anything for so long, and when the parent has ended. */
async function untilEnd(
  io: Io,
  server: Dashboard,
  feed: RecordFeed,
  idleMs: number,
  flags: DashboardFlags,
): Promise<void> {
  const timers: NodeJS.Timeout[] = [];
  let stopListening: () => void = () => undefined;
  await new Promise<void>((resolve, reject) => {
    const guarded = (work: () => void) => () => {
      try {
        work();
      } catch (error) {
        reject(error);
      }
    };
    stopListening = io.onSignal(() => resolve());
    if (flags.withParent) void io.readStdin().then(() => resolve(), reject);
    timers.push(
      setInterval(
        guarded(() => feed.poll()),
        POLL_MS,
      ),
    );
    const pulse = guarded(() => {
      if (server.hasPages) feed.readPulse();
      if (server.idleMs() <= idleMs) return;
      if (!flags.json) io.err("The dashboard was idle and stopped\n");
      resolve();
    });
    timers.push(setInterval(pulse, Math.min(PULSE_MS, idleMs)));
  }).finally(() => {
    stopListening();
    for (const timer of timers) clearInterval(timer);
  });
}

function answersOf(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  feed: RecordFeed,
  { control, complain }: { control: boolean; complain: (error: unknown) => void },
): Answers {
  const { MAESTRO_MAX_CONCURRENT: slots, MAESTRO_MAX_RETRIES: maxRetries } = settings.values;
  return new Answers({
    location: store.location,
    feed,
    redact: store.redact,
    overview: {
      control,
      slots: slots === 0 ? null : slots,
      max_retries: maxRetries,
      prices: [...pricesOf(io, settings)],
      project: basename(store.location.projectRoot),
    },
    patch: (session, phase, attempt) => patchOf(io, store, session, phase, attempt),
    cwd: io.cwd,
    env: io.env,
    now: io.now,
    complain,
  });
}

/** By the recorded objects, after checking that the repository still has them. */
async function patchOf(
  io: Io,
  store: SessionStore,
  session: Session,
  phase: SessionPhase,
  number: number,
): Promise<string> {
  const attempt = workedAttempt(phase, String(number));
  if (attempt === undefined) {
    throw new MaestroError("not_found", `No recorded changes for attempt ${number} of phase ${phase.id}`);
  }
  const repository = await requireRepository(io, store.location, { phase: phase.id });
  return (await workPatch(repository, session.session_id, { phase: phase.id, attempt })).patch.toString("utf8");
}

function pulseOf(
  io: Io,
  store: SessionStore,
  output: RunningOutput,
  session: Session,
): ReturnType<FeedOptions["pulse"]> {
  const seen = seenSession(store.location, session, io.now());
  const { activity, tokens } = output.read(session);
  return {
    driven: runningEngine(store.location) !== undefined || seen.phases.some(isDelegated),
    activity: Object.fromEntries(activity),
    tokens: Object.fromEntries(tokens),
    lost: seen === session ? [] : seen.phases.filter((phase) => lastAttempt(phase)?.lost).map(({ id }) => id),
  };
}

/** An agent must not serve the page of its own session, and must not get to decide by it. */
function refuseInside(io: Io, store: SessionStore, { withParent, control }: DashboardFlags): void {
  // A run starts the dashboard as its own child, like its agents, but without their marks.
  const location = withParent && !control ? undefined : store.location;
  if (!isInsideAttempt(io.env, location)) return;
  throw new MaestroError("environment", "This is an attempt of Maestro: it cannot start the dashboard", {
    hint: "The user starts it at a terminal.",
  });
}

function portOf(given: string | undefined): number {
  if (given === undefined) return 0;
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new MaestroError("usage", `--port must be a number from 0 to 65535 (got: ${given})`, {
    hint: "0 takes any free port.",
  });
}
