// The keys and channels that Maestro uses in Redis beside those of BullMQ. All begin with "maestro:", so that one rule of an access list
// covers them.

import { PROTOCOL } from "./queue-name.ts";

/** BullMQ's own prefix. */
export const PREFIX = "maestro";

/** The names of all queues that engines have used. */
export const QUEUES = `maestro:queues:v${PROTOCOL}`;
/** A message means that a queue may have work. */
export const WAKE = `maestro:wake:v${PROTOCOL}`;
/** The key of an attempt that its worker must stop. */
export const CANCEL = `maestro:cancel:v${PROTOCOL}`;

/** Set while an attempt is to be stopped: a worker that missed the message finds it. */
export function cancelKey(key: string): string {
  return `maestro:cancelled:${key}`;
}

/** Renewed by a running engine; workers stop attempts whose engine has been gone for long. */
export function engineKey(home: string): string {
  return `maestro:engine:${home}`;
}

/** Where an engine listens for signs. */
export function signChannel(home: string): string {
  return `maestro:signs:${home}`;
}

/** What a worker says about itself; it expires with the worker. */
export function workerKey(id: string): string {
  return `maestro:worker:v${PROTOCOL}:${id}`;
}

export const WORKERS = `maestro:workers:v${PROTOCOL}`;
