// The summary of a batch, `results/summary.json`: of a dispatch, and of the attempts of a run. Pure.

import type { Session, SessionPhase } from "../../session/session.ts";
import { wallTime } from "./times.ts";

export interface AgentResult {
  name: string;
  agent: string;
  /** Null when a run has recorded no exit code. */
  exit_code: number | null;
  status: "success" | "timeout" | "failed";
}

export interface BatchSummary {
  /** `success` only when every agent succeeded. */
  batch_status: "success" | "partial_failure";
  total_agents: number;
  succeeded: number;
  failed: number;
  wall_time_seconds: number;
  agents: AgentResult[];
}

export function batchSummary(agents: AgentResult[], wallMs: number): BatchSummary {
  const succeeded = agents.filter(({ status }) => status === "success").length;
  return {
    batch_status: succeeded === agents.length ? "success" : "partial_failure",
    total_agents: agents.length,
    succeeded,
    failed: agents.length - succeeded,
    wall_time_seconds: Math.round(wallMs / 1000),
    agents,
  };
}

/** The last attempt of every phase that the engine worked on, in the order of the plan. */
export function runSummary(session: Session, now: Date): BatchSummary {
  const { start, end } = wallTime(session, now) ?? { start: 0, end: 0 };
  return batchSummary(
    session.phases.flatMap((phase) => resultOf(phase, session.session_id)),
    end - start,
  );
}

function resultOf({ attempts }: SessionPhase, batchId: string): AgentResult[] {
  const attempt = attempts.findLast(({ batch }) => batch === batchId);
  if (attempt === undefined) return [];
  const { name, agent, result, validated } = attempt;
  const isProven = result?.outcome === "success" && validated?.result !== "fail";
  const status = isProven ? "success" : result?.outcome === "timeout" ? "timeout" : "failed";
  return [{ name, agent, exit_code: result?.exit_code ?? null, status }];
}
