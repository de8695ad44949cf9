// Carries a session out: builds what the engine needs, lets it run in front of the user's eyes, and says what came of it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomHex } from "../../disk/durable.ts";
import { Engine, type EngineEnd } from "../../engine/engine.ts";
import type { Isolation } from "../../engine/isolation.ts";
import { isAncestor } from "../../engine/process/ancestors.ts";
import { Lifeline } from "../../engine/process/lifeline.ts";
import { Supervisor } from "../../engine/process/supervisor.ts";
import type { RunContext } from "../../engine/run-context.ts";
import { MaestroError } from "../../errors.ts";
import { programRoot } from "../../program-root.ts";
import { agentEnvironment as exportedEnvironment } from "../../runtimes/environment.ts";
import { modelFor } from "../../runtimes/models.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { splitWords, warnsOfAllowedTools } from "../../runtimes/words.ts";
import { findProgram as findOnPath } from "../../search-path.ts";
import { requireSession } from "../../session/decide/operation.ts";
import type { Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { claimEngine, runningEngine } from "../../store/engine-lock.ts";
import { openBatch, policyPath } from "../../store/files/batch.ts";
import { delegationsElsewhere } from "../../store/files/delegations.ts";
import { JournalWatch } from "../../store/journal/journal-watch.ts";
import { foreignState } from "../../store/location.ts";
import { judgeFor } from "../../store/project-store.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { redactorOf, rosterOf } from "../context.ts";
import type { Io } from "../io.ts";
import { environmentOfAgents } from "./agent-environment.ts";
import type { EngineSettings } from "./engine-options.ts";
import { type Display, showRun } from "./show.ts";

/** Beside this program, in dist/. */
const wardenProgram = fileURLToPath(new URL("./warden.cjs", import.meta.url));

export interface SessionRun {
  store: SessionStore;
  settings: ResolvedSettings;
  runtime: Runtime;
  /** The runtime's program, found on PATH. */
  program: string;
  engine: EngineSettings;
  model?: string | undefined;
  keepGoing: boolean;
  /** The phases that may start; absent: all of them. */
  only?: ReadonlySet<string> | undefined;
  display: Display;
  isolation: Isolation;
  /** The project that agents work in; the current directory but for a rehearsal. */
  projectRoot: string;
  /** Called when the engine has the session for itself. */
  begun?: () => void;
  /** A rehearsal plays validation commands. */
  validator?: RunContext["validator"];
}

/** Drives the active session to its end, or to where somebody has to decide. */
export async function runSession(io: Io, conducting: SessionRun): Promise<EngineEnd> {
  const { store, engine: limits, runtime } = conducting;
  const release = claimEngine(store.location, { drives: true });
  try {
    const session = requireSession(store.session);
    const run = randomHex(8);
    const batch = openBatch(store.location, session.session_id);
    // What a runtime would refuse of every attempt it refuses before the first.
    runtime.argv({
      agent: "",
      tier: "read-only",
      model: null,
      policyFile: policyPath(batch.path, "read-only"),
      extraArgs: [],
    });
    const parts = workshopOf(io, conducting);
    // From here on nothing is between the warden and the engine that ends it.
    const supervisor = supervise(io, run, limits.graceMs);
    const workshop = { ...parts, run, batch, batchId: session.session_id, supervisor };
    const engine = new Engine(workshop, {
      slots: limits.slots,
      staggerMs: runtime.callsModel ? limits.staggerMs : 0,
      mode: session.execution_mode ?? "sequential",
      keepGoing: conducting.keepGoing,
      only: conducting.only,
      quotaBaseMs: limits.quotaBaseMs,
      quotaWaitMs: limits.quotaWaitMs,
      graceMs: limits.graceMs,
    });
    const leave = io.onSignal((signal) => engine.stop(signal), true);
    let hide: (() => void) | undefined;
    try {
      store.keepOpen(new JournalWatch({ judge: judgeFor(store.location), now: io.now, warn: parts.warn }));
      hide = showRun(io, store, engine, conducting.display);
      conducting.begun?.();
      return await engine.run();
    } finally {
      hide?.();
      await supervisor.close();
      leave();
      batch.close();
      store.close();
    }
  } finally {
    release();
  }
}

type Made = "run" | "batch" | "batchId" | "supervisor";

function workshopOf(io: Io, conducting: SessionRun): Omit<RunContext, Made> {
  const { store, settings, runtime, program, engine: limits, model, projectRoot, isolation } = conducting;
  const hasSetup = isolation.options.setup !== "";
  const roster = rosterOf(io);
  const extraArgs = extraArguments(settings);
  warnOfArguments(io, extraArgs);
  const allowed = exportedEnvironment(io.env, limits.passEnv, {});
  return {
    store,
    runtime,
    program,
    projectRoot,
    isolation,
    agents: new Map(roster.agents.map((agent) => [agent.name, agent])),
    protocols: readProtocols(),
    modelFor: (agent) => modelFor(agent, settings.values, model),
    extraArgs,
    environment: (own) => ({ ...allowed, ...own }),
    agentEnvironment: environmentOfAgents(io, { runtime, exported: allowed, projectRoot, hasSetup }),
    validator: conducting.validator ?? inShell,
    redact: redactorOf(io),
    limits: {
      timeoutMs: limits.timeoutMs,
      validationTimeoutMs: limits.validationTimeoutMs,
      maxRetries: settings.values.MAESTRO_MAX_RETRIES,
      graceMs: limits.graceMs,
    },
    warn: (message) => io.err(`WARNING: ${message}\n`),
    now: io.now,
  };
}

/** How a validation command is run. */
export const inShell: RunContext["validator"] = (command) => ({ program: "/bin/sh", args: ["-c", command] });

/** Looks after the processes of a run; the warden starts with it. */
export function supervise(io: Io, run: string, graceMs: number): Supervisor {
  const warn = (message: string) => io.err(`WARNING: ${message}\n`);
  return new Supervisor(new Lifeline(wardenProgram, run, graceMs, warn), graceMs);
}

function readProtocols(): RunContext["protocols"] {
  const read = (name: string) => readFileSync(join(programRoot, "protocols", name), "utf8");
  return { base: read("agent-base-protocol.md"), safety: read("filesystem-safety-protocol.md") };
}

/** MAESTRO_GEMINI_EXTRA_ARGS as words. */
export function extraArguments({ values }: ResolvedSettings): string[] {
  const words = splitWords(values.MAESTRO_GEMINI_EXTRA_ARGS);
  if ("error" in words) throw new MaestroError("config", `MAESTRO_GEMINI_EXTRA_ARGS: ${words.error}`);
  return words;
}

export function warnOfArguments(io: Io, words: readonly string[]): void {
  if (!warnsOfAllowedTools(words)) return;
  io.err("WARNING: --allowed-tools is deprecated in Gemini CLI; use --policy (Policy Engine) instead\n");
}

/** The active session, if there is one. It must be readable, and nobody may be running it. */
export function idleSession(store: SessionStore): Session | undefined {
  // Before anything of it is shown as the user's own, and before anybody is asked about it.
  const foreign = foreignState(store.location);
  if (foreign !== undefined) throw foreign;
  const state = store.read();
  if (state.state === "none") return undefined;
  if (state.state === "broken") {
    throw new MaestroError("environment", `The session cannot be read: ${state.reason}`, {
      hint: 'Run "maestro doctor --fix".',
    });
  }
  const { session } = state;
  // Whoever speaks from inside that conversation knows what it does.
  const [delegation] = delegationsElsewhere(store.location).filter(({ by }) => !isAncestor(by));
  if (delegation !== undefined) {
    const what = `Phase ${delegation.phase} is being worked on by ${delegation.agent} in a conversation (process ${delegation.by})`;
    throw new MaestroError("environment", what, { hint: "Wait until it has come back, or end that conversation." });
  }
  const owner = runningEngine(store.location);
  if (owner !== undefined) {
    const what = `Session ${session.session_id} is being run by process ${owner.pid} since ${owner.since}`;
    throw new MaestroError("environment", what, {
      hint: 'Look at it with "maestro watch", or end it with "maestro stop".',
    });
  }
  return session;
}

/** Where a program is on PATH; undefined when it is not. */
export function requireProgram(io: Io, name: string): string | undefined {
  return findOnPath(name, io.env.PATH);
}
