// Whether queue and exchange can be reached now: asked before a session exists, so that a wrong address leaves none behind.

import type { Repository } from "../../git/repository.ts";
import type { Exchange } from "../exchange/address.ts";
import { find } from "../exchange/transport.ts";
import { inRef } from "../protocol/attempt-key.ts";
import { connect } from "../queue/connection.ts";
import type { QueueAddress } from "../queue/queue-address.ts";

/** A reference that does not exist: only whether it can be asked for matters. */
const NO_REF = inRef("none");

export async function requireExchange(repository: Repository, exchange: Exchange): Promise<void> {
  await find(repository, exchange, [NO_REF]);
}

export async function requireReachable(
  repository: Repository,
  { address, exchange }: { address: QueueAddress; exchange: Exchange },
): Promise<void> {
  const asked = connect(address, () => undefined).then((connection) => connection.disconnect());
  await Promise.all([asked, requireExchange(repository, exchange)]);
}
