// Whether the user may give a failed phase to another agent: it must exist, be enabled, and be able to do what the phase asks for. Pure.

import { nearest } from "../../agents/nearest.ts";
import { resolveAgent } from "../../agents/resolve.ts";
import type { Tier } from "../../agents/tiers.ts";
import { MaestroError } from "../../errors.ts";
import { canTake } from "../scope.ts";
import type { SessionPhase } from "../session.ts";

export interface AgentChoice {
  agents: readonly { name: string; tier: Tier }[];
  /** Names of agents that must not be used. */
  disabled: readonly string[];
}

/** The canonical name of the agent; throws with the reason and the agents that can take the phase. */
export function otherAgent(phase: SessionPhase, given: string, { agents, disabled }: AgentChoice): string {
  const able = agents.filter(({ name, tier }) => !disabled.includes(name) && canTake(phase, tier));
  const hint = `Agents that can take it: ${able.map(({ name }) => name).join(", ") || "none"}.`;
  const names = agents.map(({ name }) => name);
  const found = resolveAgent(given, names, disabled);
  if (found.kind === "disabled") {
    const message = `Cannot give phase ${phase.id} to ${found.name}: it is disabled by MAESTRO_DISABLED_AGENTS`;
    throw new MaestroError("usage", message, { hint });
  }
  if (found.kind === "unknown") {
    const message = `Cannot give phase ${phase.id} to ${JSON.stringify(given.slice(0, 64))}: it is not an agent`;
    const near = nearest(
      given.slice(0, 64),
      able.map(({ name }) => name),
    );
    throw new MaestroError("usage", message, { hint: near === undefined ? hint : `Did you mean ${near}? ${hint}` });
  }
  const tier = agents.find(({ name }) => name === found.name)?.tier;
  if (canTake(phase, tier)) return found.name;
  const message = `Cannot give phase ${phase.id} to ${found.name}: it is ${tier} and cannot write, and the phase owns files`;
  throw new MaestroError("usage", message, { hint });
}
