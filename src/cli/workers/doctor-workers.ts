// The part of `maestro doctor` about workers: key, queue and exchange. It connects to the queue only when one is configured.

import { MaestroError, reasonOf } from "../../errors.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { shellWord } from "../../text.ts";
import { connect } from "../../workers/queue/connection.ts";
import type { QueueAddress } from "../../workers/queue/queue-address.ts";
import type { Finding } from "../check/finding.ts";
import type { Io } from "../io.ts";
import { exchangeState } from "./exchange.ts";
import { type QueueFacts, queueFindings } from "./queue-health.ts";
import { exchangeOf, leaseTimes, queueOf, workerKeyOf } from "./queue-options.ts";

export async function checkWorkers(io: Io, settings: ResolvedSettings): Promise<Finding[]> {
  const queue = () => queueOf(io, settings, { given: undefined, option: "MAESTRO_WORKERS" });
  return [
    ...(await attempted("workers", async () => {
      workerKeyOf(settings);
      leaseTimes(settings);
      return [{ check: "workers", level: "ok", message: "The worker key is set and long enough" }];
    })),
    ...(await attempted("queue", async () => {
      const address = queue();
      return address === undefined ? [] : queueFindings(await factsOf(io, address));
    })),
    ...(await attempted("exchange", () => checkExchange(io, exchangeOf(io, settings, {})))),
  ];
}

/** An expected failure becomes a finding. */
async function attempted(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    return [
      { check, level: "fail", message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) },
    ];
  }
}

async function checkExchange(io: Io, address: string): Promise<Finding[]> {
  const { state, faults } = await exchangeState(io, "check", address);
  const hint = `"maestro exchange init ${shellWord(address)}" ${state === "absent" ? "creates" : "repairs"} it.`;
  const check = "exchange";
  if (state === "current") return [{ check, level: "ok", message: `The exchange ${address} and its hook are current` }];
  if (state === "stale") {
    return [
      { check, level: "fail", message: `The exchange ${address} needs to be repaired: ${faults.join("; ")}`, hint },
    ];
  }
  if (state === "absent") return [{ check, level: "fail", message: `The exchange ${address} does not exist`, hint }];
  const why = state === "foreign" ? "is not an exchange" : `cannot be read: ${faults.join("; ")}`;
  return [{ check, level: "fail", message: `${address} ${why}` }];
}

type Connection = Awaited<ReturnType<typeof connect>>;

async function factsOf(io: Io, address: QueueAddress): Promise<QueueFacts> {
  const redis = await connect(address, () => undefined);
  try {
    const sent = io.now().getTime();
    const [seconds, micros] = await redis.time();
    const here = (sent + io.now().getTime()) / 2;
    const text = await permitted(() => redis.info());
    return {
      url: address.url,
      info: text === null ? null : fieldsOf(text),
      bind: await bindOf(redis, text),
      saves: await savesOf(redis),
      user: await permitted(async () => String(await redis.acl("WHOAMI"))),
      hasPassword: address.password !== undefined,
      // A key that nothing uses: only whether it may be asked for matters.
      readsAll: (await permitted(() => redis.exists("not-of-maestro"))) !== null,
      clockMs: Math.round(Number(seconds) * 1000 + Number(micros) / 1000 - here),
    };
  } finally {
    redis.disconnect();
  }
}

/** Null when the user's rights do not include the command. */
async function permitted<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (/NOPERM|unknown command/i.test(reasonOf(error))) return null;
    throw error;
  }
}

function fieldsOf(info: string): Record<string, string> {
  const pairs = [...info.matchAll(/^([a-z]\w*):(.*?)\r?$/gm)].map(([, name = "", value = ""]) => [name, value]);
  return Object.fromEntries(pairs);
}

/** Redis 7 lists its listeners in INFO; earlier versions only in their configuration. */
async function bindOf(redis: Connection, info: string | null): Promise<string[] | null> {
  const listeners = [...(info ?? "").matchAll(/^listener\d+:name=(?:tcp|tls),(.*)$/gm)];
  const told = listeners.flatMap(([, rest = ""]) => [...rest.matchAll(/bind=([^,\r\n]+)/g)].map(([, at = ""]) => at));
  if (told.length > 0) return told;
  const set = await permitted(async () => (await redis.config("GET", "bind")) as string[]);
  return set === null ? null : (set[1] ?? "").split(" ").filter((one) => one !== "");
}

async function savesOf(redis: Connection): Promise<boolean | null> {
  const set = await permitted(async () => (await redis.config("GET", "save")) as string[]);
  return set === null ? null : (set[1] ?? "") !== "";
}
