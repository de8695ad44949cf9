// Runs a session: builds the engine's context, runs the engine while showing its progress, and returns how the run ended.

import { join } from "node:path";
import { readProtocols } from "../../agents/protocols.ts";
import { randomHex } from "../../disk/random.ts";
import { inShell } from "../../engine/attempt/command-run.ts";
import { Engine } from "../../engine/engine.ts";
import type { Isolation } from "../../engine/isolation.ts";
import { isAncestor } from "../../engine/process/ancestors.ts";
import { Lifeline } from "../../engine/process/lifeline.ts";
import { Supervisor } from "../../engine/process/supervisor.ts";
import type { RunContext } from "../../engine/run-context.ts";
import type { EngineEnd } from "../../engine/run-end.ts";
import { MaestroError } from "../../errors.ts";
import { extensionRoot, programRoot } from "../../program-root.ts";
import { agentEnvironment as exportedEnvironment, withheldIn } from "../../runtimes/environment.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { Selection } from "../../runtimes/selection.ts";
import { splitWords, warnsOfAllowedTools } from "../../runtimes/words.ts";
import { findProgram as findOnPath } from "../../search-path.ts";
import { requireSession } from "../../session/decide/operation.ts";
import type { Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { claimEngine, runningEngine } from "../../store/engine-lock.ts";
import { type Batch, openBatch, policyPath, removePromptsOf } from "../../store/files/batch.ts";
import { delegationsElsewhere } from "../../store/files/delegations.ts";
import { JournalWatch } from "../../store/journal/journal-watch.ts";
import { foreignState } from "../../store/location.ts";
import { judgeFor } from "../../store/project-store.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { runSummary } from "../../views/report/batch-summary.ts";
import type { OpenRemote } from "../../workers/remote/open-remote.ts";
import { redactorOf, rosterOf } from "../context.ts";
import type { Io } from "../io.ts";
import { pricesOf } from "../prices.ts";
import { castOf, soleCast } from "../runtimes/cast.ts";
import { modelOfRuntime } from "../runtimes/model.ts";
import { sharedQuotas } from "../runtimes/shared-quotas.ts";
import { openRemoteRun, type RemoteFlags } from "../workers/remote-run.ts";
import { askWhileRunning } from "./ask-while-running.ts";
import type { EngineSettings } from "./engine-options.ts";
import { type Display, showRun } from "./show.ts";

/** Beside this program, in dist/. */
/** The end of an interrupted run takes some milliseconds. */
const LAST_WORDS_MS = 3000;
const wardenProgram = join(programRoot, "dist", "warden.cjs");

export interface SessionRun {
  store: SessionStore;
  settings: ResolvedSettings;
  /** Which runtimes play the agents; one that is built in, in a rehearsal. */
  played:
    | { selection: Selection; allowsUnheld: boolean; players: readonly Runtime[] }
    | { runtime: Runtime; program: string };
  engine: EngineSettings;
  model?: string | undefined;
  keepGoing: boolean;
  leaveOpen?: boolean;
  /** The phases that may start; all of them when absent. */
  only?: ReadonlySet<string> | undefined;
  display: Display;
  isolation: Isolation;
  /** The project that agents work in: the current directory, except in a rehearsal. */
  projectRoot: string;
  /** A user at the terminal is asked about a review while other agents work. */
  mayAsk?: boolean;
  /** Called once the engine has locked the session. */
  begun?: () => void;
  /** A rehearsal simulates validation commands. */
  validator?: RunContext["validator"];
  /** Where workers take attempts from, when the user named it. */
  workers?: RemoteFlags;
}

/** Runs the active session until it ends or the user has to decide something. */
export async function runSession(io: Io, running: SessionRun): Promise<EngineEnd> {
  const { store, engine: limits } = running;
  const release = claimEngine(store.location, { drives: true });
  try {
    const session = requireSession(store.session);
    const run = randomHex(8);
    const batch = openBatch(store.location, session.session_id);
    batch.removeSummary();
    const parts = contextOf(io, running);
    rejectEarly(parts, session, policyPath(batch.path, "read-only"));
    const workers = await workersOf(io, running, session);
    // This starts the warden, which only the finally below stops, so nothing in between may throw.
    const supervisor = supervise(io, run, limits.graceMs);
    const context = { ...parts, run, batch, batchId: session.session_id, supervisor, remote: workers?.remote };
    const engineLimits = {
      slots: limits.slots,
      staggerMs: parts.callsModel ? limits.staggerMs : 0,
      mode: session.execution_mode ?? "sequential",
      keepGoing: running.keepGoing,
      leaveOpen: running.leaveOpen,
      only: running.only,
      quotaBaseMs: limits.quotaBaseMs,
      quotaWaitMs: limits.quotaWaitMs,
      graceMs: limits.graceMs,
    };
    const engine = new Engine(context, engineLimits, workers?.remote);
    const tiers = new Map([...parts.agents].map(([name, { tier }]) => [name, tier]));
    const stopListening = io.onSignal((signal) => engine.stop(signal));
    let hide: (() => void) | undefined;
    let stopAsking: (() => Promise<void>) | undefined;
    try {
      store.keepOpen(new JournalWatch({ judge: judgeFor(store.location, tiers), now: io.now, warn: parts.warn }));
      const shown = { done: 0 };
      const resume = () => {
        hide = showRun(io, store, engine, running.display, shown);
      };
      const pause = () => {
        hide?.();
        hide = undefined;
      };
      resume();
      if (running.mayAsk) {
        stopAsking = askWhileRunning(io, running.settings, store, { pause, resume });
      }
      running.begun?.();
      const end = await engine.run();
      // Another Ctrl-C must not kill this process before it has said how to resume, unless something here never ends.
      if (end.kind === "interrupted")
        setTimeout(
          io.onSignal(() => undefined),
          LAST_WORDS_MS,
        ).unref();
      endBatch(batch, running, end, parts);
      return end;
    } finally {
      await stopAsking?.();
      hide?.();
      await supervisor.close();
      await workers?.close();
      stopListening();
      batch.close();
      store.close();
    }
  } finally {
    release();
  }
}

/** Undefined when all attempts run here. */
async function workersOf(io: Io, running: SessionRun, { session_id: id }: Session): Promise<OpenRemote | undefined> {
  const { workers: flags, settings, engine, played, store } = running;
  if (flags === undefined || "runtime" in played) return undefined;
  const about = { settings, flags, engine, location: store.location, session: id, players: played.players };
  return openRemoteRun(io, about);
}

/** The results of the attempts are recorded in the session, so a summary that cannot be written does not fail the run. */
function endBatch(
  batch: Batch,
  { store, settings }: SessionRun,
  { kind }: EngineEnd,
  { now, warn }: Pick<RunContext, "now" | "warn">,
): void {
  try {
    const session = requireSession(store.session);
    batch.writeSummary(runSummary(session, now()));
    // Until then an attempt may be resumed or repeated.
    const isOver = kind === "completed" || kind === "aborted";
    if (isOver && settings.values.MAESTRO_CLEANUP_DISPATCH) removePromptsOf(store.location, session.session_id);
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    warn(error.message);
  }
}

/** Builds a command line of each runtime now, so that one that rejects every attempt fails before the first one. */
function rejectEarly(
  { cast, agents }: Pick<RunContext, "cast" | "agents">,
  session: Session,
  policyFile: string,
): void {
  for (const phase of session.phases) {
    const agent = agents.get(phase.agents[0] ?? "");
    if (agent === undefined) continue;
    const { runtime } = cast.choose(session, phase, agent).player;
    const spec = { agent: "", tier: "read-only", model: null, policyFile, isStreamed: true, extraArgs: [] } as const;
    runtime.argv(spec);
  }
}

type Made = "run" | "batch" | "batchId" | "supervisor";

function contextOf(io: Io, running: SessionRun): Omit<RunContext, Made> {
  const { store, settings, played, engine: limits, model, projectRoot, isolation } = running;
  const hasSetup = isolation.options.setup !== "";
  const roster = rosterOf(io);
  const extraArgs = extraArguments(settings);
  warnOfArguments(io, extraArgs);
  const allowed = exportedEnvironment(io.env, limits.passEnv, {});
  const isRemote = running.workers !== undefined;
  const stage = { passEnv: limits.passEnv, projectRoot, hasSetup, extraArgs, isRemote };
  const cast =
    "runtime" in played
      ? soleCast(io, stage, played.runtime, played.program)
      : castOf(io, stage, played.players, { ...played.selection, allowsUnheld: played.allowsUnheld });
  const main = "runtime" in played ? played.runtime.name : played.selection.main;
  const about = { session: requireSession(store.session).session_id, project: projectRoot };
  return {
    store,
    cast,
    callsModel: !("runtime" in played) || played.runtime.callsModel,
    projectRoot,
    isolation,
    agents: new Map(roster.agents.map((agent) => [agent.name, agent])),
    brokenAgents: roster.problems,
    protocols: readProtocols(extensionRoot(io.env), programRoot),
    modelFor: (agent, runtime) => modelOfRuntime(agent, runtime, settings, { model, main }),
    environment: (own) => ({ ...allowed, ...own }),
    withheld: (text) => withheldIn(text, io.env, allowed),
    validator: running.validator ?? inShell,
    prices: pricesOf(io, settings),
    // Workers have credentials of their own: the queue limits those.
    sharedQuota: isRemote ? () => null : sharedQuotas(io, cast, { ...about, passEnv: limits.passEnv }),
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

/** Creates the supervisor of a run's processes, which also starts the warden. */
export function supervise(io: Io, run: string, graceMs: number): Supervisor {
  const warn = (message: string) => io.err(`WARNING: ${message}\n`);
  return new Supervisor(new Lifeline(wardenProgram, run, graceMs, warn), graceMs);
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

/** The active session, if one exists. Throws if it cannot be read or another process is running it. */
export function idleSession(store: SessionStore): Session | undefined {
  // Checked first, so that a foreign session is neither shown as the user's own nor asked about.
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
  // A command run from inside the delegating conversation is allowed: it is the one that delegated.
  const [delegation] = delegationsElsewhere(store.location).filter(({ by }) => !isAncestor(by));
  if (delegation !== undefined) {
    const what = `The agent ${delegation.agent} is working on phase ${delegation.phase} in a conversation (process ${delegation.by})`;
    throw new MaestroError("environment", what, { hint: "Wait until the agent returns, or end that conversation." });
  }
  const owner = runningEngine(store.location);
  if (owner !== undefined) {
    const what = `An engine is already running session ${session.session_id} (process ${owner.pid} since ${owner.since})`;
    throw new MaestroError("environment", what, {
      hint: 'Watch it with "maestro watch", or stop it with "maestro stop".',
    });
  }
  return session;
}

/** The path of a program on PATH; undefined if it is not found. */
export function requireProgram(io: Io, name: string): string | undefined {
  return findOnPath(name, io.env.PATH);
}
