// The loop: fold, decide, act, wait for something to end. It starts what `schedule` says, records what came of it, and stops
// when nothing can go on. All state is in the journal; what is kept here is only what runs at this moment.

import { MaestroError, type signalCodes } from "../errors.ts";
import type { Killed } from "../runtimes/runtime.ts";
import { decideCompletion, requirePhase, requireSession } from "../session/decide.ts";
import type { SessionEvent, SessionStatus } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import { judgeStatus } from "../session/transitions.ts";
import type { Update } from "../store/session-store.ts";
import { type PreparedAttempt, prepareAttempt, startAttempt } from "./attempt.ts";
import { type Backoff, isExhausted, onQuota, onSuccess, startBackoff } from "./backoff.ts";
import { adoptAttempt, type Consequence, finishAttempt, recordEnd, recordValidation } from "./finish.ts";
import { type Limits, type Schedule, schedule } from "./schedule.ts";
import { endAll } from "./tree.ts";
import { startValidation } from "./validation.ts";
import type { Workshop } from "./workshop.ts";

/** How often the engine looks what others have recorded. */
const POLL_MS = 250;
const SAME_REFUSAL_MS = 1000;
/** Clocks jump: nobody waits a year for a quota. */
const LONGEST_WAIT_MS = 300_000;

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
}

interface Ended {
  phase: string;
  record: (update: Update) => void;
}

interface Sign {
  phase: string;
  retryAfterMs: number | null;
}

/** What one turn of the loop decided; it is durable, and processes may start. */
interface Turn {
  plan: Schedule;
  starting: PreparedAttempt[];
  validating: string[];
}

export class Engine {
  readonly #workshop: Workshop;
  readonly #limits: EngineLimits;
  readonly #live = new Map<string, Live>();
  readonly #tasks = new Set<Promise<void>>();
  /** What has ended and is not recorded yet. */
  readonly #ended: Ended[] = [];
  /** The last words of what runs, by phase. */
  readonly activity = new Map<string, string>();
  #backoff: Backoff;
  /** When the attempt of a phase was last refused by the provider. */
  readonly #refused = new Map<string, number>();
  /** Refusals that running attempts have told of, not recorded yet. */
  readonly #signs: Sign[] = [];
  #lastLaunch: number | null = null;
  #lastLook = 0;
  #signal: StopSignal | null = null;
  #failure: unknown;
  #wake: () => void = () => undefined;

  constructor(workshop: Workshop, limits: EngineLimits) {
    this.#workshop = workshop;
    this.#limits = limits;
    this.#backoff = startBackoff(limits.slots);
  }

  /** How many attempts may run at the same time, now. */
  get slots(): number {
    return this.#limits.mode === "sequential" ? 1 : this.#backoff.slots;
  }

