// What a run does about its budget: refuses one that it could not enforce, shows a spent one, and records what `resume --budget` raises.

import { type Amounts, addAmounts, isNothing, parseAmounts, replaced } from "../amounts.ts";
import { chargeOf, hasPrice, hasUnit } from "../engine/budget.ts";
import { MaestroError } from "../errors.ts";
import { USED_UP } from "../exit-codes.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { DEFAULT_RUNTIME } from "../runtimes/runtime-table.ts";
import { spentBefore } from "../session/budget/ledger.ts";
import { budgetSet } from "../session/decide/facts.ts";
import { isClosed, type Session } from "../session/session.ts";
import type { ResolvedSettings } from "../settings.ts";
import { changeSession } from "../store/operations.ts";
import type { SessionStore } from "../store/session-store.ts";
import { decisionLines, openDecisions } from "../views/decision/open-decisions.ts";
import { decisionLook, rosterOf } from "./context.ts";
import { type Io, printJsonLine } from "./io.ts";
import { pricesOf } from "./prices.ts";
import { budgetFlag, type EngineFlags } from "./run/engine-options.ts";
import type { Chosen } from "./runtimes/cast.ts";
import { modelOfRuntime } from "./runtimes/model.ts";

interface Budgeted {
  chosen: Chosen;
  flags: EngineFlags;
}

interface Phase {
  id: string;
  agent: string;
  model?: string | undefined;
  runtime?: string | undefined;
  budget?: Amounts | undefined;
}

/** Throws when a limit could not be kept: an unknown price or uncounted requests would let the session spend without end. */
export function refuseUnkept(
  io: Io,
  settings: ResolvedSettings,
  { chosen, flags }: Budgeted,
  cap: Amounts,
  phases: readonly Phase[],
): void {
  const limits = phases.map(({ budget = {} }) => budget).reduce(addAmounts, cap);
  const uncounted = allOf(chosen).find(({ countsRequests }) => countsRequests !== true);
  if (hasUnit(limits, "req") && uncounted !== undefined) {
    throw new MaestroError(
      "usage",
      `A budget in requests cannot be enforced: ${uncounted.program} does not report its requests`,
      {
        hint: "Limit money or tokens instead: --budget 5usd, --budget 2Mtok.",
      },
    );
  }
  const priced = hasUnit(cap, "usd") ? phases : phases.filter(({ budget = {} }) => hasUnit(budget, "usd"));
  const [first] = unpriced(io, settings, { chosen, flags }, priced);
  if (first === undefined) return;
  const { id, runtime, model: named } = first;
  const by = runtime === DEFAULT_RUNTIME ? "" : ` for ${runtime}`;
  const model = named === null ? `phase ${id} names no model${by}` : `the model ${named} has no known price`;
  throw new MaestroError("usage", `A budget in dollars cannot be enforced: ${model}`, {
    hint: "Pass --model with a priced model, add its price to the file of MAESTRO_PRICES, or limit tokens: --budget 2Mtok.",
  });
}

function allOf({ used, selection, players }: Chosen): Runtime[] {
  return [...used, ...players.filter(({ name }) => selection.fallback.includes(name))];
}

/** The phases that a runtime may play with a model without a price. Those that take over use their own model. */
function unpriced(io: Io, settings: ResolvedSettings, { chosen, flags }: Budgeted, phases: readonly Phase[]) {
  const { selection } = chosen;
  const prices = pricesOf(io, settings);
  const agents = new Map(rosterOf(io).agents.map((agent) => [agent.name, agent]));
  return phases.flatMap(({ id, agent: name, model, runtime }) => {
    const agent = agents.get(name) ?? { name };
    const first = runtime ?? selection.byAgent(name);
    const named = [first, ...selection.fallback].map((one) => ({
      id,
      runtime: one,
      model:
        (one === first ? model : undefined) ??
        modelOfRuntime(agent, one, settings, { model: flags.model, main: selection.main }),
    }));
    return named.filter((one) => !hasPrice(one.model, prices));
  });
}

/** As `refuseUnkept`, for the open phases of a session. */
export function refuseUnkeptIn(io: Io, settings: ResolvedSettings, budgeted: Budgeted, session: Session): void {
  const cap = resumedBudget(settings, budgeted.flags, session) ?? session.budget?.cap ?? {};
  const phases = session.phases.filter((phase) => !isClosed(phase));
  const told = phases.map(({ id, agents, model, plan }) => ({
    id,
    agent: agents[0] ?? "",
    model: model ?? plan?.model,
    runtime: plan?.runtime,
    budget: plan?.budget,
  }));
  refuseUnkept(io, settings, budgeted, cap, told);
}

/** The budget to record: the flag replaces the amounts of its units; the setting counts for a session that has none. */
function resumedBudget(settings: ResolvedSettings, flags: EngineFlags, { budget }: Session): Amounts | undefined {
  const given = budgetFlag(flags);
  if (given !== undefined) return replaced(budget?.cap ?? {}, given);
  return budget === null ? parseAmounts(settings.values.MAESTRO_BUDGET) : undefined;
}

/** Records the budget that a resumed session gets, with what it has spent so far. */
export function recordBudget(io: Io, settings: ResolvedSettings, store: SessionStore, flags: EngineFlags): void {
  changeSession(store, (session) => {
    const budget = resumedBudget(settings, flags, session);
    if (budget === undefined || isNothing(budget)) return [];
    const prices = pricesOf(io, settings);
    return [budgetSet({ budget, before: spentBefore(session, (usage) => chargeOf(usage, prices)) })];
  });
}

/** The exit code when the budget is spent and the command does not raise it, after showing how to; undefined otherwise. */
export function stillSpent(
  io: Io,
  settings: ResolvedSettings,
  session: Session,
  flags: EngineFlags,
): number | undefined {
  if (session.budget_spent === null || budgetFlag(flags) !== undefined) return undefined;
  const look = decisionLook(io, settings);
  if (flags.json) {
    const about = { session_id: session.session_id, open_decisions: openDecisions(session, look) };
    printJsonLine(io, { type: "decisions.open", ...about, exit_code: USED_UP });
  } else io.out(`${decisionLines(session, look).join("\n")}\n`);
  return USED_UP;
}
