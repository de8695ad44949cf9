// Computes the state of a batch from its files and the journal. Pure. The journal takes precedence, because an attempt may exit with 0
// and still have a rejected report. An attempt without a recorded end becomes `interrupted`; it does not stay `running` forever.

import { normalizeAgentName } from "../agents/names.ts";
import { TIMEOUT_CODE } from "../exit-codes.ts";
import { type PhaseId, readAttemptId } from "../ids.ts";
import { type Attempt, isNative, type Session, type SessionPhase } from "../session/session.ts";
import type { BatchResults, ResultFiles } from "../store/files/batch-results.ts";
import { runningAttempt } from "../views/report/times.ts";

export type AttemptStatus = "pending" | "running" | "success" | "failed" | "timeout" | "quota" | "interrupted";

export interface AttemptState {
  /** `<agent>[.<label>]` */
  name: string;
  agent: string;
  phase_id?: PhaseId;
  attempt?: number;
  exit_code: number | null;
  status: AttemptStatus;
}

export interface BatchState {
  batch_id: string;
  /** The design documents define `success` and `partial_failure`; Maestro adds the others. */
  batch_status: "success" | "partial_failure" | "failed" | "running" | "pending" | "interrupted";
  /** Counts the prompts of a dispatch, or the phases of a session, each by its last attempt. */
  total_agents: number;
  succeeded: number;
  failed: number;
  running: number;
  wall_time_seconds: number | null;
  agents: AttemptState[];
}

export interface BatchClock {
  /** The session that the batch may belong to, active or archived. */
  session: Session | undefined;
  /** An engine is running that session. */
  isDriven: boolean;
  now: number;
  /** The time limit of an attempt in a dispatch. */
  timeoutMs: number;
}

/** How long an attempt may take to exit after its time limit. */
const GRACE_MS = 60_000;

export function batchState(batch: BatchResults, surroundings: BatchClock): BatchState {
  const recorded = recordedAttempts(batch.id, surroundings);
  // An engine records an attempt before it starts: other files in the batch of a session are not attempts.
  const agents =
    recorded.size > 0 ? inOrder(recorded) : batch.results.map((files) => fromFiles(files, batch, surroundings));
  const last = lastOfEach(agents);
  const count = (...statuses: AttemptStatus[]) => last.filter(({ status }) => statuses.includes(status)).length;
  return {
    batch_id: batch.id,
    batch_status: statusOf(last, batch, recorded.size > 0, surroundings),
    total_agents: last.length,
    succeeded: count("success"),
    failed: count("failed", "timeout", "quota"),
    running: count("running"),
    wall_time_seconds: wallSeconds(batch, surroundings.session),
    agents,
  };
}

function inOrder(recorded: ReadonlyMap<string, AttemptState>): AttemptState[] {
  return [...recorded.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function recordedAttempts(id: string, { session, isDriven }: BatchClock): Map<string, AttemptState> {
  const states = new Map<string, AttemptState>();
  for (const phase of session?.phases ?? []) {
    for (const attempt of phase.attempts) {
      if (attempt.batch !== id) continue;
      const isDriver = isDriven || isNative(attempt);
      const isRunning = isDriver && session !== undefined && runningAttempt(session, phase) === attempt;
      states.set(attempt.name, fromJournal(phase, attempt, isRunning));
    }
  }
  return states;
}

function fromJournal(phase: SessionPhase, attempt: Attempt, isRunning: boolean): AttemptState {
  const { name, agent, result, validated } = attempt;
  const status = result === null ? (isRunning ? "running" : "interrupted") : outcomes[result.outcome];
  return {
    name,
    agent,
    phase_id: phase.id,
    attempt: attempt.attempt,
    exit_code: result?.exit_code ?? null,
    status: status === "success" && validated?.result === "fail" ? "failed" : status,
  };
}

const outcomes = {
  success: "success",
  failure: "failed",
  timeout: "timeout",
  quota: "quota",
  interrupted: "interrupted",
} as const;

function fromFiles(files: ResultFiles, batch: BatchResults, { now, timeoutMs }: BatchClock): AttemptState {
  const { name, exitCode, changed } = files;
  const { agent, phase, attempt } = readAttemptId(name);
  const place = phase === undefined || attempt === undefined ? {} : { phase_id: phase, attempt };
  const ended = exitCode === null ? undefined : fromExitCode(exitCode);
  const isStale = changed !== null && now - changed > timeoutMs + GRACE_MS;
  const status = ended ?? (changed === null ? "pending" : isStale || isOver(batch) ? "interrupted" : "running");
  return { name, agent: normalizeAgentName(agent), ...place, exit_code: exitCode, status };
}

function isOver({ summary, isAbandoned }: BatchResults): boolean {
  return summary !== undefined || isAbandoned === true;
}

function fromExitCode(code: number): AttemptStatus {
  return code === 0 ? "success" : code === TIMEOUT_CODE ? "timeout" : "failed";
}

/** Only the last attempt of a phase counts. */
function lastOfEach(agents: readonly AttemptState[]): AttemptState[] {
  const last = new Map<string, AttemptState>();
  for (const state of agents) {
    const key = state.phase_id === undefined ? `name ${state.name}` : `phase ${state.phase_id}`;
    const known = last.get(key);
    if (known === undefined || (known.attempt ?? 0) < (state.attempt ?? 0)) last.set(key, state);
  }
  return [...last.values()];
}

function statusOf(
  last: readonly AttemptState[],
  batch: BatchResults,
  isRecorded: boolean,
  { isDriven }: BatchClock,
): BatchState["batch_status"] {
  const has = (...statuses: AttemptStatus[]) => last.some(({ status }) => statuses.includes(status));
  // An engine that waits between two attempts is still at work on the batch.
  if (has("running") || (isRecorded && isDriven)) return "running";
  if (last.every(({ status }) => status === "pending")) return batch.isAbandoned ? "interrupted" : "pending";
  // Between two agents of a dispatch no agent runs; the dispatch ends when its summary is written.
  if (has("pending") && !isOver(batch) && !isRecorded && !has("interrupted")) return "running";
  if (last.every(({ status }) => status === "success")) return "success";
  if (has("success")) return "partial_failure";
  return has("failed", "timeout", "quota") ? "failed" : "interrupted";
}

function wallSeconds({ id, summary }: BatchResults, session: Session | undefined): number | null {
  if (typeof summary === "object" && summary !== null && "wall_time_seconds" in summary) {
    return typeof summary.wall_time_seconds === "number" ? summary.wall_time_seconds : null;
  }
  const attempts = session?.phases.flatMap((phase) => phase.attempts.filter((one) => one.batch === id)) ?? [];
  if (attempts.length === 0) return null;
  const starts = attempts.map((attempt) => Date.parse(attempt.started));
  const ends = attempts.map((attempt) => Date.parse(attempt.finished ?? attempt.started));
  return Math.round((maximum(ends) - minimum(starts)) / 1000);
}

function maximum(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function minimum(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}
