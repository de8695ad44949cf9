// The connection to the queue's server. Only this folder talks to it. A lost connection is made again for as long as the program runs; what
// must not wait for it has a clock of its own.

import { Redis, type RedisOptions } from "ioredis";
import { MaestroError, reasonOf } from "../../errors.ts";
import type { QueueAddress } from "./queue-address.ts";

const FIRST_MS = 10_000;
const MAX_RETRY_MS = 1000;

/** Throws when the server cannot be reached now. */
export async function connect(address: QueueAddress, warn: (message: string) => void): Promise<Redis> {
  const { protocol, hostname, port, username, pathname } = new URL(address.url);
  const options: RedisOptions = {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || 6379,
    db: Number(pathname.slice(1)) || 0,
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(protocol === "rediss:" ? { tls: {} } : {}),
    lazyConnect: true,
    // BullMQ requires it: commands wait for the connection.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), MAX_RETRY_MS),
    connectTimeout: FIRST_MS,
  };
  const connection = new Redis({ ...options, retryStrategy: () => null });
  let last: unknown;
  connection.on("error", (error: unknown) => {
    last = error;
  });
  try {
    await connection.connect();
    // Without this a database that does not exist would be replaced by the first one, silently.
    if (options.db !== 0) await connection.select(options.db ?? 0);
  } catch (error) {
    connection.disconnect();
    throw unreachable(address, last ?? error);
  }
  connection.options.retryStrategy = options.retryStrategy ?? null;
  connection.removeAllListeners("error");
  tellProblems(connection, warn);
  return connection;
}

/** A second connection to the same server, for messages: such a connection takes no other commands. */
export function forMessages(connection: Redis): Redis {
  const own = connection.duplicate();
  own.on("error", () => undefined);
  return own;
}

/** Says once that the connection is lost, and once that it is back. */
function tellProblems(connection: Redis, warn: (message: string) => void): void {
  let isLost = false;
  connection.on("error", (error: unknown) => {
    if (!isLost) warn(`The queue cannot be reached: ${reasonOf(error)}. Trying again`);
    isLost = true;
  });
  connection.on("ready", () => {
    if (isLost) warn("The queue can be reached again");
    isLost = false;
  });
}

function unreachable({ url }: QueueAddress, error: unknown): MaestroError {
  const reason = reasonOf(error);
  const hint = hintFor(reason);
  return new MaestroError("environment", `Cannot reach the queue at ${url}: ${reason}`, { hint });
}

function hintFor(reason: string): string {
  if (/NOAUTH|WRONGPASS|NOPERM/.test(reason)) return "Give the password in MAESTRO_QUEUE_PASSWORD.";
  if (/CERT|SIGNATURE|ALTNAME/.test(reason))
    return "Name the file with its certificate authority in NODE_EXTRA_CA_CERTS.";
  return 'Start Redis or Valkey there, or check the address. "maestro doctor" checks it.';
}
