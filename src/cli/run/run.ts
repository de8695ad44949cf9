// maestro run: creates a session from a plan and runs it.

import { setImmediate } from "node:timers/promises";
import type { Amounts } from "../../amounts.ts";
import { knownBaseline } from "../../engine/baseline/plan-baseline.ts";
import type { Isolation } from "../../engine/isolation.ts";
import type { EngineEnd } from "../../engine/run-end.ts";
import { MaestroError } from "../../errors.ts";
import { NEEDS_A_PERSON } from "../../exit-codes.ts";
import { listKept } from "../../git/refs.ts";
import { baselineWarnings, commandsOf } from "../../plan/baseline.ts";
import { budgetWarnings } from "../../plan/check/budgets.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { decideNote, requireSession } from "../../session/decide/operation.ts";
import type { ExecutionMode, ReviewMode } from "../../session/events.ts";
import { isClosed, type Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { type ApprovedPlan, type CreateRequest, createSession } from "../../store/operations.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { stripControls } from "../../text.ts";
import { chosenBudget } from "../budget.ts";
import { approvePlan, openStore, redactorOf, settingsOf, tellUser } from "../context.ts";
import { refuseInsideAttempt } from "../inside-attempt.ts";
import { type Io, printJsonLine } from "../io.ts";
import { refuseUnkept } from "../kept-budget.ts";
import { pricesOf } from "../prices.ts";
import { type Chosen, chosenRuntimes, type RuntimeFlags } from "../runtimes/cast.ts";
import { mayUseRuntimes } from "../runtimes/project-consent.ts";
import { pruneAfterArchive } from "../session/recovery.ts";
import { engineFor, missingHere, requireWorkers, usesWorkers, workerPlaces } from "../workers/remote-run.ts";
import { askAboutReview } from "./ask-review.ts";
import { chooseMode, presetMode } from "./consent.ts";
import { refuseDetached, withDashboard } from "./dashboard-beside.ts";
import { detach, tellParent } from "./detach.ts";
import { dryRun } from "./dry-run.ts";
import { endRun } from "./end-run.ts";
import type { EngineFlags } from "./engine-options.ts";
import { askAboutFailed } from "./escalate.ts";
import { chooseIsolation, describeIsolation } from "./isolation.ts";
import { tellProject } from "./project-notes.ts";
import { extraArguments, idleSession, runSession } from "./run-session.ts";

export interface RunFlags extends EngineFlags, RuntimeFlags {
  task?: string;
  detach?: boolean;
  dryRun?: boolean;
  keepOpen?: boolean;
  dashboard?: boolean;
  /** The descriptor on which a detached run reports to its parent process that the session has started. */
  readyFd?: string;
}

export async function run(io: Io, planPath: string, flags: RunFlags): Promise<number> {
  refuseInsideAttempt(io);
  refuseDetached(flags);
  const settings = settingsOf(io);
  const engine = engineFor(io, settings, flags);
  extraArguments(settings);
  pricesOf(io, settings);
  const approved = await approvePlan(io, settings, planPath, flags);
  chosenPhases(approved.plan.phases, flags.phases);
  const chosen = chosenRuntimes(io, settings, approved.plan.phases, flags);
  const budget = chosenBudget(settings, flags);
  refuseUnkept(io, settings, { chosen, flags }, budget ?? {}, approved.plan.phases);
  for (const { message } of budgetWarnings(approved.plan.phases, budget ?? {})) io.err(`WARNING: ${message}\n`);
  if (flags.dryRun) {
    const isolation = describeIsolation(engine, presetMode(settings, flags) ?? "parallel", flags.review);
    return dryRun(io, settings, approved, {
      flags,
      engine,
      chosen,
      isolation,
      workers: workerPlaces(io, settings, flags),
    });
  }
  const store = openLiveStore(io, settings);
  await requireNoSession(io, settings, store, flags);
  const lacking = missingHere(io, settings, flags, chosen);
  if (lacking !== undefined) {
    throw recordMissing(io, store, approved, lacking, { mode: presetMode(settings, flags), budget });
  }
  const { plan, path } = approved;
  const baseline = await knownBaseline({ ...io, store }, { plan: path, commands: commandsOf(plan.phases) });
  for (const { message } of baselineWarnings(plan.phases, baseline ?? [])) io.err(`WARNING: ${message}\n`);
  const isAgreed = await mayUseRuntimes(io, chosen.fromProject, flags);
  const mode = isAgreed ? await chooseMode(io, settings, { phases: plan.phases, used: chosen.used }, flags) : undefined;
  if (mode === undefined) {
    io.err("Nothing was started.\n");
    return NEEDS_A_PERSON;
  }
  const { location } = store;
  const { length: phases } = approved.plan.phases;
  const { allowOverlap, review } = flags;
  const isolation = await chooseIsolation(io, { engine, mode, review, location, phases, allowOverlap });
  if (presetMode(settings, flags) !== null) tellProject(io, chosen.used, extraArguments(settings));
  if (flags.detach) return detach(io, ["run", planPath], { ...flags, mode });
  await requireWorkers(io, settings, flags, isolation.options.repository);
  const taken = await keptSessions(isolation);
  create(io, store, { ...approved, baseline }, { mode, review, task: flags.task, taken, budget });
  await setImmediate();
  return startRun(io, { store, settings, chosen, isolation, flags });
}

export interface RunParts {
  store: SessionStore;
  settings: ResolvedSettings;
  chosen: Chosen;
  isolation: Isolation;
  flags: RunFlags;
}

/** Runs a session whose mode is chosen to its end. At a terminal, it asks about failed phases and continues with the answers. */
export async function startRun(io: Io, parts: RunParts): Promise<number> {
  return parts.flags.dashboard ? withDashboard(io, () => runAndAsk(io, parts)) : runAndAsk(io, parts);
}

async function runAndAsk(io: Io, parts: RunParts): Promise<number> {
  const { store, settings, chosen, isolation, flags } = parts;
  const id = requireSession(store.session).session_id;
  const mayAsk = io.interactive && !flags.json && !flags.yes;
  const { execution_mode } = requireSession(store.session);
  if (flags.json) printJsonLine(io, { type: "run.started", session_id: id, execution_mode, pid: process.pid });
  for (;;) {
    const end = await runSession(io, {
      store,
      settings,
      played: chosen,
      engine: engineFor(io, settings, flags),
      ...(usesWorkers(io, settings, flags) ? { workers: flags } : {}),
      model: flags.model,
      keepGoing: flags.keepGoing === true,
      leaveOpen: flags.leaveOpen === true,
      only: chosenPhases(requireSession(store.session).phases, flags.phases),
      display: flags.json ? "json" : "auto",
      isolation,
      projectRoot: io.cwd,
      mayAsk,
      begun: () => tellParent(flags.readyFd, { session_id: id, pid: process.pid }),
    });
    noteFallback(store, end);
    await setImmediate();
    const mayContinue = mayAsk ? await askAfter(io, settings, store, end) : null;
    if (mayContinue === null) {
      return endRun(io, {
        store,
        settings,
        end,
        json: flags.json === true,
        yes: flags.yes === true,
        keepOpen: flags.keepOpen === true,
        repository: isolation.options.repository,
      });
    }
    store.close();
    if (mayContinue) continue;
    if (store.session?.aborted) {
      return endRun(io, { store, settings, end: { kind: "aborted" }, json: false, yes: false, keepOpen: false });
    }
    tellUser(io, `Session ${id} is waiting for your decision. Run "maestro resume" to decide.\n`);
    return NEEDS_A_PERSON;
  }
}

/** Whether the user's answers let the session continue; null when nothing is asked. */
async function askAfter(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  end: EngineEnd,
): Promise<boolean | null> {
  if (end.kind === "review") return askAboutReview(io, settings, store);
  return end.kind === "failed" && end.phases.length > 0 ? askAboutFailed(io, settings, store, end.phases) : null;
}

/** The ids of --phases: each must exist, and may be blocked only by phases that are finished or in the list too. */
export function chosenPhases(
  phases: readonly { id: string; blocked_by: readonly string[]; status?: string }[],
  given: string | undefined,
): ReadonlySet<string> | undefined {
  if (given === undefined) return undefined;
  const ids = given.split(/[\s,]+/).filter((id) => id !== "");
  const unknown = ids.find((id) => !phases.some((phase) => phase.id === id));
  if (ids.length > 0 && unknown === undefined) {
    rejectBlocked(phases, ids);
    return new Set(ids);
  }
  const what =
    unknown === undefined ? "--phases is empty" : `--phases names ${unknown}, which is not a phase of the plan`;
  throw new MaestroError("usage", what, { hint: "Separate phase ids with commas: --phases 1,2." });
}

function rejectBlocked(
  phases: readonly { id: string; blocked_by: readonly string[]; status?: string }[],
  ids: string[],
) {
  const isDone = (id: string) => phases.some((phase) => phase.id === id && isClosed({ status: phase.status ?? "" }));
  for (const { id, blocked_by } of phases.filter((phase) => ids.includes(phase.id))) {
    const blocker = blocked_by.find((other) => !ids.includes(other) && !isDone(other));
    if (blocker === undefined) continue;
    throw new MaestroError("usage", `--phases names ${id}, which waits for phase ${blocker}`, {
      hint: `Add ${blocker} to --phases, or run it first.`,
    });
  }
}

export function openLiveStore(io: Io, settings: ResolvedSettings): SessionStore {
  return openStore(io, settings, { viewDelayMs: 250 });
}

/** Only one session may be active: throws for an unfinished one, and archives a completed one if the user agrees. */
async function requireNoSession(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  flags: RunFlags,
): Promise<void> {
  const session = idleSession(store);
  if (session === undefined) return;
  if (session.aborted) {
    throw new MaestroError(
      "environment",
      `Cannot start a new session: session ${session.session_id} was aborted but not archived`,
      {
        hint: 'Archive it with "maestro archive".',
      },
    );
  }
  if (session.status !== "completed") {
    const what = `Cannot start a new session: session ${session.session_id} is not finished (${session.status})`;
    const hint = 'Resume it with "maestro resume", or archive it with "maestro archive".';
    throw new MaestroError("environment", what, { hint });
  }
  const question = `Session ${session.session_id} is completed but not archived. Archive it now? [Y/n] `;
  const isWanted = flags.yes || (io.interactive && /^\s*(y|yes|)\s*$/i.test((await io.ask(question)) ?? "n"));
  if (!isWanted) {
    throw new MaestroError(
      "environment",
      `Cannot start a new session: session ${session.session_id} is completed but not archived`,
      {
        hint: 'Archive it with "maestro archive", or pass --yes.',
      },
    );
  }
  await pruneAfterArchive(io, settings, store.archive());
}

/** Ids of sessions whose work the repository keeps: another project in it may have used the same title on the same day. */
async function keptSessions({ options: { repository } }: Isolation): Promise<string[]> {
  return repository === null ? [] : (await listKept(repository)).map(({ session }) => session);
}

interface NewSession {
  mode: ExecutionMode | null;
  review?: ReviewMode | undefined;
  task?: string | undefined;
  taken?: readonly string[];
  budget?: Amounts | undefined;
}

function create(
  io: Io,
  store: SessionStore,
  approved: ApprovedPlan & Pick<CreateRequest, "baseline">,
  { mode, review, task, taken = [], budget }: NewSession,
): Session {
  try {
    const asked = task === undefined ? null : redactorOf(io)(stripControls(task));
    createSession(store, { ...approved, task: asked, executionMode: mode, review, budget, now: io.now(), taken });
  } catch (error) {
    // Another process created a session first.
    if (!(error instanceof MaestroError) || error.code !== "conflict") throw error;
    throw new MaestroError("environment", error.message, { hint: error.hint, cause: error });
  }
  return requireSession(store.session);
}

/** Records in the session that the runtime's program is missing, so that the user can resume once it is installed. */
function recordMissing(
  io: Io,
  store: SessionStore,
  approved: ApprovedPlan,
  runtime: Runtime,
  session: NewSession,
): MaestroError {
  create(io, store, approved, session);
  noteMissing(store, runtime);
  store.close();
  return missingRuntime(runtime);
}

export function noteMissing(store: SessionStore, runtime: Runtime): void {
  const text = `Parallel dispatch is not possible: ${runtime.program} was not found on PATH. Fallback: sequential delegation inside Gemini CLI, or "maestro resume" once it is installed.`;
  store.update((session) => ({ events: decideNote(requireSession(session), text, undefined), result: undefined }));
}

export function missingRuntime(runtime: Runtime): MaestroError {
  return new MaestroError("environment", `${runtime.program} was not found on PATH, so no agent can be started`, {
    hint: `Install it (${runtime.install}), then run "maestro resume". To try the plan without a model: "maestro rehearse <plan>".`,
  });
}

/** When no agent succeeded, notes the fallback: delegate one agent at a time, supervised by the user. */
function noteFallback(store: SessionStore, end: EngineEnd): void {
  const { session } = store;
  if (end.kind !== "failed" || session === undefined) return;
  const results = session.phases.flatMap((phase) => phase.attempts.flatMap((attempt) => attempt.result ?? []));
  if (results.length < 2 || results.some((result) => result.outcome === "success")) return;
  const text =
    "All agents failed. Fallback: sequential delegation inside Gemini CLI, or retry the failed phases once the cause is fixed.";
  if (session.notes.at(-1)?.text === text) return;
  store.update((current) => ({ events: decideNote(requireSession(current), text, undefined), result: undefined }));
  store.close();
}
