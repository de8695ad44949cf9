// Opens what an engine needs to run attempts on workers. This file and what it imports load only with --workers.

import { createHash } from "node:crypto";
import type { AttemptRuns } from "../../engine/attempt/attempt-run.ts";
import type { Remote } from "../../engine/run-context.ts";
import type { StateLocation } from "../../store/location.ts";
import type { Exchange } from "../exchange/address.ts";
import type { LeaseTimes } from "../protocol/lease.ts";
import { connect } from "../queue/connection.ts";
import { EngineQueue } from "../queue/engine-queue.ts";
import type { QueueAddress } from "../queue/queue-address.ts";
import type { Sender } from "./offer.ts";
import { remoteOf } from "./remote.ts";
import { Station } from "./station.ts";

export interface RemoteOptions {
  address: QueueAddress;
  exchange: Exchange;
  sender: Sender;
  times: LeaseTimes;
  /** How many attempts run on this machine beside those of workers. */
  localSlots: number;
  /** The wait for quota when the provider names none. */
  quotaBaseMs: number;
  location: StateLocation;
  session: string;
  warn: (message: string) => void;
}

export interface OpenRemote {
  remote: Remote & AttemptRuns;
  close: () => Promise<void>;
}

/** Throws when the queue cannot be reached. */
export async function openRemote(options: RemoteOptions): Promise<OpenRemote> {
  const { address, exchange, sender, times, warn, location, session } = options;
  const home = createHash("sha256")
    .update([location.root, ...location.components, session].join("\0"))
    .digest("hex")
    .slice(0, 16);
  const queue = new EngineQueue(await connect(address, warn), home, times, warn);
  const station = new Station({ queue, exchange, sender, times, home, quotaBaseMs: options.quotaBaseMs, warn });
  await queue.open((sign) => station.hear(sign));
  return { remote: remoteOf(station, options.localSlots), close: () => queue.close() };
}
