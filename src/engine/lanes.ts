// The limits of each runtime of a run: its own back-off, the quota that it shares with other sessions, and how many of its processes may run
// at once. A quota error of one runtime slows down only its own attempts.

import type { PhaseId } from "../ids.ts";
import { requirePhase } from "../session/decide/operation.ts";
import { lastAttempt, type Session, type SessionPhase } from "../session/session.ts";
import { type QuotaLimits, QuotaWatch } from "./quota/quota-watch.ts";
import type { RunContext } from "./run-context.ts";
import type { Lane } from "./schedule.ts";

export class Lanes {
  readonly #context: RunContext;
  readonly #limits: QuotaLimits;
  readonly #watches = new Map<string, QuotaWatch>();
  /** A wait that an earlier engine began. */
  #earlier: Session["quota"] = null;

  constructor(limits: QuotaLimits, context: RunContext) {
    this.#context = context;
    this.#limits = limits;
  }

  /** How many attempts may run now, with all runtimes that were used so far. */
  get slots(): number {
    const watches = [...this.#watches.values()];
    if (watches.length === 0) return this.#limits.slots;
    return Math.min(
      this.#limits.slots,
      watches.reduce((sum, { slots }) => sum + slots, 0),
    );
  }

  quota(runtime: string): QuotaWatch {
    const known = this.#watches.get(runtime);
    if (known !== undefined) return known;
    const { now, warn, sharedQuota } = this.#context;
    const made = new QuotaWatch(this.#limits, { now, warn, sharedQuota: sharedQuota(runtime) });
    made.remember(this.#earlier);
    this.#watches.set(runtime, made);
    return made;
  }

  remember(earlier: Session["quota"]): void {
    this.#earlier = earlier;
  }

  /** The runtime that the next attempt of a phase would have. */
  runtimeFor(session: Session, phase: SessionPhase): string {
    const { agents, cast } = this.#context;
    const agent = agents.get(phase.agents[0] ?? "");
    return agent === undefined ? "" : cast.choose(session, phase, agent).player.runtime.name;
  }

  /** What limits the attempts of a phase, for one decision of the scheduler: phases with the same runtime share a lane. */
  laneOf(session: Session, live: Iterable<PhaseId>): (phase: SessionPhase) => Lane {
    const lanes = new Map<string, Lane>();
    const busy = [...live].map((id) => lastAttempt(requirePhase(session, id))?.runtime);
    return (phase) => {
      const runtime = this.runtimeFor(session, phase);
      const known = lanes.get(runtime);
      if (known !== undefined) return known;
      const lane = this.#lane(runtime, busy.filter((one) => one === runtime).length);
      lanes.set(runtime, lane);
      return lane;
    };
  }

  #lane(runtime: string, running: number): Lane {
    const quota = this.quota(runtime);
    if (quota.isExhausted) return { free: 0, notBefore: Number.NEGATIVE_INFINITY };
    const { atOnce } = this.#context.cast.named(runtime).runtime.capabilities;
    const most = Math.min(quota.slots, atOnce ?? Number.POSITIVE_INFINITY);
    return { free: most - running, notBefore: quota.until };
  }

  /** The first open phase whose runtime has no quota left. */
  exhausted(session: Session): { phase: PhaseId; runtime: string } | undefined {
    const open = session.phases.filter(({ status }) => status === "pending" || status === "in_progress");
    const runtimes = open.map((phase) => ({ phase: phase.id, runtime: this.runtimeFor(session, phase) }));
    return runtimes.find(({ runtime }) => this.#watches.get(runtime)?.isExhausted);
  }

  /** The phases of `wanted` that may start, with respect to other sessions that use the same credentials. */
  claim(session: Session, wanted: readonly PhaseId[]): { phase: PhaseId; runtime: string }[] {
    const all = wanted.map((phase) => ({ phase, runtime: this.runtimeFor(session, requirePhase(session, phase)) }));
    return [...new Set(all.map(({ runtime }) => runtime))].flatMap((runtime) => {
      const ofRuntime = all.filter((one) => one.runtime === runtime);
      return ofRuntime.slice(0, this.quota(runtime).claim(ofRuntime.length));
    });
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close();
  }
}
