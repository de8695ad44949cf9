// Where the queue and the exchange are, and the secrets for them, from the command line and the settings. A secret never comes from the
// command line itself, because other users of the machine can read that.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { MaestroError, reasonOf } from "../../errors.ts";
import {
  EXCHANGE_EXPECTED,
  exchangeAddress,
  hasPassword,
  QUEUE_EXPECTED,
  queueAddress,
} from "../../secrets/remote-address.ts";
import { MIN_KEY_CHARS, type ResolvedSettings } from "../../settings.ts";
import type { LeaseTimes } from "../../workers/protocol/lease.ts";
import type { QueueAddress } from "../../workers/queue/queue-address.ts";
import type { Io } from "../io.ts";

export interface QueueFlags {
  exchange?: string;
  passwordFile?: string;
}

/** `given`: the option, which is before the setting; undefined when neither names a queue. */
export function queueOf(
  io: Pick<Io, "cwd">,
  { values }: ResolvedSettings,
  { given, option, passwordFile }: { given: string | undefined; option: string; passwordFile?: string | undefined },
): QueueAddress | undefined {
  if (given !== undefined && hasPassword(given)) {
    throw new MaestroError("usage", `${option} must not contain a password: other users can read the command line`, {
      hint: "Give it in MAESTRO_QUEUE_PASSWORD, or in a file with --password-file.",
    });
  }
  const url = given === undefined ? values.MAESTRO_WORKERS : queueAddress(given);
  if (url === undefined) throw new MaestroError("usage", `${option} must be ${QUEUE_EXPECTED}`);
  if (url === "") return undefined;
  const inFile = passwordFile === undefined ? "" : secretIn(resolve(io.cwd, passwordFile), "--password-file");
  const password = inFile || values.MAESTRO_QUEUE_PASSWORD;
  return { url, password: password === "" ? undefined : password };
}

export function exchangeOf(
  io: Pick<Io, "cwd">,
  { values }: ResolvedSettings,
  { exchange: given }: Pick<QueueFlags, "exchange">,
): string {
  const isRelative = given !== undefined && !given.includes(":") && !given.startsWith("-") && given !== "";
  const url =
    given === undefined ? values.MAESTRO_EXCHANGE : exchangeAddress(isRelative ? resolve(io.cwd, given) : given);
  if (url === undefined) {
    throw new MaestroError("usage", `--exchange must be ${EXCHANGE_EXPECTED}`);
  }
  if (url !== "") return url;
  throw new MaestroError("usage", "Workers need an exchange: the git repository that carries orders and results", {
    hint: 'Create one with "maestro exchange init <path>", then pass it with --exchange.',
  });
}

/** The key that orders and deliveries are sealed with. */
export function workerKeyOf({ values }: ResolvedSettings): string {
  const { MAESTRO_WORKER_KEY: key, MAESTRO_WORKER_KEY_FILE: file } = values;
  const found = key !== "" || file === "" ? key : secretIn(file, "MAESTRO_WORKER_KEY_FILE");
  if (found.length >= MIN_KEY_CHARS) return found;
  const hint =
    'Create one with "openssl rand -hex 32". Give the same key to the engine and to every worker, in MAESTRO_WORKER_KEY or in a file that MAESTRO_WORKER_KEY_FILE names.';
  const what = found === "" ? "No worker key is set" : `The worker key must have at least ${MIN_KEY_CHARS} characters`;
  throw new MaestroError("config", what, { hint });
}

export function leaseTimes({ values }: ResolvedSettings): LeaseTimes & { orphanMs: number } {
  const leaseMs = Math.round(values.MAESTRO_WORKER_LEASE * 1000);
  const renewalMs = Math.round(values.MAESTRO_WORKER_RENEWAL * 1000);
  if (3 * renewalMs > leaseMs) {
    throw new MaestroError("config", "MAESTRO_WORKER_RENEWAL must be at most a third of MAESTRO_WORKER_LEASE");
  }
  const sweepMs = Math.round(values.MAESTRO_WORKER_SWEEP * 1000);
  return { leaseMs, renewalMs, sweepMs, orphanMs: Math.round(values.MAESTRO_ORPHAN_LIMIT * 60_000) };
}

function secretIn(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new MaestroError("config", `Cannot read the file of ${what}: ${reasonOf(error)}`, { cause: error });
  }
}
