// Which runtime plays an agent: the one that was chosen for it, or the next of the fallback list once that one cannot continue. It uses
// only what a runtime describes, and stores nothing: a later engine tries the chosen runtime again.

import type { Agent } from "../agents/roster.ts";
import type { Tier } from "../agents/tiers.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { readerOf } from "../runtimes/runtime-table.ts";
import { lastAttempt, type Session, type SessionPhase } from "../session/session.ts";
import type { AgentEnvironment } from "./attempt/agent-environment.ts";

/** A runtime, ready to start. */
export interface Player {
  runtime: Runtime;
  /** Its program, found on PATH; undefined when it is missing. */
  program: string | undefined;
  /** The user's own arguments for it. */
  extraArgs: readonly string[];
  /** Builds the environment of an agent that works in a given directory. */
  agentEnvironment: AgentEnvironment;
}

export interface CastRules {
  /** The name of the runtime that the user chose for an agent. */
  byAgent: (agent: string) => string;
  /** In order. */
  fallback: readonly string[];
  /** Whether a tier that no runtime holds itself is held by something else, or allowed by the user. */
  allowsUnheld: boolean;
}

export interface Role {
  player: Player;
  /** The runtime that was chosen and cannot continue; null when this is the chosen one. */
  insteadOf: string | null;
  /** Whether the plan asks for another vendor and none is available, so that the vendor of the work reviews it. */
  isOwnReview: boolean;
}

export class Cast {
  readonly #players: ReadonlyMap<string, Player>;
  readonly #rules: CastRules;
  /** The runtimes that cannot continue in this run: no quota, no sign-in, or no program. */
  readonly #spent: Set<string>;

  constructor(players: readonly Player[], rules: CastRules) {
    this.#players = new Map(players.map((player) => [player.runtime.name, player]));
    this.#rules = rules;
    this.#spent = new Set(players.filter(({ program }) => program === undefined).map(({ runtime }) => runtime.name));
  }

  named(name: string): Player {
    const player = this.#players.get(name) ?? [...this.#players.values()][0];
    if (player === undefined) throw new Error("a run without runtimes");
    return player;
  }

  /** What reads the output of an attempt: an engine that takes over may have been started with other runtimes. */
  reader(name: string): Runtime {
    return this.#players.get(name)?.runtime ?? readerOf({ runtime: name });
  }

  choose(session: Session, phase: SessionPhase, agent: Pick<Agent, "name" | "tier">): Role {
    const chosen = this.chosenFor(session, phase, agent);
    const { tier } = agent;
    const found = this.#next(chosen, tier) ?? chosen;
    const isOwnReview = phase.plan?.review_by === "other" && this.#authors(session, phase).has(this.#vendorOf(found));
    return { player: this.named(found), insteadOf: found === chosen ? null : chosen, isOwnReview };
  }

  /** What the plan, the settings and the command line name for a phase, in that order. */
  chosenFor(session: Session, phase: SessionPhase, { name, tier }: Pick<Agent, "name" | "tier">): string {
    const chosen = phase.plan?.runtime ?? this.#rules.byAgent(name);
    if (phase.plan?.review_by !== "other") return chosen;
    const authors = this.#authors(session, phase);
    const isOther = (one: string) => !authors.has(this.#vendorOf(one));
    const candidates = [chosen, ...this.#rules.fallback, ...this.#players.keys()];
    const mayReview = (one: string) => isOther(one) && !this.#spent.has(one) && this.#mayPlay(one, tier);
    return candidates.find(mayReview) ?? chosen;
  }

  /** Those who did the work that a phase waits for. */
  #authors(session: Session, { blocked_by }: SessionPhase): Set<string> {
    const before = session.phases.filter(({ id }) => blocked_by.includes(id));
    const played = before.flatMap((one) => lastAttempt(one)?.runtime ?? []);
    return new Set(played.map((name) => this.#vendorOf(name)));
  }

  /** An agent behind the Agent Client Protocol may be another face of a runtime: its vendor is the same. */
  #vendorOf(name: string): string {
    return this.#players.get(name)?.runtime.account ?? name;
  }

  isSpent(name: string): boolean {
    return this.#spent.has(name);
  }

  /** Marks the runtime as unusable. Returns the name of the one that takes over for an agent of the tier; null when there is none. */
  failOver(name: string, tier: Tier): string | null {
    const isNew = !this.#spent.has(name);
    this.#spent.add(name);
    const next = this.#next(name, tier);
    // Without another runtime it stays in use, so that its own failure is reported.
    if (next === null && isNew) this.#spent.delete(name);
    return next;
  }

  #next(chosen: string, tier: Tier): string | null {
    const chain = [chosen, ...this.#rules.fallback];
    return chain.find((name) => !this.#spent.has(name) && this.#mayPlay(name, tier)) ?? null;
  }

  #mayPlay(name: string, tier: Tier): boolean {
    const { tiers } = this.named(name).runtime.capabilities;
    return this.#rules.allowsUnheld || tiers.includes(tier);
  }
}

type Models = { modelFor: (agent: Agent, runtime: string) => string | null };

/** The model of an attempt; null leaves the choice to the runtime. A plan names a model of the chosen runtime, which means nothing to another. */
export function modelOfRole(
  { modelFor }: Models,
  phase: SessionPhase,
  agent: Agent,
  { player, insteadOf }: Role,
): string | null {
  const named = insteadOf === null ? (phase.model ?? phase.plan?.model) : undefined;
  return named ?? modelFor(agent, player.runtime.name);
}