  /** Drives the session until nothing can go on. */
  async run(): Promise<EngineEnd> {
    const { supervisor } = this.#workshop;
    try {
      await this.#clearEarlierRuns();
      this.#setStatus("in_progress");
      this.#rememberQuota();
      for (;;) {
        const end = await this.#loop();
        if (this.#close(end)) return end;
      }
    } catch (error) {
      supervisor.stopAll("stopped");
      await Promise.all(this.#tasks);
      throw error;
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

  /** Nothing new starts, what runs is ended. A second call does not wait for anybody. */
  stop(signal: StopSignal): void {
    this.#workshop.supervisor.stopAll("stopped", this.#signal !== null);
    this.#signal ??= signal;
    this.#wake();
  }

  /** Each turn records everything that has ended and everything that is about to start with one durable write. */
  async #loop(): Promise<EngineEnd> {
    for (;;) {
      this.#look();
      this.#stopClosed(requireSession(this.#workshop.store.session));
      const { plan, starting, validating } = this.#record();
      for (const attempt of starting) this.#launch(attempt);
      for (const phase of validating) this.#validate(phase);
      if (this.#failure !== undefined) throw this.#failure;
      const session = requireSession(this.#workshop.store.session);
      const end = this.#live.size > 0 ? null : this.#end(session, plan);
      if (end !== null) return end;
      await this.#somethingHappens(plan.wakeAt);
    }
  }

  #record(): Turn {
    const { store, warn } = this.#workshop;
    const ended = this.#ended.splice(0);
    const signs = this.#signs.splice(0);
    const live = ended.map(({ phase }) => [phase, this.#live.get(phase)] as const);
    for (const { phase } of ended) this.#live.delete(phase);
    try {
      // Nothing to write down is found out without the lock.
      const ahead = this.#schedule(requireSession(store.session));
      const isQuiet = ended.length + signs.length === 0 && ahead.actions.every(({ kind }) => kind === "validate");
      if (isQuiet) return { plan: ahead, starting: [], validating: ahead.actions.map(({ phase }) => phase) };
      return store.updateAll((update) => this.#turn(update, ended, signs));
    } catch (error) {
      if (!(error instanceof MaestroError) || error.code !== "locked") throw error;
      // Somebody who has the lock sleeps. Agents go on meanwhile, and what has ended is recorded when it is free.
      warn(error.message);
      this.#ended.unshift(...ended);
      this.#signs.unshift(...signs);
      for (const [phase, one] of live) if (one !== undefined) this.#live.set(phase, one);
      return { plan: { actions: [], wakeAt: null, idle: false, end: null }, starting: [], validating: [] };
    }
  }

  #turn(update: Update, ended: readonly Ended[], signs: readonly Sign[]): Turn {
    const workshop = this.#workshop;
    const starting: PreparedAttempt[] = [];
    const validating: string[] = [];
    for (const { record } of ended) record(update);
    for (const { phase, retryAfterMs } of signs) this.#slowDown(phase, retryAfterMs, this.#live.size, update);
    const plan = this.#schedule(requireSession(workshop.store.session));
    for (const { kind, phase } of plan.actions) {
      if (kind === "launch") starting.push(prepareAttempt(workshop, phase, update));
      else if (kind === "validate") validating.push(phase);
      else this.#follow(recordEnd(workshop, adoptAttempt(workshop, phase), update), phase, update);
    }
    return { plan, starting, validating };
  }

  #schedule(session: Session): Schedule {
    const plan = schedule(session, this.#limits, {
      live: new Set(this.#live.keys()),
      now: performance.now(),
      lastLaunch: this.#lastLaunch,
      notBefore: this.#backoff.until,
      slots: this.slots,
      draining: this.#signal !== null || this.#isOutOfQuota(),
    });
    return this.#signal === null ? plan : { ...plan, actions: [] };
  }

  #end(session: Session, plan: Schedule): EngineEnd | null {
    if (session.aborted) return { kind: "aborted" };
    if (this.#signal !== null) return { kind: "interrupted", signal: this.#signal };
    if (this.#isOutOfQuota()) return { kind: "quota" };
    if (!plan.idle) return null;
    if (plan.end === "completed" || plan.end === "chosen") return { kind: plan.end };
    const failed = session.phases.filter((phase) => phase.status === "failed").map((phase) => phase.id);
    return { kind: "failed", phases: failed };
  }

  #isOutOfQuota(): boolean {
    return isExhausted(this.#backoff, performance.now(), this.#limits.quotaWaitMs);
  }

  #launch(prepared: PreparedAttempt): void {
    const workshop = this.#workshop;
    const { phase } = prepared;
    const attempt = startAttempt(workshop, prepared, {
      activity: (id, line) => void this.activity.set(id, line),
      quota: (id, retryAfterMs) => {
        this.#signs.push({ phase: id, retryAfterMs });
        this.#wake();
      },
    });
    if (workshop.runtime.callsModel) this.#lastLaunch = performance.now();
    this.#live.set(phase, attempt);
    this.#refused.delete(phase);
    this.#await(phase, attempt.exit, (exit) => {
      const finished = finishAttempt(workshop, attempt, exit);
      return (update) => this.#follow(recordEnd(workshop, finished, update), phase, update);
    });
  }

  #validate(phase: string): void {
    const validation = startValidation(this.#workshop, phase);
    this.activity.set(phase, "validating");
    this.#live.set(phase, validation);
    this.#await(
      phase,
      validation.done,
      (result) => (update) => recordValidation(this.#workshop, phase, result, update),
    );
  }

  /** Until the end of `work` is recorded the phase counts as live. What goes wrong in it ends the run. */
  #await<T>(phase: string, work: Promise<T>, ending: (result: T) => (update: Update) => void): void {
    const task = work
      .then((result) => void this.#ended.push({ phase, record: ending(result) }))
      .catch((error: unknown) => {
        this.#failure ??= error;
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
  #follow(consequence: Consequence, phase: string, update: Update): void {
    // The one that was refused has ended, and is not among those that run any more.
    if (consequence.kind === "quota") this.#slowDown(phase, consequence.retryAfterMs, this.#live.size + 1, update);
    if (consequence.kind === "success") {
      this.#backoff = onSuccess(this.#backoff, performance.now(), this.#limits.slots);
    }
  }

  /** The session as a whole waits: one phase's refusal is everybody's. */
  #slowDown(phase: string, retryAfterMs: number | null, running: number, update: Update): void {
    const now = performance.now();
    // An attempt tells of one refusal more than once: while it runs, and by its end.
    const told = this.#refused.get(phase) ?? Number.NEGATIVE_INFINITY;
    this.#refused.set(phase, now);
    const isLonger = now + (retryAfterMs ?? 0) > this.#backoff.until + SAME_REFUSAL_MS;
    if (now - told < SAME_REFUSAL_MS && !isLonger) return;
    const before = this.#backoff;
    const { quotaBaseMs: baseMs } = this.#limits;
    this.#backoff = onQuota(before, { now, retryAfterMs, baseMs, random: Math.random, running });
    const { until, slots } = this.#backoff;
    if (until === before.until) return;
    const wait_ms = Math.max(0, Math.round(until - now));
    const ends = new Date(this.#workshop.now().getTime() + wait_ms).toISOString();
    const event: SessionEvent = {
      type: "quota.hit",
      phase,
      wait_ms,
      until: ends,
      slots: Number.isFinite(slots) ? slots : null,
    };
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

  /** A wait that an earlier engine began is not cut short by a new one. */
  #rememberQuota(): void {
    const { quota } = requireSession(this.#workshop.store.session);
    const left = quota === null ? 0 : Date.parse(quota.until) - this.#workshop.now().getTime();
    if (left > 0) this.#backoff = { ...this.#backoff, until: performance.now() + Math.min(left, LONGEST_WAIT_MS) };
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
    this.#update((session) => statusEvents(session, status));
  }
}

function endEvents(session: Session, end: EngineEnd): SessionEvent[] {
  if (end.kind === "completed") return decideCompletion(session, undefined);
  if (end.kind === "aborted" || end.kind === "chosen") return [];
  return statusEvents(session, end.kind === "failed" ? "failed" : "interrupted");
}

function statusEvents(session: Session, status: SessionStatus): SessionEvent[] {
  if (session.status === status) return [];
  const verdict = judgeStatus(session, status);
  if (!verdict.legal) throw new MaestroError("illegal_transition", verdict.reason, { hint: verdict.hint });
  return [{ type: "session.status_set", status }];
}
