// The loop: fold, decide, act, wait for something to end. It starts what `schedule` says, records what came of it, and stops
// when nothing can go on. All state is in the journal; what is kept here is only what runs at this moment.

import { MaestroError } from "../errors.ts";
import type { signalCodes } from "../exit-codes.ts";
import { limitGit, stopGit, wasStopped } from "../git/running.ts";
import type { PhaseId } from "../ids.ts";
import type { Killed } from "../runtimes/runtime.ts";
import { decideCompletion, decideStatus, requirePhase, requireSession } from "../session/decide/operation.ts";
import type { SessionEvent, SessionStatus } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import type { Update } from "../store/session-store.ts";
import { type PreparedAttempt, prepareAttempt } from "./attempt/attempt.ts";
import { adoptAttempt, clearAway, runAttempt } from "./attempt/attempt-run.ts";
import { type Consequence, type Finished, recordEnd, recordIntegration, recordValidation } from "./attempt/finish.ts";
import { startProjectValidation } from "./attempt/project-validation.ts";
import { startIntegration } from "./integrate/integrate.ts";
import { Predictor } from "./integrate/predict.ts";
import type { Ground } from "./isolation.ts";
import { type Due, Outbox } from "./outbox.ts";
import { endAll } from "./process/tree.ts";
import { QuotaWatch } from "./quota-watch.ts";
import { clearLeftovers } from "./recovery/prune.ts";
import type { RunContext } from "./run-context.ts";
import { type Limits, type Schedule, schedule } from "./schedule.ts";

/** How often the engine looks what others have recorded. */
const POLL_MS = 250;
/** A git that needs longer than this, or than the grace of the agents, waits for something that does not come. */
const LEAST_GIT_MS = 1000;

export interface EngineLimits extends Limits {
  quotaBaseMs: number;
  quotaWaitMs: number;
  graceMs: number;
}

type StopSignal = keyof typeof signalCodes;

export type EngineEnd =
  | { kind: "completed" }
  /** The phases that were asked for are done; others are left. */
  | { kind: "chosen" }
  /** Phases failed and somebody has to decide. */
  | { kind: "failed"; phases: string[] }
  | { kind: "interrupted"; signal: StopSignal }
  /** The provider has refused for longer than anybody wanted to wait. */
  | { kind: "quota" }
  | { kind: "aborted" };

interface Live {
  stop: (why: Killed) => void;
  /** Where an attempt works, once it does. */
  ground?: () => Ground | null;
}

interface Sign {
  phase: PhaseId;
  retryAfterMs: number | null;
}

/** What one turn of the loop decided; it is durable, and processes may start. */
interface Turn {
  plan: Schedule;
  starting: PreparedAttempt[];
}

export class Engine {
  readonly #workshop: RunContext;
  readonly #limits: EngineLimits;
  readonly #live = new Map<PhaseId, Live>();
  readonly #tasks = new Set<Promise<void>>();
  /** What is not recorded yet. */
  readonly #outbox = new Outbox(() => this.#wake());
  /** Worktrees that are being removed. */
  readonly #clearing = new Set<Promise<void>>();
  /** The last words of what runs, by phase. */
  readonly activity = new Map<PhaseId, string>();
  readonly #quota: QuotaWatch;
  readonly #predictor: Predictor;
  /** Refusals that running attempts have told of, not recorded yet. */
  readonly #signs: Sign[] = [];
  #lastLaunch: number | null = null;
  #lastLook = 0;
  #signal: StopSignal | null = null;
  #failure: unknown;
  #wake: () => void = () => undefined;
  #liftLimit: () => void = () => undefined;

