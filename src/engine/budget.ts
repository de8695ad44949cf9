// The budget of a run: what an attempt may reserve, how its usage becomes amounts, and what its end settles at.

import { type Amounts, unitsOf, whole } from "../amounts.ts";
import type { PhaseId } from "../ids.ts";
import { noProgress, type Outcome, type Runtime } from "../runtimes/runtime.ts";
import {
  type BudgetStanding,
  budgetStanding,
  exceeded,
  proposedBudget,
  type Reservation,
  reservationFor,
  settle,
} from "../session/budget/reserve.ts";
import { requirePhase } from "../session/decide/operation.ts";
import type { Usage } from "../session/events.ts";
import type { Session, SessionPhase } from "../session/session.ts";
import type { Batch } from "../store/files/batch.ts";
import { geminiHome } from "../store/files/gemini-home.ts";
import { LiveTokens } from "../store/output/live-tokens.ts";
import { costOf, type Prices } from "../views/report/prices.ts";
import type { Metered, OutputFollower } from "./attempt/output-follower.ts";
import { OTHER_WORKER_KEY } from "./attempt/verdict.ts";
import { modelOfRole } from "./cast.ts";
import type { RunContext } from "./run-context.ts";
import type { EngineEnd } from "./run-end.ts";

/** How often a limited attempt is metered: what it uses in between is the most that it can exceed its reservation by. */
export const METER_MS = 500;
/** The first lines of a stream, with the id of the conversation. */
const HEAD_BYTES = 8 * 1024;

/** Cached tokens count as tokens; money is unknown when a model that was used has no price. */
export function chargeOf(usage: readonly Usage[], prices: Prices, requests?: number): Amounts {
  const usd = costOf(usage, prices);
  const tok = usage.reduce((sum, { input, output, thoughts }) => sum + input + output + thoughts, 0);
  return {
    tok,
    ...(usd === null ? {} : { usd: whole("usd", usd) }),
    ...(requests === undefined ? {} : { req: requests }),
  };
}

type Models = Pick<RunContext, "agents" | "cast" | "modelFor" | "prices">;

/** What the next attempt of the phase reserves, by its plan and by what the session has spent. */
export function reserve(
  context: Models,
  session: Session,
  phase: SessionPhase,
  standing = budgetStanding(session),
): Reservation {
  return reservationFor(standing, phase, estimateOf(context, session, phase));
}

function estimateOf(context: Models, session: Session, phase: SessionPhase): Amounts {
  const { input_tokens: input, output_tokens: output } = phase.plan?.estimate ?? {};
  if (input === undefined || output === undefined) return {};
  const agent = context.agents.get(phase.agents[0] ?? "");
  const model =
    agent === undefined ? null : modelOfRole(context, phase, agent, context.cast.choose(session, phase, agent));
  const used = { model, input: Math.round(input), output: Math.round(output), cached: 0, thoughts: 0 };
  return chargeOf([used], context.prices);
}

/** Whether the budget suffices for an attempt of a phase; undefined when nothing is limited, so that it costs nothing. */
export function affordsIn(context: Models, session: Session): ((phase: SessionPhase | PhaseId) => boolean) | undefined {
  if (session.budget === null) return undefined;
  let standing: BudgetStanding | undefined;
  return (phase) => {
    const one = typeof phase === "string" ? requirePhase(session, phase) : phase;
    standing ??= budgetStanding(session);
    return reserve(context, session, one, standing).kind !== "short";
  };
}

/** The end of a run that can start nothing more: what is short, and a budget that would do. */
export function budgetEnd(context: Models, session: Session): EngineEnd {
  const standing = budgetStanding(session);
  const open = session.phases.filter((phase) => phase.status === "pending" || phase.status === "in_progress");
  const [first] = open.flatMap((phase) => {
    const reservation = reserve(context, session, phase, standing);
    return reservation.kind === "short" ? [{ phase: phase.id, wanted: reservation.wanted }] : [];
  });
  if (first === undefined) return { kind: "failed", phases: [] };
  const { spent } = standing.ledger ?? { spent: {} };
  return { kind: "budget", spent: { ...first, spent, proposed: proposal(context, session, standing) } };
}

/** A budget with which the open phases could continue. */
function proposal(context: Models, session: Session, standing: BudgetStanding): Amounts {
  return proposedBudget(session, standing, (phase) => {
    const reservation = reserve(context, session, phase, standing);
    if (reservation.kind === "unlimited") return {};
    return reservation.kind === "short" ? reservation.wanted : reservation.amounts;
  });
}

/** Whether a running attempt has used more than it reserved. `model`: the one that Maestro asked for, which its stream may not name. */
export function isOver(
  { prices }: Pick<RunContext, "prices">,
  { metered }: Pick<OutputFollower, "metered">,
  { reserved, model }: { reserved?: Amounts | undefined; model: string | null },
): boolean {
  if (reserved === undefined || metered === null) return false;
  const named = metered.usage.map((one) => ({ ...one, model: one.model ?? model }));
  return exceeded(chargeOf(named, prices, metered.requests), reserved) !== undefined;
}

/** What an attempt that has ended is charged; undefined when it had reserved nothing. `told`: what was metered on another machine. */
export function settled(
  context: RunContext,
  { name, runtime, reserved }: { name: string; runtime: string; reserved?: Amounts | undefined },
  outcome: Outcome,
  told?: Metered | null,
): Amounts | undefined {
  if (reserved === undefined) return undefined;
  const { batch, cast, environment, prices } = context;
  const found = told === undefined ? meteredAt(batch, cast.named(runtime).runtime, environment({}), name) : told;
  const metered = found === null ? null : chargeOf(found.usage, prices, found.requests);
  const requests = metered?.req;
  const reported = outcome.usage === null ? null : chargeOf(outcome.usage, prices, requests);
  const isRejected = outcome.kind === "quota" && outcome.text === "";
  const isUnbilled = outcome.reason === "not_started" || outcome.reason === OTHER_WORKER_KEY || isRejected;
  return settle({ reserved, reported, metered, isUnbilled });
}

/** What the transcript of an attempt on this machine says that it used; null when it says nothing. `env`: the attempt's variables. */
export function meteredAt(batch: Batch, runtime: Runtime, env: Record<string, string>, name: string): Metered | null {
  const head = batch.readRange(name, "json", 0, HEAD_BYTES).bytes.toString("utf8");
  const { conversation } = runtime.progress(noProgress, head.slice(0, head.lastIndexOf("\n") + 1));
  if (conversation === null) return null;
  const meter = new LiveTokens(geminiHome(env));
  return meter.read(conversation) === null ? null : { usage: meter.answers, requests: meter.answers.length };
}

/** One entry for each model. */
export function byModel(usage: readonly Usage[]): Usage[] {
  const sums = new Map<string | null, Usage>();
  for (const one of usage) {
    const sum = sums.get(one.model) ?? { model: one.model, input: 0, output: 0, cached: 0, thoughts: 0 };
    sums.set(one.model, {
      model: one.model,
      input: sum.input + one.input,
      output: sum.output + one.output,
      cached: sum.cached + one.cached,
      thoughts: sum.thoughts + one.thoughts,
    });
  }
  return [...sums.values()];
}

/** Whether a budget in money can be kept with the model. */
export function hasPrice(model: string | null, prices: Prices): boolean {
  return costOf([{ model, input: 1, output: 1, cached: 0, thoughts: 0 }], prices) !== null;
}

export function hasUnit(amounts: Amounts, unit: "usd" | "req"): boolean {
  return unitsOf(amounts).includes(unit);
}
