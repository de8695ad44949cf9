// The name of an attempt outside its machine: in the queue, and as the references of its order and its delivery in the exchange.

import { createHash } from "node:crypto";

export interface KeyedAttempt {
  /** The id of the run that started it. */
  run: string;
  phase: string;
  attempt: number;
}

/** A path component, a job id and part of a reference: it reveals nothing about the plan. */
export type AttemptKey = string;

export const attemptKeyForm = /^[0-9a-f]{16}-[0-9a-f]{12}-[0-9]{1,6}$/;

export function attemptKey({ run, phase, attempt }: KeyedAttempt): AttemptKey {
  return `${run}-${createHash("sha256").update(phase).digest("hex").slice(0, 12)}-${attempt}`;
}

const ROOT = "refs/maestro-exchange";

/** The reference of the order. */
export function inRef(key: AttemptKey): string {
  return `${ROOT}/in/${key}`;
}

/** The reference of the delivery; the worker that creates it has delivered the attempt. */
export function outRef(key: AttemptKey): string {
  return `${ROOT}/out/${key}`;
}
