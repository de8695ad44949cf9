// The names of queues: attempts that any of the same workers may run share one. The version of the protocol is part of the name, so that
// programs of different protocol versions never share a queue.

export const PROTOCOL = 1;

/** What a worker must offer to run the attempts of a queue. */
export interface QueueClass {
  runtime: string;
  /** The kind of credential that its attempts use: the name of a variable, or "login". */
  pool: string;
  /** Labels that the worker must have. */
  needs: readonly string[];
}

/** What a worker offers. */
export interface Offer {
  runtimes: string[];
  labels: string[];
}

/** BullMQ takes no colon; a blank cannot be in any of the parts. */
export function queueName({ runtime, pool, needs }: QueueClass): string {
  const parts = [`v${PROTOCOL}`, runtime, pool, [...new Set(needs)].sort().join("+")];
  return parts.map(encoded).join(" ");
}

/** Undefined for the name of another version, or of another program. */
export function readQueueName(name: string): QueueClass | undefined {
  const parts = name.split(" ");
  const [version, runtime, pool, needs] = parts.map(decoded);
  if (parts.length !== 4 || version !== `v${PROTOCOL}`) return undefined;
  if (runtime === undefined || pool === undefined || needs === undefined) return undefined;
  return { runtime, pool, needs: needs === "" ? [] : needs.split("+") };
}

export function serves({ runtimes, labels }: Offer, { runtime, needs }: QueueClass): boolean {
  return runtimes.includes(runtime) && needs.every((label) => labels.includes(label));
}

function encoded(part: string): string {
  return part.replace(/[^\w.+-]/gu, (char) => Buffer.from(char).toString("hex").replace(/../g, "%$&"));
}

/** Undefined for text that `encoded` cannot produce. */
function decoded(part: string): string | undefined {
  const bytes = part.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const text = /[^ -~]/.test(bytes) ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
  return encoded(text) === part ? text : undefined;
}
