// What the queue contains for an attempt: names only. Everything else is in the order, in the exchange. No secret, no command line and no
// address may be added here: every program that reaches the queue can read it.

import { type CommitId, objectIdForm } from "../../ids.ts";
import * as is from "../../shape.ts";
import { type AttemptKey, attemptKeyForm } from "./attempt-key.ts";

export const MAX_JOB_BYTES = 4096;

const job = is.object({
  v: is.only(1),
  key: is.matching<AttemptKey>(attemptKeyForm, "the key of an attempt"),
  /** The order's commit. */
  order: is.matching<CommitId>(objectIdForm, "an object id"),
  /** The engine that waits for it, also after it was restarted. */
  home: is.matching(/^[0-9a-f]{16}$/, "16 hexadecimal digits"),
});

export type Job = is.TypeOf<typeof job>;

/** Undefined for anything that is not a job of this protocol. */
export function readJob(data: unknown): Job | undefined {
  if (Buffer.byteLength(JSON.stringify(data) ?? "") > MAX_JOB_BYTES) return undefined;
  return job(data) === undefined ? (data as Job) : undefined;
}
