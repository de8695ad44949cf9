// Connects a run to workers, when the user asks for it: --workers, or the setting. Loads the code for it only then.

import { credentialOf } from "../../engine/quota/credential.ts";
import { MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { vendorEnvironment } from "../../runtimes/environment.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { given } from "../../setting-layers.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { geminiHome } from "../../store/files/gemini-home.ts";
import type { StateLocation } from "../../store/location.ts";
import { exchangeAt } from "../../workers/exchange/address.ts";
import type { OpenRemote } from "../../workers/remote/open-remote.ts";
import type { Io } from "../io.ts";
import { type EngineFlags, type EngineSettings, engineSettings } from "../run/engine-options.ts";
import { type Chosen, missingOf } from "../runtimes/cast.ts";
import { exchangeOf, leaseTimes, queueOf, workerKeyOf } from "./queue-options.ts";

export interface RemoteFlags {
  workers?: string;
  exchange?: string;
  maxConcurrent?: string;
  passwordFile?: string;
}

function addressOf(io: Io, settings: ResolvedSettings, { workers, passwordFile }: RemoteFlags) {
  return queueOf(io, settings, { given: workers, option: "--workers", passwordFile });
}

/** Whether attempts run on workers. */
export function usesWorkers(io: Io, settings: ResolvedSettings, flags: RemoteFlags): boolean {
  return workerPlaces(io, settings, flags) !== null;
}

/** Checks what the user asked for before a session exists. Null when attempts run here. */
export function workerPlaces(
  io: Io,
  settings: ResolvedSettings,
  flags: RemoteFlags,
): { queue: string; exchange: string } | null {
  const address = addressOf(io, settings, flags);
  if (address === undefined) {
    if (flags.exchange === undefined) return null;
    throw new MaestroError("usage", "--exchange needs --workers, or the setting MAESTRO_WORKERS", {
      hint: "For example: --workers redis://localhost",
    });
  }
  const exchange = exchangeOf(io, settings, flags);
  workerKeyOf(settings);
  leaseTimes(settings);
  return { queue: address.url, exchange };
}

/** The settings of the engine. With workers the queue takes any number of attempts, and each has a worktree. */
export function engineFor(io: Io, settings: ResolvedSettings, flags: EngineFlags): EngineSettings {
  const engine = engineSettings(settings, flags);
  if (!usesWorkers(io, settings, flags)) return engine;
  if (engine.isolation === "none") {
    throw new MaestroError("usage", "--workers cannot be used with --isolation none", {
      hint: "A worker gets a copy of the project: leave --isolation out.",
    });
  }
  return { ...engine, slots: Number.POSITIVE_INFINITY, isolation: "worktree", staggerMs: 0 };
}

/** The first runtime whose program is missing here; workers have programs of their own. */
export function missingHere(
  io: Io,
  settings: ResolvedSettings,
  flags: RemoteFlags,
  chosen: Chosen,
): Runtime | undefined {
  return usesWorkers(io, settings, flags) && flags.maxConcurrent === undefined ? undefined : missingOf(io, chosen);
}

/** Throws when queue or exchange cannot be reached, before a session exists that could not start anything. */
export async function requireWorkers(
  io: Io,
  settings: ResolvedSettings,
  flags: RemoteFlags,
  repository: Repository | null,
): Promise<void> {
  const address = addressOf(io, settings, flags);
  if (address === undefined || repository === null) return;
  const { requireReachable } = await import("../../workers/remote/reachable.ts");
  await requireReachable(repository, { address, exchange: exchangeAt(exchangeOf(io, settings, flags), io.env) });
}

export interface RemoteRun {
  settings: ResolvedSettings;
  flags: RemoteFlags;
  engine: EngineSettings;
  location: StateLocation;
  session: string;
  players: readonly Runtime[];
}

export async function openRemoteRun(io: Io, run: RemoteRun): Promise<OpenRemote> {
  const { settings, flags, engine, location, session, players } = run;
  const address = addressOf(io, settings, flags);
  if (address === undefined) throw new Error("a run with workers has a queue");
  const { openRemote } = await import("../../workers/remote/open-remote.ts");
  const { passEnv, sandbox } = engine;
  const pool = (name: string) => {
    const runtime = players.find((one) => one.name === name);
    if (runtime === undefined) return "login";
    const env = vendorEnvironment(io.env, passEnv, runtime.vendor);
    return credentialOf(runtime, env, geminiHome(env), "").kind;
  };
  return openRemote({
    ...{ address, location, session },
    exchange: exchangeAt(exchangeOf(io, settings, flags), io.env),
    sender: {
      secret: workerKeyOf(settings),
      pool,
      passEnv,
      isSandboxed: sandbox,
      isExported: (name) => given(io.env, name) !== undefined,
    },
    times: leaseTimes(settings),
    quotaBaseMs: engine.quotaBaseMs,
    localSlots: flags.maxConcurrent === undefined ? 0 : Number(flags.maxConcurrent) || Number.POSITIVE_INFINITY,
    warn: (message) => io.err(`WARNING: ${message}\n`),
  });
}
