// maestro worker: runs attempts for engines on other machines, with this machine's programs and credentials.

import { hostname } from "node:os";
import { randomHex } from "../../disk/random.ts";
import { repertoireOf } from "../../engine/runtimes/repertoire.ts";
import { MaestroError } from "../../errors.ts";
import { labelForm, workerNameForm } from "../../ids.ts";
import { agentEnvironment, withheldIn } from "../../runtimes/environment.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { findProgram } from "../../search-path.ts";
import { exchangeAt } from "../../workers/exchange/address.ts";
import type { Equipment } from "../../workers/worker/equipment.ts";
import { runWorker } from "../../workers/worker/open-worker.ts";
import { redactorOf, settingsOf } from "../context.ts";
import { refuseInsideAttempt } from "../inside-attempt.ts";
import type { Io } from "../io.ts";
import { pricesOf } from "../prices.ts";
import { duration } from "../run/engine-options.ts";
import { extraArguments, supervise } from "../run/run-session.ts";
import { sandboxOf } from "../run/sandbox.ts";
import { playerOf } from "../runtimes/cast.ts";
import { exchangeOf, leaseTimes, type QueueFlags, queueOf, workerKeyOf } from "./queue-options.ts";

declare const MAESTRO_VERSION: string;

export interface WorkerFlags extends QueueFlags {
  queue?: string;
  slots?: string;
  runtimes?: string;
  label?: string[];
  name?: string;
  grace?: string;
  orphanLimit?: string;
}

export async function worker(io: Io, flags: WorkerFlags): Promise<number> {
  refuseInsideAttempt(io);
  const settings = settingsOf(io);
  const address = queueOf(io, settings, { given: flags.queue, option: "--queue", passwordFile: flags.passwordFile });
  if (address === undefined) {
    throw new MaestroError("usage", "A worker needs a queue", {
      hint: 'Name it with --queue or MAESTRO_WORKERS: "maestro worker --queue redis://localhost --exchange /srv/maestro.git".',
    });
  }
  const secret = workerKeyOf(settings);
  const exchange = exchangeAt(exchangeOf(io, settings, flags), io.env);
  const times = leaseTimes(settings);
  const orphanMs = duration("--orphan-limit", flags.orphanLimit, "m", 1) ?? times.orphanMs;
  const graceMs = duration("--grace", flags.grace, "s", 0) ?? 5000;
  const name = nameOf(flags);
  const labels = labelsOf(flags);
  const players = offered(io, flags);
  if (players.length === 0) throw noPrograms(flags);
  const run = randomHex(8);
  const supervisor = supervise(io, run, graceMs);
  const equipment: Equipment = {
    env: io.env,
    now: io.now,
    run,
    supervisor,
    player: (named, passEnv, root) => {
      const runtime = players.find((one) => one.name === named);
      if (runtime === undefined) return undefined;
      const stage = { passEnv, projectRoot: root, hasSetup: true, extraArgs: extraArguments(settings) };
      return playerOf(io, runtime, findProgram(runtime.program, io.env.PATH), stage);
    },
    sandbox: (repository, location) => sandboxOf(io, repository, location),
    environment: (passEnv) => {
      const allowed = agentEnvironment(io.env, passEnv, {});
      return { environment: (own) => ({ ...allowed, ...own }), withheld: (text) => withheldIn(text, io.env, allowed) };
    },
    prices: pricesOf(io, settings),
    redact: redactorOf(io),
    warn: (message) => io.err(`WARNING: ${message}\n`),
  };
  try {
    await runWorker({
      ...{ address, exchange, secret, name, equipment },
      times: { ...times, orphanMs },
      slots: slotsOf(flags),
      offer: { runtimes: players.map((runtime) => runtime.name), labels },
      version: MAESTRO_VERSION,
      tell: (line) => io.err(`${line}\n`),
      onSignal: (handler) => io.onSignal(handler),
    });
    return 0;
  } finally {
    await supervisor.close();
  }
}

/** The runtimes of --runtimes, or all that this machine has the program of. */
function offered(io: Io, { runtimes: given }: WorkerFlags): Runtime[] {
  const known = repertoireOf(io).all.filter(({ callsModel }) => callsModel);
  if (given === undefined) return known.filter(({ program }) => findProgram(program, io.env.PATH) !== undefined);
  return given
    .split(/[\s,]+/)
    .filter((one) => one !== "")
    .map((one) => {
      const found = known.find((runtime) => runtime.name === one);
      if (found !== undefined) return found;
      throw new MaestroError("usage", `--runtimes names ${one}, which is not a runtime`, {
        hint: `Runtimes are: ${known.map((runtime) => runtime.name).join(", ")}`,
      });
    });
}

function noPrograms({ runtimes: given }: WorkerFlags): MaestroError {
  if (given !== undefined) return new MaestroError("usage", "--runtimes names no runtime");
  return new MaestroError("environment", "No agent program is on the PATH: this worker could not run any attempt", {
    hint: 'Install one: "maestro runtimes" lists them.',
  });
}

function nameOf({ name }: WorkerFlags): string {
  const own =
    name ??
    `${
      hostname()
        .split(".")[0]
        ?.replace(/[^\w-]/g, "")
        .slice(0, 40) || "worker"
    }-${process.pid}`;
  if (workerNameForm.test(own)) return own;
  throw new MaestroError("usage", `--name must be letters, digits, dots and hyphens (got: ${own})`);
}

function labelsOf({ label = [] }: WorkerFlags): string[] {
  const labels = label.flatMap((one) => one.split(",")).filter((one) => one !== "");
  const wrong = labels.find((one) => !labelForm.test(one));
  if (wrong === undefined) return [...new Set(labels)];
  throw new MaestroError("usage", `--label must be letters, digits and hyphens (got: ${wrong})`);
}

function slotsOf({ slots = "1" }: WorkerFlags): number {
  if (/^[1-9]\d{0,3}$/.test(slots)) return Number(slots);
  throw new MaestroError("usage", `--slots must be a number from 1 to 9999 (got: ${slots})`);
}
