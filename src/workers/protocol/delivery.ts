// The delivery: how an attempt ended on a worker. What it printed and its work are beside it, in the same commit.

import { usage } from "../../session/event-parts.ts";
import * as is from "../../shape.ts";
import { attemptKeyForm } from "./attempt-key.ts";
import { parsed } from "./order.ts";

const MAX_MESSAGE = 20_000;

const metered = is.object({ usage: is.list(usage, 100), requests: is.integer(0) });
type MeteredUsage = is.TypeOf<typeof metered>;

const delivery = is.object({
  v: is.only(1),
  key: is.matching(attemptKeyForm, "the key of an attempt"),
  worker: is.text(200),
  /**
   * `ended`: the agent ran. `unprepared`: its directory could not be prepared. `refused`: the worker cannot run such an order; nothing was
   * spent.
   */
  kind: is.oneOf(["ended", "unprepared", "refused"]),
  /** Why, for all but `ended`. */
  message: is.text(MAX_MESSAGE),
  code: is.nullable(is.integer(0, 255)),
  killed: is.nullable(is.oneOf(["timeout", "stopped", "output_too_large", "over_budget"])),
  /** Why the agent's process could not be started. */
  failure: is.nullable(is.text(MAX_MESSAGE)),
  duration_ms: is.integer(0),
  /** Repositories that the agent made in its directory: their files cannot travel. */
  nested: is.list(is.path, 100),
  /** What the setup command changed and the agent left alone. */
  setup: is.list(is.path),
  /** What its transcript says that it used; the transcript stays on the worker. */
  metered: is.nullable(metered),
  /** Why its work is not part of the delivery: the exchange did not accept it. */
  withheld: is.nullable(is.text(MAX_MESSAGE)),
  /** What could not be read. */
  warnings: is.list(is.text(2000), 100),
});

export type DeliveryNote = is.TypeOf<typeof delivery>;

/** The delivery, or what is wrong with it. */
export function readDelivery(bytes: Uint8Array): { delivery: DeliveryNote } | { fault: string } {
  const value = parsed(bytes);
  const fault = delivery(value);
  return fault === undefined ? { delivery: value as DeliveryNote } : { fault: is.faultText(fault, "the delivery") };
}

/** What a transcript says, or null when an engine would not read it: a transcript can have anything. */
export function readable(made: MeteredUsage | null): MeteredUsage | null {
  return made === null || metered(made) !== undefined ? null : made;
}

/** A message that fits. */
export function shortened(message: string): string {
  return message.slice(0, MAX_MESSAGE);
}
