// maestro verify <phase>: runs the validation commands of a natively delegated phase and records the result.

import { randomHex } from "../../disk/random.ts";
import { inShell } from "../../engine/attempt/command-run.ts";
import { failedMessage, startValidation, type ValidationResult } from "../../engine/attempt/validation.ts";
import { takeMissingOf } from "../../engine/baseline/missing-baseline.ts";
import { snapshotOptions } from "../../engine/baseline/plan-baseline.ts";
import type { Command, IsolationOptions } from "../../engine/isolation.ts";
import { openProject } from "../../engine/open-project.ts";
import { Stopping } from "../../engine/process/stopping.ts";
import { MaestroError } from "../../errors.ts";
import { signalCodes } from "../../exit-codes.ts";
import { agentEnvironment, withheldIn } from "../../runtimes/environment.ts";
import { decideValidated } from "../../session/decide/attempt.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { lostText } from "../../session/deliverables.ts";
import { awaitsIntegration, hasReported, type SessionPhase } from "../../session/session.ts";
import { projectDelivery } from "../../store/delivery.ts";
import { claimEngine } from "../../store/engine-lock.ts";
import { openBatch } from "../../store/files/batch.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { openStore, redactorOf, settingsOf } from "../context.ts";
import { refuseInsideAttempt } from "../inside-attempt.ts";
import { type Io, printJson } from "../io.ts";
import { type EngineFlags, engineSettings } from "./engine-options.ts";
import { requireKnown } from "./known-session.ts";
import { idleSession, supervise } from "./run-session.ts";

type VerifyFlags = Pick<EngineFlags, "validationTimeout" | "passEnv" | "json">;

export async function verify(io: Io, id: string, flags: VerifyFlags): Promise<number> {
  refuseInsideAttempt(io);
  const settings = settingsOf(io);
  const limits = engineSettings(settings, flags);
  const store = openStore(io, settings);
  const session = requireSession(idleSession(store));
  const phase = requirePhase(session, id);
  requireReported(phase);
  requireKnown(io, session);
  const release = claimEngine(store.location);
  try {
    const { result, signal } = await runCommands(io, store, phase, limits);
    if (result.kind === "stopped") {
      io.err(`Interrupted; phase ${id} is unchanged.\n`);
      return signal === null ? 1 : signalCodes[signal];
    }
    const judged = result.kind === "pass" ? ifDelivered(store, id, result) : result;
    record(io, store, id, judged, settings.values.MAESTRO_MAX_RETRIES);
    return tell(io, id, judged, flags.json === true);
  } finally {
    store.close();
    release();
  }
}

/** Throws unless the phase's agent has reported success: passing commands prove nothing about unreported work. */
function requireReported(phase: SessionPhase): void {
  const { id, status, plan } = phase;
  if (status !== "in_progress") {
    throw new MaestroError("illegal_transition", `Cannot verify phase ${id}: it is ${status.replace("_", " ")}`, {
      hint:
        status === "pending" || status === "failed"
          ? 'Delegate it first in Gemini CLI, or run "maestro resume".'
          : undefined,
    });
  }
  if ((plan?.validation ?? []).length === 0) {
    throw new MaestroError("usage", `Phase ${id} has no validation commands in the plan`, {
      hint: "Its agent's report completes it.",
    });
  }
  if (awaitsIntegration(phase)) {
    throw new MaestroError("illegal_transition", `Cannot verify phase ${id}: its work is not in the project yet`, {
      hint: 'Run "maestro resume": it validates the work before applying it to the project.',
    });
  }
  if (hasReported(phase)) return;
  throw new MaestroError("illegal_transition", `Cannot verify phase ${id}: its agent has not reported success yet`, {
    hint: "Delegate it first: its report is recorded when its agent returns.",
  });
}

type Signal = keyof typeof signalCodes;

async function runCommands(
  io: Io,
  store: SessionStore,
  { id }: SessionPhase,
  limits: ReturnType<typeof engineSettings>,
): Promise<{ result: ValidationResult; signal: Signal | null }> {
  const run = randomHex(8);
  const batch = openBatch(store.location, requireSession(store.session).session_id);
  const supervisor = supervise(io, run, limits.graceMs);
  const allowed = agentEnvironment(io.env, limits.passEnv, {});
  let signal: Signal | null = null;
  const stopping = new Stopping();
  const stopListening = io.onSignal((caught) => {
    signal = caught;
    stopping.stop("stopped");
  });
  try {
    const bench = {
      run,
      store,
      batch,
      supervisor,
      environment: (own: Record<string, string>) => ({ ...allowed, ...own }),
      withheld: (text: string) => withheldIn(text, io.env, allowed),
      validator: inShell,
      redact: redactorOf(io),
      limits,
    };
    const warn = (message: string) => io.err(`WARNING: ${message}\n`);
    await takeMissingOf(id, { ...bench, warn, open: () => openOptions(io, store, limits.setup) }, stopping);
    if (stopping.isStopped) return { result: { kind: "stopped" }, signal };
    const subject = { cwd: io.cwd, tree: null, env: {}, wrap: (command: Command) => command };
    return { result: await startValidation(bench, id, subject, stopping).done, signal };
  } finally {
    stopListening();
    await supervisor.close();
    batch.close();
  }
}

async function openOptions(io: Io, store: SessionStore, setup: string): Promise<IsolationOptions> {
  const opening = await openProject({ ...io, location: store.location });
  if (opening.kind === "refused") throw new MaestroError("environment", opening.reason, { hint: opening.hint });
  return snapshotOptions({ cwd: io.cwd, env: io.env, store }, opening, setup);
}

/** Passing commands do not complete a phase whose declared files are missing. */
function ifDelivered(store: SessionStore, id: string, passed: Proved): Proved {
  const phase = requirePhase(requireSession(store.session), id);
  const delivery = projectDelivery(store.location.projectRoot, phase, {});
  const lost = delivery === null ? null : lostText(delivery);
  return lost === null ? passed : { ...passed, kind: "fail", detail: lost, code: "not_delivered" };
}

function record(io: Io, store: SessionStore, id: string, result: Proved, maxRetries: number): void {
  const { projectRoot } = store.location;
  const message = failedMessage(result);
  // The conversation that delegated the phase decides whether to retry.
  const failure =
    result.kind === "pass" ? undefined : { type: "validation" as const, message, code: result.code, retry: false };
  store.update((current) => ({
    events: decideValidated(
      requireSession(current),
      id,
      { result: result.kind, detail: result.detail, evidence: result.evidence, failure },
      { maxRetries, now: io.now(), hashes: (paths) => hashFiles(projectRoot, paths) },
    ),
    result: undefined,
  }));
}

type Proved = Exclude<ValidationResult, { kind: "stopped" }>;

function tell(io: Io, id: string, { kind, detail }: Proved, json: boolean): number {
  const status = kind === "pass" ? "completed" : "failed";
  if (json) printJson(io, { phase: id, validation: kind, status, detail });
  else io.out(`${detail}\nPhase ${id} is ${status}\n`);
  return kind === "pass" ? 0 : 1;
}