  constructor(workshop: RunContext, limits: EngineLimits) {
    this.#workshop = workshop;
    this.#limits = limits;
    this.#quota = new QuotaWatch(limits, workshop.now);
    this.#predictor = new Predictor(workshop, {
      running: () => [...this.#live].map(([phase, { ground }]) => ({ phase, ground: ground?.() ?? null })),
      warn: (events) => this.#outbox.tell(events),
      fail: (error) => this.#fail(error),
    });
  }

  /** How many attempts may run at the same time, now. */
  get slots(): number {
    return this.#limits.mode === "sequential" ? 1 : this.#quota.slots;
  }

  /** Drives the session until nothing can go on. */
  async run(): Promise<EngineEnd> {
    const { supervisor } = this.#workshop;
    try {
      await this.#clearEarlierRuns();
      await clearLeftovers(this.#workshop);
      this.#setStatus("in_progress");
      this.#quota.remember(requireSession(this.#workshop.store.session).quota);
      this.#predictor.start();
      for (;;) {
        const end = await this.#loop();
        // What has ended has left nothing behind.
        await Promise.all(this.#clearing);
        if (this.#close(end)) return end;
      }
    } catch (error) {
      supervisor.stopAll("stopped");
      this.#outbox.breakUp(error);
      await Promise.all(this.#tasks);
      if (this.#signal === null || !wasStopped(error)) throw error;
      const end: EngineEnd = { kind: "interrupted", signal: this.#signal };
      this.#close(end);
      return end;
    } finally {
      await this.#predictor.stop();
      await Promise.all(this.#clearing);
      this.#liftLimit();
    }
  }

  /** Records how it ended; false when somebody has decided meanwhile that it goes on. */
  #close(end: EngineEnd): boolean {
    return this.#workshop.store.update((current) => {
      const session = requireSession(current);
      const isOver = end.kind !== "failed" || (this.#schedule(session).idle && !session.aborted);
      return { events: isOver ? endEvents(session, end) : [], result: isOver };
    });
  }

  /** Nothing new starts, what runs is ended. A second call does not wait for anybody, nor for git. */
  stop(signal: StopSignal): void {
    const isFirst = this.#signal === null;
    this.#workshop.supervisor.stopAll("stopped", !isFirst);
    if (!isFirst) stopGit();
    else this.#liftLimit = limitGit(Math.max(this.#limits.graceMs, LEAST_GIT_MS));
    this.#signal ??= signal;
    // Also what has no process at this moment.
    for (const live of this.#live.values()) live.stop("stopped");
    this.#wake();
  }

  /** Each turn records everything that has ended and everything that is about to start with one durable write. */
  async #loop(): Promise<EngineEnd> {
    for (;;) {
      this.#look();
      this.#stopClosed(requireSession(this.#workshop.store.session));
      const { plan, starting } = this.#record();
      for (const attempt of starting) this.#launch(attempt);
      for (const { kind, phase } of plan.actions) {
        if (kind === "adopt") this.#adopt(phase);
        if (kind === "validate") this.#validate(phase);
        if (kind === "integrate") this.#integrate(phase);
      }
      if (this.#failure !== undefined) throw this.#failure;
      const session = requireSession(this.#workshop.store.session);
      const end = this.#live.size > 0 ? null : this.#end(session, plan);
      if (end !== null) return end;
      await this.#somethingHappens(plan.wakeAt);
    }
  }

  #record(): Turn {
    const { store, warn } = this.#workshop;
    const due = this.#outbox.take();
    const signs = this.#signs.splice(0);
    const live = due.flatMap(({ phase }) => (phase === null ? [] : [[phase, this.#live.get(phase)] as const]));
    for (const [phase] of live) this.#live.delete(phase);
    try {
      // Nothing to write down is found out without the lock.
      const ahead = this.#schedule(requireSession(store.session));
      const isQuiet = due.length + signs.length === 0 && ahead.actions.every(({ kind }) => kind !== "launch");
      if (isQuiet) return { plan: ahead, starting: [] };
      const turn = store.updateAll((update) => this.#turn(update, due, signs));
      for (const { recorded } of due) recorded?.();
      return turn;
    } catch (error) {
      if (!(error instanceof MaestroError) || error.code !== "locked") throw error;
      // Somebody who has the lock sleeps. Agents go on meanwhile, and what has ended is recorded when it is free.
      warn(error.message);
      this.#outbox.putBack(due);
      this.#signs.unshift(...signs);
      for (const [phase, one] of live) if (one !== undefined) this.#live.set(phase, one);
      return { plan: { actions: [], wakeAt: null, idle: false, end: null }, starting: [] };
    }
  }

  #turn(update: Update, due: readonly Due[], signs: readonly Sign[]): Turn {
    const workshop = this.#workshop;
    const starting: PreparedAttempt[] = [];
    for (const { record } of due) record(update);
    for (const { phase, retryAfterMs } of signs) this.#slowDown(phase, retryAfterMs, this.#live.size, update);
    const plan = this.#schedule(requireSession(workshop.store.session));
    for (const { kind, phase } of plan.actions) {
      if (kind === "launch") starting.push(prepareAttempt(workshop, phase, update));
    }
    return { plan, starting };
  }

  #schedule(session: Session): Schedule {
    const plan = schedule(session, this.#limits, {
      live: new Set(this.#live.keys()),
      now: performance.now(),
      lastLaunch: this.#lastLaunch,
      notBefore: this.#quota.until,
      slots: this.slots,
      draining: this.#signal !== null || this.#quota.isExhausted,
    });
    return this.#signal === null ? plan : { ...plan, actions: [] };
  }

  #end(session: Session, plan: Schedule): EngineEnd | null {
    if (session.aborted) return { kind: "aborted" };
    if (this.#signal !== null) return { kind: "interrupted", signal: this.#signal };
    if (this.#quota.isExhausted) return { kind: "quota" };
    if (!plan.idle) return null;
    if (plan.end === "completed" || plan.end === "chosen") return { kind: plan.end };
    const failed = session.phases.filter((phase) => phase.status === "failed").map((phase) => phase.id);
    return { kind: "failed", phases: failed };
  }

  #launch(prepared: PreparedAttempt): void {
    const workshop = this.#workshop;
    const { phase } = prepared;
    const watcher = {
      activity: (id: PhaseId, line: string) => void this.activity.set(id, line),
      quota: (id: PhaseId, retryAfterMs: number | null) => {
        this.#signs.push({ phase: id, retryAfterMs });
        this.#wake();
      },
    };
    const attempt = runAttempt(workshop, prepared, watcher, (events) => this.#outbox.write(events));
    if (workshop.runtime.callsModel) this.#lastLaunch = performance.now();
    this.#live.set(phase, attempt);
    this.#quota.forget(phase);
    this.#await(phase, attempt.done, (finished) => (update) => this.#finish(finished, update));
  }

  /** An earlier engine died over its attempt. */
  #adopt(phase: PhaseId): void {
    this.#live.set(phase, { stop: () => undefined });
    this.#await(phase, adoptAttempt(this.#workshop, phase), (finished) => (update) => this.#finish(finished, update));
  }

  #finish(finished: Finished, update: Update): void {
    const { phase } = finished;
    this.#follow(recordEnd(this.#workshop, finished, update), phase, update);
    this.#clear(phase);
  }

  #integrate(phase: PhaseId): void {
    const integration = startIntegration(this.#workshop, phase, (events) => this.#outbox.write(events));
    this.activity.set(phase, "integrating");
    this.#live.set(phase, integration);
    this.#await(
      phase,
      integration.done,
      (result) => (update) => recordIntegration(this.#workshop, phase, result, update),
    );
  }

  #validate(phase: PhaseId): void {
    const validation = startProjectValidation(this.#workshop, phase);
    this.activity.set(phase, "validating");
    this.#live.set(phase, validation);
    this.#await(
      phase,
      validation.done,
      (result) => (update) => recordValidation(this.#workshop, phase, result, update),
    );
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#wake();
  }

  #clear(phase: PhaseId): void {
    const task = clearAway(this.#workshop, phase)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => void this.#clearing.delete(task));
    this.#clearing.add(task);
  }

  /** Until the end of `work` is recorded the phase counts as live. What goes wrong in it ends the run. */
  #await<T>(phase: PhaseId, work: Promise<T>, ending: (result: T) => (update: Update) => void): void {
    const task = work
      .then((result) => this.#outbox.add({ phase, record: ending(result) }))
      .catch((error: unknown) => {
        // Without git nobody can tell what an attempt did: as after a kill, the next engine looks and records it.
        if (!wasStopped(error)) this.#failure ??= error;
        this.#live.delete(phase);
      })
      .finally(() => {
        this.activity.delete(phase);
        this.#tasks.delete(task);
        this.#wake();
      });
    this.#tasks.add(task);
  }

  /** What an attempt's end means for the others. */
  #follow(consequence: Consequence, phase: PhaseId, update: Update): void {
    // The one that was refused has ended, and is not among those that run any more.
    if (consequence.kind === "quota") this.#slowDown(phase, consequence.retryAfterMs, this.#live.size + 1, update);
    if (consequence.kind === "success") this.#quota.success();
  }

  /** The session as a whole waits: one phase's refusal is everybody's. */
  #slowDown(phase: PhaseId, retryAfterMs: number | null, running: number, update: Update): void {
    const event = this.#quota.refused(phase, retryAfterMs, running);
    if (event === null) return;
    update(() => ({ events: [event], result: undefined }));
    this.#wake();
  }

  /** A person may have closed a phase whose attempt still runs, or ended the session. */
  #stopClosed(session: Session): void {
    for (const [phase, live] of this.#live) {
      if (session.aborted || requirePhase(session, phase).status !== "in_progress") live.stop("stopped");
    }
  }

  /** Reads what others have recorded. */
  #look(): void {
    const now = performance.now();
    if (now - this.#lastLook < POLL_MS) return;
    this.#lastLook = now;
    this.#workshop.store.refresh();
  }

  async #somethingHappens(wakeAt: number | null): Promise<void> {
    const wait = Math.min(POLL_MS, wakeAt === null ? POLL_MS : Math.max(1, wakeAt - performance.now()));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Whatever an earlier engine left running must be gone before anything of it is looked at. */
  async #clearEarlierRuns(): Promise<void> {
    const session = requireSession(this.#workshop.store.session);
    const runs = new Set(session.phases.flatMap((phase) => phase.attempts.map((attempt) => attempt.run)));
    if (runs.size > 0) await endAll({ groups: new Set(), runs }, this.#limits.graceMs);
  }

  #update(decide: (session: Session) => SessionEvent[]): void {
    this.#workshop.store.update((session) => ({ events: decide(requireSession(session)), result: undefined }));
  }

  #setStatus(status: SessionStatus): void {
    this.#update((session) => decideStatus(session, status));
  }
}

function endEvents(session: Session, end: EngineEnd): SessionEvent[] {
  if (end.kind === "completed") return decideCompletion(session, undefined);
  if (end.kind === "aborted" || end.kind === "chosen") return [];
  return decideStatus(session, end.kind === "failed" ? "failed" : "interrupted");
}
