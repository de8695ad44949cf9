// The main loop of a run: read the session, ask `schedule` what to do, start it, record results, wait. It ends when no phase can
// proceed. All lasting state is in the journal; this class only holds what is running right now.

import { MaestroError } from "../errors.ts";
import { limitGit, stopGit, wasStopped } from "../git/running.ts";
import type { PhaseId } from "../ids.ts";
import type { Killed } from "../runtimes/runtime.ts";
import { decideStatus, requirePhase, requireSession } from "../session/decide/operation.ts";
import type { SessionEvent, SessionStatus } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import type { Update } from "../store/session-store.ts";
import { type PreparedAttempt, prepareAttempt, runtimeOf, type Watcher } from "./attempt/attempt.ts";
import { type AttemptRuns, adoptAttempt, removeLastWorktree, runAttempt } from "./attempt/attempt-run.ts";
import { type Consequence, type Finished, recordEnd, recordIntegration, recordValidation } from "./attempt/finish.ts";
import { startProjectValidation } from "./attempt/project-validation.ts";
import { takeMissingBaseline } from "./baseline/missing-baseline.ts";
import { affordsIn, budgetEnd } from "./budget.ts";
import { failOverNow, recordRefusal } from "./fail-over.ts";
import { type Integration, startIntegration } from "./integrate/integrate.ts";
import { Predictor } from "./integrate/predict.ts";
import { projectTree, recordBatchReview } from "./integrate/review.ts";
import type { Ground, Moment } from "./isolation.ts";
import { Lanes } from "./lanes.ts";
import { type Due, Outbox } from "./outbox.ts";
import { Stopping } from "./process/stopping.ts";
import { killEarlierRuns } from "./recovery/earlier-runs.ts";
import { orReport } from "./recovery/problem.ts";
import { clearLeftovers, discardObjects } from "./recovery/prune.ts";
import type { RunContext } from "./run-context.ts";
import { doneKind, type EngineEnd, endEvents, type StopSignal } from "./run-end.ts";
import { type Action, type BatchReview, type Limits, type Schedule, schedule } from "./schedule.ts";

/** How often the engine reads what other processes have recorded. */
const POLL_MS = 250;
/** After a stop, git gets at least this long (or the agents' grace period) before it is considered stuck. */
const LEAST_GIT_MS = 1000;

export interface EngineLimits extends Limits {
  /** When all phases are done, the session stays in progress for a final review. */
  leaveOpen?: boolean | undefined;
  quotaBaseMs: number;
  quotaWaitMs: number;
  graceMs: number;
}

interface Live {
  stop: (why: Killed) => void;
  /** Where the attempt works; null until it is placed. */
  ground?: () => Ground | null;
}

/** A quota error seen in the output of a running attempt. */
interface QuotaSign {
  phase: PhaseId;
  retryAfterMs: number | null;
}

/** What one iteration of the loop decided. It is durable, so processes may start. */
interface Turn {
  plan: Schedule;
  starting: PreparedAttempt[];
}

export class Engine {
  readonly #context: RunContext;
  readonly #limits: EngineLimits;
  readonly #runs: AttemptRuns;
  readonly #live = new Map<PhaseId, Live>();
  readonly #tasks = new Set<Promise<void>>();
  /** Results that are not recorded yet. */
  readonly #outbox = new Outbox(() => this.#wake());
  /** Worktrees that are being removed. */
  readonly #removals = new Set<Promise<void>>();
  /** The last output line of each running phase. */
  readonly activity = new Map<PhaseId, string>();
  /** The tokens of each running attempt so far. */
  readonly tokens = new Map<PhaseId, number>();
  readonly #lanes: Lanes;
  readonly #predictor: Predictor;
  /** Quota errors of running attempts that are not recorded yet. */
  readonly #quotaSigns: QuotaSign[] = [];
  /** Stops what runs before the first phase. */
  readonly #before = new Stopping();
  readonly #write = (events: SessionEvent[]) => this.#outbox.write(events);
  readonly #watcher: Watcher = {
    activity: (id, line) => void this.activity.set(id, line),
    tokens: (id, sofar) => void this.tokens.set(id, sofar),
    quota: (phase, retryAfterMs) => {
      if (this.#quotaSigns.push({ phase, retryAfterMs })) this.#wake();
    },
  };
  #lastLaunch: number | null = null;
  #lastRefresh = 0;
  #signal: StopSignal | null = null;
  #failure: unknown;
  #wake: () => void = () => undefined;
  #liftLimit: () => void = () => undefined;

