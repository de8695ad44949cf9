// Turns a rehearsed session into a forecast of the real run: order, prompt sizes, time, tokens, cost. Pure.

import type { Amounts } from "../../amounts.ts";
import type { ExecutionProfile } from "../../plan/profile.ts";
import type { Session } from "../../session/session.ts";
import { dollars, grouped, plural } from "../text/amount.ts";
import { budgetForecast } from "../text/budget.ts";
import { cell, cellRight, widest } from "../text/cell.ts";
import { roughly } from "../text/duration.ts";
import type { Paint } from "../text/paint.ts";
import { estimatedCost, isEstimated } from "./estimate.ts";
import type { Prices } from "./prices.ts";

export interface RehearsalInput {
  profile: ExecutionProfile | null;
  criticalPath: readonly string[];
  /** The model of each phase; null lets the runtime choose. */
  models: ReadonlyMap<string, string | null>;
  prices: Prices;
  slots: number | null;
  /** The budget that a real run would have; absent without one. */
  budget?: { cap: Amounts; estimated: Amounts } | undefined;
}

export type RehearsalForecast = ReturnType<typeof rehearsalForecast>;

export function rehearsalForecast(session: Session, input: RehearsalInput) {
  const { profile, criticalPath, models, prices, slots, budget = null } = input;
  const started = session.phases
    .flatMap((phase) => phase.attempts.map((attempt) => ({ phase, attempt })))
    .sort((a, b) => (a.attempt.started < b.attempt.started ? -1 : a.attempt.started > b.attempt.started ? 1 : 0));
  const attempts = started.map(({ phase, attempt }) => ({
    phase: phase.id,
    title: phase.name,
    agent: attempt.agent,
    attempt: attempt.attempt,
    outcome: attempt.result?.outcome ?? null,
    prompt_bytes: attempt.prompt_bytes,
  }));
  const phases = session.phases.map(({ id, plan }) => ({ id, estimate: plan?.estimate }));
  return {
    session: { title: session.title, status: session.status, total_phases: session.total_phases },
    order: attempts,
    slots,
    critical_path: [...criticalPath],
    prompt_bytes: attempts.reduce((sum, attempt) => sum + attempt.prompt_bytes, 0),
    estimated_minutes: profile?.estimated_minutes ?? null,
    estimate_basis: profile?.estimate_basis ?? 0,
    estimated_tokens: profile?.estimated_tokens ?? null,
    /** Whether every phase has a token estimate. */
    is_estimated: isEstimated(phases),
    /** Dollars; null when a phase lacks an estimate or a model with a price. */
    estimated_cost: estimatedCost(phases, models, prices),
    /** Null without a budget. */
    budget,
  };
}

export function rehearsalLines(forecast: RehearsalForecast, paint: Paint): string[] {
  const { session, order, slots } = forecast;
  const hasRetry = order.some(({ attempt }) => attempt > 1);
  const width = widest(
    order.map(({ title }) => title),
    48,
  );
  const ids = widest(
    order.map(({ phase }) => phase),
    12,
  );
  const agents = widest(
    order.map(({ agent }) => agent),
    24,
  );
  const critical = new Set(forecast.critical_path);
  const rows = order.map(({ phase, title, agent, attempt, outcome, prompt_bytes }) => {
    const mark = critical.has(phase) ? "●" : "○";
    const note = attempt > 1 ? paint.yellow(`attempt ${attempt}`) : "";
    const size = cellRight(`${(prompt_bytes / 1024).toFixed(1)} kB`, 8);
    const end = outcome === "success" ? "" : paint.red(outcome ?? "unfinished");
    return `  ${mark} ${cellRight(phase, ids)}  ${cell(title, width)}  ${cell(agent, agents)} ${size}  ${note}${end}`.trimEnd();
  });
  return [
    paint.bold(`Rehearsed: ${session.title}`),
    `${plural(session.total_phases, "phase")}, ${plural(order.length, "attempt")}, ${slots === null ? "no concurrency limit" : `at most ${slots} at a time`}; in the order they started:`,
    "",
    ...rows,
    "",
    ...forecastLines(forecast),
    "",
    `No model was called and none of your files were touched.${hasRetry ? " One failure was simulated to show a retry." : ""}`,
  ];
}

function forecastLines(forecast: RehearsalForecast): string[] {
  const { estimated_minutes: minutes, estimated_tokens: tokens, estimate_basis: basis, session } = forecast;
  const time =
    minutes === null
      ? "unknown"
      : `${roughly(minutes.parallel * 60_000)} in parallel, ${roughly(minutes.sequential * 60_000)} one at a time (${basis} of ${session.total_phases} phases have an estimate)`;
  const used = tokens === null ? "no estimate" : `${grouped(tokens.input)} input, ${grouped(tokens.output)} output`;
  const cost =
    forecast.estimated_cost === null
      ? `unknown (${forecast.is_estimated ? "set MAESTRO_DEFAULT_MODEL to a model with a price" : "not every phase has a token estimate"})`
      : dollars(forecast.estimated_cost);
  return [
    "A real run:",
    `  Critical path  ${forecast.critical_path.join(" → ")}`,
    `  Time           ${time}`,
    `  Tokens         ${used}`,
    `  Cost           ${cost}`,
    ...(forecast.budget === null
      ? []
      : [`  Budget         ${budgetForecast(forecast.budget.cap, forecast.budget.estimated)}`]),
    `  Prompts        ${(forecast.prompt_bytes / 1024).toFixed(1)} kB, about ${grouped(Math.ceil(forecast.prompt_bytes / 4))} tokens before any agent reads a file`,
  ];
}
