// The limit of one credential, shared by all sessions that use it: how long nothing starts, and how many attempts may run then. Times are
// wall-clock milliseconds, because the sessions are different processes. Pure.

import { isObject } from "../../shape.ts";

export interface SharedLimit {
  /** Nothing starts before this time. */
  until: number;
  /** How many attempts of all sessions together may run then. */
  slots: number;
  /** How many ran when the provider first rejected one: with as many slots the limit is over. */
  full: number;
  /** The first rejection since the last success; null after a success. */
  since: number | null;
}

/** A limit is forgotten when nothing happened for so long after its wait. */
const FORGET_MS = 10 * 60_000;
/** A longer wait is a mistake, or the clock was set back. */
const LONGEST_MS = 24 * 3_600_000;

/** The provider has rejected an attempt until `until`; `running` counts those of all sessions, with the rejected one. */
export function afterRefusal(
  limit: SharedLimit | null,
  { now, until, running }: { now: number; until: number; running: number },
): SharedLimit {
  const ends = Math.min(until, now + LONGEST_MS);
  if (limit === null) {
    return { until: ends, slots: half(running), full: Math.max(2, running), since: now };
  }
  const since = limit.since ?? now;
  // The rest of a burst: these attempts ran when the first one was rejected.
  if (now < limit.until) return { ...limit, since, until: Math.max(limit.until, ends) };
  return { ...limit, since, until: Math.max(limit.until, ends), slots: half(Math.min(limit.slots, running)) };
}

/** An attempt has succeeded; null when the limit is over. */
export function afterSuccess(limit: SharedLimit, now: number): SharedLimit | null {
  // It was launched before the wait, so it does not show that more attempts are possible.
  if (now < limit.until) return { ...limit, since: null };
  const slots = limit.slots + 1;
  return slots >= limit.full ? null : { ...limit, slots, since: null };
}

export function isForgotten({ until }: SharedLimit, now: number): boolean {
  return now > until + FORGET_MS || until > now + LONGEST_MS;
}

/** How many attempts may start now when `running` run in all sessions. */
export function roomIn(limit: SharedLimit, now: number, running: number): number {
  return now < limit.until ? 0 : Math.max(0, limit.slots - running);
}

/** Null when the text is not a limit: a file of another version, or one that was cut off. */
export function readLimit(value: unknown): SharedLimit | null {
  if (!isObject(value) || value.v !== 1) return null;
  const { until, slots, full, since } = value;
  const areNumbers = [until, slots, full].every((one) => Number.isFinite(one) && (one as number) >= 0);
  if (!areNumbers || !(since === null || Number.isFinite(since))) return null;
  return { until, slots: Math.max(1, slots as number), full, since } as SharedLimit;
}

function half(running: number): number {
  return Math.max(1, Math.floor(running / 2));
}
