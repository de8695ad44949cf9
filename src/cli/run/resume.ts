// maestro resume: shows the state of the active session, asks for the decisions it waits for, and continues it.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { settleDelegations } from "../../engine/delegated/delegation-work.ts";
import { isAncestor } from "../../engine/process/ancestors.ts";
import { MaestroError } from "../../errors.ts";
import { NEEDS_A_PERSON } from "../../exit-codes.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { ownedFiles } from "../../session/decide/attempt.ts";
import { decideMode, requireSession } from "../../session/decide/operation.ts";
import { decideReviewMode } from "../../session/decide/review/decide-review.ts";
import { planChanges } from "../../session/plan-change.ts";
import { positionOf } from "../../session/position.ts";
import { answered } from "../../session/retry.ts";
import { isClosed, type Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { sweepResults } from "../../store/files/batch.ts";
import { liveDelegations } from "../../store/files/delegations.ts";
import { changedSince } from "../../store/files/project-files.ts";
import { changeSession, conflictsOf, movePhase } from "../../store/operations.ts";
import { revisePlan } from "../../store/revise.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { decisionLines, openDecisions } from "../../views/decision/open-decisions.ts";
import { resumeLines } from "../../views/decision/resume.ts";
import { approvePlan, decisionLook, programOf, settingsOf, tellUser, validateFile } from "../context.ts";
import { refuseInsideAttempt } from "../inside-attempt.ts";
import { type Io, printJsonLine } from "../io.ts";
import { recordBudget, refuseUnkeptIn, stillSpent } from "../kept-budget.ts";
import { paint } from "../paint.ts";
import { pricesOf } from "../prices.ts";
import { chosenRuntimes, selectionIn } from "../runtimes/cast.ts";
import { earlierRuntime } from "../runtimes/earlier.ts";
import { mayUseRuntimes } from "../runtimes/project-consent.ts";
import { engineFor, missingHere } from "../workers/remote-run.ts";
import { chooseMode, presetMode } from "./consent.ts";
import { refuseDetached } from "./dashboard-beside.ts";
import { detach } from "./detach.ts";
import { endRun } from "./end-run.ts";
import { askAboutFailed, showDecision } from "./escalate.ts";
import { chooseIsolation } from "./isolation.ts";
import { type AcceptFlags, isAccepted } from "./known-session.ts";
import { tellProject } from "./project-notes.ts";
import { chosenPhases, missingRuntime, noteMissing, openLiveStore, type RunFlags, startRun } from "./run.ts";
import { extraArguments, idleSession } from "./run-session.ts";

export interface ResumeFlags extends RunFlags, AcceptFlags {
  acceptPlanChange?: boolean;
}

export async function resume(io: Io, flags: ResumeFlags): Promise<number> {
  refuseInsideAttempt(io);
  refuseDetached(flags);
  const settings = settingsOf(io);
  const engine = engineFor(io, settings, flags);
  extraArguments(settings);
  pricesOf(io, settings);
  const store = openLiveStore(io, settings);
  openSession(store);
  await settleLost(io, store);
  const session = requireSession(store.session);
  if (session.status === "completed") {
    sweepResults(store.location, session.session_id);
    tellUser(io, `Session ${session.session_id} is completed. Archive it with "maestro archive".\n`);
    return 0;
  }
  chosenPhases(session.phases, flags.phases);
  const runtime = flags.runtime ?? earlierRuntime(session, selectionIn(io, settings).isMapped);
  if (runtime !== flags.runtime) io.err(`Runtime ${runtime}, as before; --runtime chooses another one\n`);
  const kept = runtime === undefined ? flags : { ...flags, runtime };
  const chosen = chosenRuntimes(io, settings, playedPhases(session), kept);
  if (!(await isAccepted(io, settings, session, flags))) return NEEDS_A_PERSON;
  if (!(await mayUseRuntimes(io, chosen.fromProject, flags))) return NEEDS_A_PERSON;
  const conflicts = conflictsOf(store.location, session);
  const shown = resumeLines(
    session,
    positionOf(session),
    conflicts,
    io.now(),
    paint(io.color),
    fixedPhases(io, session),
    programOf(io),
  );
  const hasOldPlan = conflicts.some((conflict) => conflict.kind === "plan_changed");
  const isUndecided = hasFailed(session, flags) && !flags.yes && !io.interactive;
  const isStuck = (hasOldPlan && !flags.acceptPlanChange) || (isUndecided && !flags.json);
  // When the user has to decide, the overview is the answer (stdout); otherwise it is progress (stderr).
  (isStuck ? io.out : io.err)(`${shown.join("\n")}\n\n`);
  if (isUndecided) tellDecisions(io, settings, session, flags);
  if (hasOldPlan && !(await takeNewPlan(io, settings, store, flags))) return NEEDS_A_PERSON;
  if (!(await decideFailed(io, settings, store, flags))) {
    store.close();
    if (!store.session?.aborted) return NEEDS_A_PERSON;
    return endRun(io, { store, settings, end: { kind: "aborted" }, json: false, yes: false, keepOpen: false });
  }
  const spent = stillSpent(io, settings, requireSession(store.session), flags);
  if (spent !== undefined) return spent;
  refuseUnkeptIn(io, settings, { chosen, flags }, requireSession(store.session));
  const lacking = missingHere(io, settings, flags, chosen);
  if (lacking !== undefined) {
    noteMissing(store, lacking);
    store.close();
    throw missingRuntime(lacking);
  }
  if (!(await ensureMode(io, settings, store, { flags, used: chosen.used }))) return NEEDS_A_PERSON;
  const { review } = flags;
  if (review !== undefined) changeSession(store, (current) => decideReviewMode(current, review));
  // A detached process gets the same flags.
  if (!flags.detach) recordBudget(io, settings, store, flags);
  store.close();
  const { location } = store;
  const { execution_mode, review: reviewed, total_phases: phases } = requireSession(store.session);
  const mode = execution_mode ?? "sequential";
  const { allowOverlap } = flags;
  const isolation = await chooseIsolation(io, { engine, mode, review: reviewed, location, phases, allowOverlap });
  if (session.execution_mode !== null || presetMode(settings, flags) !== null)
    tellProject(io, chosen.used, extraArguments(settings));
  if (flags.detach) return detach(io, ["resume"], flags);
  return startRun(io, { store, settings, chosen, isolation, flags });
}

/** What is still to be played. */
function playedPhases({ phases }: Session) {
  const open = phases.filter((phase) => !isClosed(phase));
  return open.map(({ id, agents, plan }) => ({ id, agent: agents[0] ?? "", runtime: plan?.runtime }));
}

function openSession(store: SessionStore): Session {
  const session = idleSession(store);
  if (session === undefined) {
    throw new MaestroError("environment", "Nothing to resume: no session is active", {
      hint: 'Start one with "maestro run <plan>".',
    });
  }
  if (session.aborted) {
    throw new MaestroError("environment", `Cannot resume: session ${session.session_id} was aborted`, {
      hint: 'Archive it with "maestro archive".',
    });
  }
  return session;
}

/** Prints the open decisions as the answer: `resume` starts nothing while one is open and the user cannot be asked. */
function tellDecisions(io: Io, settings: ResolvedSettings, session: Session, { json }: ResumeFlags): void {
  const look = decisionLook(io, settings);
  if (json) {
    const about = { session_id: session.session_id, open_decisions: openDecisions(session, look) };
    printJsonLine(io, { type: "decisions.open", ...about, exit_code: NEEDS_A_PERSON });
  } else io.out(`${decisionLines(session, look).join("\n")}\n`);
}

/** Records delegations as interrupted whose conversation has ended. The conversation that runs this command has no running delegation. */
async function settleLost(io: Io, store: SessionStore): Promise<void> {
  const isLive = liveDelegations(store.location, io.now(), ({ by }) => !isAncestor(by));
  await settleDelegations({ location: store.location, env: io.env, store, now: io.now, isLive });
}

function hasFailed({ phases }: Session, flags: ResumeFlags): boolean {
  const chosen = chosenPhases(phases, flags.phases);
  return phases.some((phase) => phase.status === "failed" && chosen?.has(phase.id) !== false);
}

/** Failed phases that may be fixed: at least one of their files was written after their last error. */
function fixedPhases(io: Io, session: Session): Set<string> {
  const fixed = session.phases.filter((phase) => {
    const error = phase.errors.findLast((one) => !one.resolved);
    const files = [...ownedFiles(phase), ...phase.files_created, ...phase.files_modified];
    return error !== undefined && changedSince(io.cwd, files, Date.parse(error.timestamp));
  });
  return new Set(fixed.map((phase) => phase.id));
}

/** Switches the session to the changed plan file, but only when the user passes --accept-plan-change. */
async function takeNewPlan(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  flags: ResumeFlags,
): Promise<boolean> {
  const session = requireSession(store.session);
  const path = session.implementation_plan ?? "";
  if (!existsSync(resolve(io.cwd, path))) {
    if (!flags.acceptPlanChange) {
      io.out(`The plan file of this session does not exist any more: ${path}\n`);
      io.out("Restore it, or pass --accept-plan-change to continue with the recorded plan.\n");
    }
    return flags.acceptPlanChange === true;
  }
  if (!flags.acceptPlanChange) {
    io.out(`The plan has changed since the session started: ${path}\n`);
    for (const line of await difference(io, settings, session, path)) io.out(`  ${line}\n`);
    io.out("Restore the old plan, or pass --accept-plan-change to continue with the new one.\n");
    return false;
  }
  const revised = revisePlan(store, await approvePlan(io, settings, path, flags));
  io.err(`The session now follows ${revised.path}\n`);
  return true;
}

async function difference(io: Io, settings: ResolvedSettings, session: Session, path: string): Promise<string[]> {
  try {
    const { report } = await validateFile(io, settings, path);
    if (report.plan === undefined) return report.errors.map((issue) => `${issue.code}: ${issue.message}`);
    const changes = planChanges(session, report.plan.phases);
    return changes.length === 0 ? ["The phases are the same; only the text around them differs."] : changes;
  } catch (error) {
    if (error instanceof MaestroError) return [error.message];
    throw error;
  }
}

/** Failed phases need a decision of the user; --yes takes the proposed one, which is to retry. */
async function decideFailed(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  flags: ResumeFlags,
): Promise<boolean> {
  const { MAESTRO_MAX_RETRIES: maxRetries } = settings.values;
  const { phases } = requireSession(store.session);
  const chosen = chosenPhases(phases, flags.phases);
  for (const { id } of phases.filter((one) => one.status === "failed" && chosen?.has(one.id) !== false)) {
    if (io.interactive && !flags.yes) showDecision(io, settings, store, id);
    const decision = flags.yes ? "retry" : await askAbout(io, id);
    if (decision === "leave") return false;
    if (decision === "options") {
      if (!(await askAboutFailed(io, settings, store, [id], { isShown: true }))) return false;
      continue;
    }
    const to = decision === "retry" ? "in_progress" : "skipped";
    const reason = flags.yes ? answered.yes : answered.resume;
    movePhase(store, { phase: id, to, userDecision: true, reason, maxRetries, now: io.now() });
  }
  return true;
}

async function askAbout(io: Io, id: string): Promise<"retry" | "skip" | "options" | "leave"> {
  if (!io.interactive) return "leave";
  for (;;) {
    const question = `Phase ${id}: has this issue been resolved? [y retry, n show options, s skip, q quit] `;
    const answer = (await io.ask(question))?.trim().toLowerCase() ?? "q";
    if (/^(y|yes|r|retry)$/.test(answer)) return "retry";
    if (/^(s|skip)$/.test(answer)) return "skip";
    if (/^(n|no)$/.test(answer)) return "options";
    if (/^(q|quit|)$/.test(answer)) return "leave";
  }
}

async function ensureMode(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  { flags, used }: { flags: ResumeFlags; used: readonly Runtime[] },
): Promise<boolean> {
  const { execution_mode, phases } = requireSession(store.session);
  if (execution_mode !== null) {
    if (flags.mode !== undefined && flags.mode !== execution_mode && flags.mode !== "ask") {
      throw new MaestroError("environment", `Cannot change the mode: the session runs in ${execution_mode} mode`, {
        hint: "The mode applies to the whole session. Resume without --mode.",
      });
    }
    return true;
  }
  const mode = await chooseMode(io, settings, { phases: phases.flatMap(({ plan }) => plan ?? []), used }, flags);
  if (mode === undefined) return false;
  store.update((session) => ({ events: decideMode(requireSession(session), mode), result: undefined }));
  return true;
}
