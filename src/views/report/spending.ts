// What a session used, by agent, what that costs and how it compares with the estimate. Unknown stays unknown, never 0.

import type { Usage } from "../../session/events.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { costOf, type Prices, priceOf, unpriced } from "./prices.ts";
import { type Reporting, reportingOf } from "./reporting.ts";

export interface Spending extends Reporting {
  input: number;
  output: number;
  cached: number;
  thoughts: number;
  /** USD; null when a price is unknown. */
  cost: number | null;
  /** The models without a price; null means an unnamed model. */
  unpriced: (string | null)[];
  /** By tokens, most first. */
  by_agent: AgentSpending[];
  variance: Variance | null;
}

export interface AgentSpending {
  agent: string;
  tokens: number;
  cost: number | null;
}

/** Over the completed phases that have an estimate and whose attempts all reported their tokens. */
export interface Variance {
  unit: "usd" | "tokens";
  estimated: number;
  actual: number;
  /** Null when the estimate is zero. */
  percent: number | null;
  phases: number;
}

export function spendingOf(session: Session, prices: Prices): Spending {
  const { total_input: input, total_output: output, total_cached: cached } = session.token_usage;
  const byAgent = usageByAgent(session);
  const usage = [...byAgent.values()].flat();
  return {
    input,
    output,
    cached,
    thoughts: usage.reduce((sum, used) => sum + used.thoughts, 0),
    cost: costOf(usage, prices),
    unpriced: unpriced(usage, prices),
    ...reportingOf(session),
    by_agent: [...byAgent]
      .map(([agent, used]) => ({ agent, tokens: tokensIn(used), cost: costOf(used, prices) }))
      .sort((one, other) => other.tokens - one.tokens || (one.agent < other.agent ? -1 : 1)),
    variance: varianceOf(session, prices),
  };
}

/** The same for programs: null when attempts ran and none reported tokens. */
export function spendingJson(spending: Spending) {
  const isKnown = spending.unreported === 0 || spending.input + spending.output > 0;
  return isKnown ? spending : { ...spending, input: null, output: null, cached: null, thoughts: null, cost: null };
}

/** Input and output of a phase's attempts; null when none of them reported any. */
export function phaseTokens(phase: SessionPhase): number | null {
  const usage = reportedBy(phase);
  return usage.length === 0 ? null : tokensIn(usage.flat());
}

/** What attempts reported, plus other recorded usage as that of an unnamed model. */
function usageByAgent(session: Session): Map<string, Usage[]> {
  const byAgent = new Map<string, Usage[]>(Object.keys(session.token_usage.by_agent).map((agent) => [agent, []]));
  for (const { agent, result } of session.phases.flatMap((phase) => phase.attempts)) {
    if (!result?.usage) continue;
    const known = byAgent.get(agent) ?? [];
    known.push(...result.usage);
    byAgent.set(agent, known);
  }
  for (const [agent, total] of Object.entries(session.token_usage.by_agent)) {
    const known = byAgent.get(agent) ?? [];
    const beside = (of: "input" | "output" | "cached") =>
      Math.max(0, total[of] - known.reduce((sum, used) => sum + used[of], 0));
    const rest = {
      model: null,
      input: beside("input"),
      output: beside("output"),
      cached: beside("cached"),
      thoughts: 0,
    };
    if (rest.input + rest.output > 0) known.push(rest);
  }
  return byAgent;
}

function varianceOf(session: Session, prices: Prices): Variance | null {
  const compared = session.phases.flatMap((phase) => {
    const estimate = phase.plan?.estimate;
    const usage = reportedBy(phase);
    const isComplete = phase.status === "completed" && usage.length > 0 && usage.length === phase.attempts.length;
    const isEstimated = estimate?.input_tokens !== undefined || estimate?.output_tokens !== undefined;
    if (!isComplete || !isEstimated) return [];
    const { input_tokens: input = 0, output_tokens: output = 0 } = estimate ?? {};
    const used = usage.flat();
    // The estimate names no model, so it uses the price of the model that did most of the work.
    const price = priceOf(mainModel(used), prices);
    const usd = price === undefined ? null : (input * price.input + output * price.output) / 1_000_000;
    return [{ tokens: input + output, usd, actualTokens: tokensIn(used), actualUsd: costOf(used, prices) }];
  });
  if (compared.length === 0) return null;
  const isPriced = compared.every(({ usd, actualUsd }) => usd !== null && actualUsd !== null);
  const sum = (of: "tokens" | "usd" | "actualTokens" | "actualUsd") =>
    compared.reduce((total, phase) => total + (phase[of] ?? 0), 0);
  const estimated = sum(isPriced ? "usd" : "tokens");
  const actual = sum(isPriced ? "actualUsd" : "actualTokens");
  const percent = estimated === 0 ? null : Math.round((actual / estimated - 1) * 100);
  return { unit: isPriced ? "usd" : "tokens", estimated, actual, percent, phases: compared.length };
}

function reportedBy(phase: SessionPhase): Usage[][] {
  return phase.attempts.flatMap(({ result }) => (result?.usage ? [result.usage] : []));
}

function mainModel(usage: readonly Usage[]): string | null {
  const byModel = new Map<string | null, number>();
  for (const used of usage) byModel.set(used.model, (byModel.get(used.model) ?? 0) + tokensIn([used]));
  return [...byModel].reduce((most, one) => (one[1] > most[1] ? one : most), [null, -1] as [string | null, number])[0];
}

function tokensIn(usage: readonly Usage[]): number {
  return usage.reduce((sum, { input, output }) => sum + input + output, 0);
}