  constructor(context: RunContext, limits: EngineLimits, runs: AttemptRuns = { run: runAttempt, adopt: adoptAttempt }) {
    this.#context = context;
    this.#runs = runs;
    this.#limits = limits;
    this.#lanes = new Lanes(limits, context);
    this.#predictor = new Predictor(context, {
      running: () => [...this.#live].map(([phase, { ground }]) => ({ phase, ground: ground?.() ?? null })),
      warn: (events) => this.#outbox.tell(events),
      fail: (error) => this.#fail(error),
    });
  }

  /** How many attempts may currently run at the same time. */
  get slots(): number {
    return this.#limits.mode === "sequential" ? 1 : this.#lanes.slots;
  }

  /** Runs the session until no phase can proceed. */
  async run(): Promise<EngineEnd> {
    const { supervisor } = this.#context;
    try {
      await killEarlierRuns(this.#context.store.session, this.#limits.graceMs);
      await clearLeftovers(this.#context);
      this.#setStatus("in_progress");
      await takeMissingBaseline(this.#context, this.#before);
      this.#lanes.remember(requireSession(this.#context.store.session).quota);
      for (;;) {
        this.#predictor.start();
        const end = await this.#loop();
        // What is temporary is removed before the end is recorded: after a kill, the next engine removes it only if the session is not over.
        await this.#predictor.stop();
        await Promise.all(this.#removals);
        await this.#discardObjects();
        if (this.#recordRunEnd(end)) return end;
      }
    } catch (error) {
      supervisor.stopAll("stopped");
      this.#outbox.breakUp(error);
      await Promise.all(this.#tasks);
      if (this.#signal === null || !wasStopped(error)) throw error;
      const end: EngineEnd = { kind: "interrupted", signal: this.#signal };
      this.#recordRunEnd(end);
      return end;
    } finally {
      await this.#predictor.stop();
      await Promise.all(this.#removals);
      this.#context.isolation.close();
      this.#lanes.close();
      this.#liftLimit();
    }
  }

  /** After a signal the next run does it: git must not start again. */
  async #discardObjects(): Promise<void> {
    const { isolation, store, warn } = this.#context;
    const { repository } = isolation.options;
    if (repository === null || this.#signal !== null) return;
    await orReport(
      ({ message }) => warn(`Temporary git objects could not be deleted: ${message}`),
      () => discardObjects({ repository, location: store.location }, store.session),
    );
    isolation.changed();
  }

  /** Records how the run ended; false when a decision of the user allows it to continue. */
  #recordRunEnd(end: EngineEnd): boolean {
    return this.#context.store.update((current) => {
      const session = requireSession(current);
      const waits = end.kind === "failed" || end.kind === "review" || end.kind === "budget";
      const isOver = !waits || (this.#schedule(session).idle && !session.aborted);
      return { events: isOver ? endEvents(session, end) : [], result: isOver };
    });
  }

  /** Starts nothing new and stops everything that runs. A second call kills agents and git without waiting. */
  stop(signal: StopSignal): void {
    const isFirst = this.#signal === null;
    this.#context.supervisor.stopAll("stopped", !isFirst);
    if (!isFirst) stopGit();
    else this.#liftLimit = limitGit(Math.max(this.#limits.graceMs, LEAST_GIT_MS));
    this.#signal ??= signal;
    // Work between two processes has none to signal, so it is stopped explicitly.
    for (const live of this.#live.values()) live.stop("stopped");
    this.#before.stop("stopped");
    this.#wake();
  }

  /** Each iteration records everything that ended and everything about to start with one durable write. */
  async #loop(): Promise<EngineEnd> {
    for (;;) {
      // Whatever arrives while this waits is recorded below.
      const moment = await this.#context.isolation.known(requireSession(this.#context.store.session));
      this.#refresh();
      this.#stopClosedPhases(requireSession(this.#context.store.session));
      const { plan, starting } = this.#record(moment);
      for (const attempt of starting) this.#launch(attempt);
      for (const action of plan.actions) this.#begin(action);
      if (this.#failure !== undefined) throw this.#failure;
      const session = requireSession(this.#context.store.session);
      const end = this.#live.size > 0 ? null : this.#end(session, plan);
      if (end !== null) return end;
      await this.#waitForEvent(plan.wakeAt);
    }
  }

  #begin(action: Action): void {
    const { kind, phase } = action;
    if (kind === "adopt") this.#adopt(phase);
    if (kind === "validate") this.#validate(phase);
    if (kind === "integrate") this.#integrate(phase);
    if (kind === "review") this.#review(phase, action);
  }

  #record(moment: Moment | undefined): Turn {
    const { store, warn } = this.#context;
    const due = this.#outbox.take();
    const signs = this.#quotaSigns.splice(0);
    const live = due.flatMap(({ phase }) => (phase === null ? [] : [[phase, this.#live.get(phase)] as const]));
    for (const [phase] of live) this.#live.delete(phase);
    try {
      // Take the lock only when there is something to record.
      const ahead = this.#schedule(requireSession(store.session));
      const hasNothingToRecord =
        due.length + signs.length === 0 && ahead.actions.every(({ kind }) => kind !== "launch");
      if (hasNothingToRecord) return { plan: ahead, starting: [] };
      const turn = store.updateAll((update) => this.#turn(update, due, signs, moment));
      for (const { recorded } of due) recorded?.();
      return turn;
    } catch (error) {
      if (!(error instanceof MaestroError) || error.code !== "locked") throw error;
      // Another process holds the lock. Agents keep running, and their results are recorded when the lock is free.
      warn(error.message);
      this.#outbox.putBack(due);
      this.#quotaSigns.unshift(...signs);
      for (const [phase, one] of live) if (one !== undefined) this.#live.set(phase, one);
      return { plan: { actions: [], wakeAt: null, idle: false, end: null }, starting: [] };
    }
  }

  #turn(update: Update, due: readonly Due[], signs: readonly QuotaSign[], moment: Moment | undefined): Turn {
    const context = this.#context;
    const starting: PreparedAttempt[] = [];
    for (const { record } of due) record(update);
    for (const { phase, retryAfterMs } of signs) this.#slowDown(phase, retryAfterMs, this.#live.size, update);
    const plan = this.#schedule(requireSession(context.store.session));
    const launches = plan.actions.flatMap(({ kind, phase }) => (kind === "launch" ? [phase] : []));
    for (const { phase, runtime } of this.#lanes.claim(requireSession(context.store.session), launches)) {
      // An attempt that was prepared just now may have reserved what was left.
      const affords = affordsIn(context, requireSession(context.store.session));
      if (affords?.(phase) !== false) starting.push(prepareAttempt(context, phase, update, moment));
      else this.#lanes.quota(runtime).release(1);
    }
    return { plan, starting };
  }

  #schedule(session: Session): Schedule {
    const plan = schedule(session, this.#limits, {
      live: new Set(this.#live.keys()),
      now: performance.now(),
      lastLaunch: this.#lastLaunch,
      notBefore: Number.NEGATIVE_INFINITY,
      slots: this.#limits.slots,
      affords: affordsIn(this.#context, session),
      laneOf: this.#lanes.laneOf(session, this.#live.keys()),
      draining: this.#signal !== null,
    });
    return this.#signal === null ? plan : { ...plan, actions: [] };
  }

  #end(session: Session, plan: Schedule): EngineEnd | null {
    if (session.aborted) return { kind: "aborted" };
    if (this.#signal !== null) return { kind: "interrupted", signal: this.#signal };
    if (plan.idle && plan.end === "completed") return { kind: doneKind(session, this.#limits.leaveOpen) };
    if (!plan.idle) return null;
    const spent = this.#lanes.exhausted(session);
    if (spent !== undefined) return failOverNow(this.#context, spent) ? null : { kind: "quota" };
    if (plan.end === "chosen" || plan.end === "review") return { kind: plan.end };
    if (plan.end === "budget") return budgetEnd(this.#context, session);
    return { kind: "failed", phases: session.phases.filter(({ status }) => status === "failed").map(({ id }) => id) };
  }

  #launch(prepared: PreparedAttempt): void {
    const { phase } = prepared;
    const attempt = this.#runs.run(this.#context, prepared, this.#watcher, this.#write);
    if (this.#context.callsModel) this.#lastLaunch = performance.now();
    this.#live.set(phase, attempt);
    const quota = this.#lanes.quota(prepared.player.runtime.name);
    quota.forget(phase);
    this.#await(phase, attempt.done, (finished) => (update) => {
      this.#finish(finished, update);
      quota.release(1);
    });
  }

  /** Takes over the attempt of an engine that died. */
  #adopt(phase: PhaseId): void {
    const adopted = this.#runs.adopt(this.#context, phase, this.#watcher, this.#write);
    this.#live.set(phase, adopted);
    this.#await(phase, adopted.done, (finished) => (update) => this.#finish(finished, update));
  }

  #finish(finished: Finished, update: Update): void {
    const { phase } = finished;
    this.#applyConsequence(recordEnd(this.#context, finished, update), phase, update);
    this.#removeWorktree(phase);
  }

  #integrate(phase: PhaseId): void {
    const integration = startIntegration(this.#context, phase, this.#write);
    this.activity.set(phase, "integrating");
    this.#live.set(phase, integration);
    const record = (result: Integration) => (update: Update) => recordIntegration(this.#context, phase, result, update);
    this.#await(phase, integration.done, record);
  }

  #validate(phase: PhaseId): void {
    const validation = startProjectValidation(this.#context, phase);
    this.activity.set(phase, "validating");
    this.#live.set(phase, validation);
    this.#await(phase, validation.done, (result) => (update) => recordValidation(this.#context, phase, result, update));
  }

  #review(phase: PhaseId, batch: BatchReview): void {
    this.#live.set(phase, { stop: () => undefined });
    this.#await(phase, projectTree(this.#context), (tree) => (update) => recordBatchReview(batch, tree, update));
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#wake();
  }

  #removeWorktree(phase: PhaseId): void {
    const task = removeLastWorktree(this.#context, phase)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => void this.#removals.delete(task));
    this.#removals.add(task);
  }

  /** The phase counts as live until the end of `work` is recorded. An error in `work` ends the run. */
  #await<T>(phase: PhaseId, work: Promise<T>, ending: (result: T) => (update: Update) => void): void {
    const task = work
      .then((result) => this.#outbox.add({ phase, record: ending(result) }))
      .catch((error: unknown) => {
        // When git was stopped, the attempt's changes are unknown: the next engine examines and records them, as after a crash.
        if (!wasStopped(error)) this.#failure ??= error;
        this.#live.delete(phase);
      })
      .finally(() => {
        this.activity.delete(phase);
        this.tokens.delete(phase);
        this.#tasks.delete(task);
        this.#wake();
      });
    this.#tasks.add(task);
  }

  /** Applies the effect of an attempt's end on the rest of the run. */
  #applyConsequence(consequence: Consequence, phase: PhaseId, update: Update): void {
    // The rejected attempt has ended and is no longer in `#live`, so it is added to the count.
    if (consequence.kind === "quota") this.#slowDown(phase, consequence.retryAfterMs, this.#live.size + 1, update);
    if (consequence.kind === "success") this.#lanes.quota(runtimeOf(this.#context, phase).name).success();
  }

  /** Makes all attempts with the same runtime wait; when the wait would be too long, another runtime takes over. */
  #slowDown(phase: PhaseId, retryAfterMs: number | null, running: number, update: Update): void {
    recordRefusal(this.#context, this.#lanes, { phase, retryAfterMs, running }, update);
    this.#wake();
  }

  /** Stops the attempts of phases that the user has closed, or of an aborted session. */
  #stopClosedPhases(session: Session): void {
    for (const [phase, live] of this.#live) {
      if (session.aborted || requirePhase(session, phase).status !== "in_progress") live.stop("stopped");
    }
  }

  /** Reads what other processes have recorded. */
  #refresh(): void {
    const now = performance.now();
    if (now - this.#lastRefresh < POLL_MS) return;
    this.#lastRefresh = now;
    this.#context.store.refresh();
  }

  async #waitForEvent(wakeAt: number | null): Promise<void> {
    const wait = Math.min(POLL_MS, wakeAt === null ? POLL_MS : Math.max(1, wakeAt - performance.now()));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #setStatus(status: SessionStatus): void {
    const events = (current: Session | undefined) => decideStatus(requireSession(current), status);
    this.#context.store.update((current) => ({ events: events(current), result: undefined }));
  }
}
