// The state of the page, as signals: the records, the moment that is shown, and the frame that every view draws from. Nothing here talks to
// the server.

import { batch, computed, effect, signal } from "@preact/signals";
import { asSeen } from "../../session/seen.ts";
import type { Session } from "../../session/session.ts";
import type { Prices } from "../../views/report/prices.ts";
import { criticalPath } from "../model/critical.ts";
import type { SessionSummary } from "../model/found.ts";
import { type Need, needsOf } from "../model/needs.ts";
import { Replay } from "../model/replay.ts";
import { home, type Route, readRoute, routeText } from "../model/route.ts";
import type { Layout, LivePulse, Overview } from "../model/wire.ts";

export type Connection = "starting" | "live" | "ended" | "lost" | "refused" | "report";

export const replay = new Replay();
/** Changes with every batch of records. */
export const version = signal(0);
export const route = signal<Route>(readRoute(location.hash));
export const overview = signal<Overview | null>(null);
export const layout = signal<Layout | null>(null);
export const idlePulse: LivePulse = { driven: false, activity: {}, tokens: {}, lost: [] };
export const pulse = signal(idlePulse);
export const connection = signal<Connection>("starting");
export const clock = signal(Date.now());
export const filter = signal("");
export const isPrinting = signal(false);
/** A message that goes away by itself. */
export const notice = signal<{ text: string; isError: boolean } | null>(null);

export const sessions = computed<SessionSummary[]>(() => overview.value?.sessions ?? []);
export const prices = computed<Prices>(() => new Map(overview.value?.prices ?? []));

/** The session that the page shows: the one of the address, or else the first. */
export const sessionId = computed(() => route.value.session ?? sessions.value[0]?.id ?? null);

export interface Frame {
  session: Session;
  /** How many records it contains. */
  count: number;
  isLive: boolean;
  isDriven: boolean;
  /** Up to when attempts run. */
  now: number;
  /** Waits are measured against it: they last although no engine runs. */
  present: number;
  needs: Need[];
}

/** The session at the moment that is shown. A new object for every change, because the fold changes the session in place. */
export const frame = computed<Frame | null>(() => {
  version.value;
  const { seq } = route.value;
  const isLive = seq === null;
  const count = isLive ? replay.records.length : replay.countOf(seq);
  const folded = replay.at(Math.max(1, count));
  if (folded === undefined) return null;
  const { lost, driven } = pulse.value;
  const session = isLive && lost.length > 0 ? asSeen(folded, ({ phase }) => !lost.includes(phase.id)) : folded;
  // A past moment belongs to a run, according to the journal.
  const isDriven = isLive ? driven : session.status === "in_progress";
  const updated = Date.parse(session.updated);
  const now = isLive && isDriven ? clock.value : updated;
  const present = isLive ? clock.value : updated;
  return {
    session,
    count,
    isLive,
    isDriven,
    now,
    present,
    needs: needsOf(session, {
      maxRetries: overview.value?.max_retries ?? 2,
      now: present,
      refused: replay.refused.filter(({ seq }) => seq <= session.seq),
    }),
  };
});

/** Phases beyond which figures and the critical path wait until the moment has rested: scrubbing must stay smooth. */
const LARGE = 300;
const REST_MS = 120;

/** The frame for what takes long to find. */
export const rested = signal<Frame | null>(null);
let restTimer: ReturnType<typeof setTimeout> | undefined;

effect(() => {
  const now = frame.value;
  clearTimeout(restTimer);
  if (now === null || rested.peek() === null || now.session.phases.length < LARGE) rested.value = now;
  else
    restTimer = setTimeout(() => {
      rested.value = frame.peek();
    }, REST_MS);
});

export const critical = computed<{ ids: ReadonlySet<string>; ms: number }>(() => {
  const now = rested.value;
  if (now === null) return { ids: new Set(), ms: 0 };
  const { ids, ms } = criticalPath(now.session, new Date(now.now));
  return { ids: new Set(ids), ms };
});

export const selected = computed(() => {
  const { phase } = route.value;
  const session = frame.value?.session;
  return phase === null || session === undefined ? null : (session.phases.find(({ id }) => id === phase) ?? null);
});

/** As the style says: on a narrow screen the selected phase is shown alone. */
const narrow = matchMedia("(max-width: 900px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});
export const isAlone = computed(() => isNarrow.value && route.value.phase !== null);

/** Changes the address; the fields that are not given stay. */
export function go(change: Partial<Route>, isSmall = false): void {
  const next = { ...route.value, ...change };
  if (change.phase !== undefined && change.phase !== route.value.phase) {
    if (change.attempt === undefined) next.attempt = null;
    if (change.line === undefined) next.line = null;
    if (change.phase === null) next.tab = home.tab;
  }
  route.value = next;
  const text = routeText(next);
  // Moving through time would fill the history of the browser.
  if (isSmall) history.replaceState(null, "", text);
  else history.pushState(null, "", text);
}

export function linkTo(change: Partial<Route>): string {
  return routeText({ ...route.value, attempt: null, line: null, ...change });
}

export function addRecords(records: Parameters<Replay["add"]>[0]): void {
  replay.add(records);
  batch(() => {
    version.value = version.peek() + 1;
    clock.value = Date.now();
  });
}

export function clearRecords(): void {
  replay.clear();
  layout.value = null;
  pulse.value = idlePulse;
  version.value = version.peek() + 1;
}

export function tell(text: string, isError = false): void {
  notice.value = { text, isError };
  setTimeout(() => {
    if (notice.value?.text === text) notice.value = null;
  }, 6000);
}
