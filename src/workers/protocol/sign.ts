// "Signs": a worker's messages to the waiting engine about a running attempt. They are hints: each may be lost, and none decides how an
// attempt ended.

import { type CommitId, objectIdForm } from "../../ids.ts";
import * as is from "../../shape.ts";
import { attemptKeyForm } from "./attempt-key.ts";

const MAX_SIGN_BYTES = 2048;
const MAX_LINE = 200;

const sign = is.object({
  key: is.matching(attemptKeyForm, "the key of an attempt"),
  worker: is.text(200),
  /** The order was claimed, is finished, or runs. */
  kind: is.oneOf(["claimed", "finished", "running"]),
  /** The delivery's commit, when it is finished. */
  commit: is.optional(is.matching<CommitId>(objectIdForm, "an object id")),
  /** The last line of its activity, redacted by the worker. */
  activity: is.optional(is.text(MAX_LINE)),
  tokens: is.optional(is.integer(0)),
  /** The provider rejected a request; the wait that it asked for. */
  quota: is.optional(is.object({ retry_after_ms: is.nullable(is.integer(0, 366 * 86_400_000)) })),
});

export type WorkerSign = is.TypeOf<typeof sign>;

export function signText(made: WorkerSign): string {
  return JSON.stringify({
    ...made,
    ...(made.activity === undefined ? {} : { activity: made.activity.slice(0, MAX_LINE) }),
  });
}

/** Undefined for anything that is not a sign. */
export function readSign(text: string): WorkerSign | undefined {
  if (text.length > MAX_SIGN_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return sign(value) === undefined ? (value as WorkerSign) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
