// Sessions whose events happen at given seconds, for the tests of the views.

import type {
  AttemptOutcome,
  ErrorRecord,
  EventOf,
  FrozenPlan,
  SessionEvent,
  Usage,
} from "../../src/session/events.ts";
import { apply, type TimedEvent } from "../../src/session/fold.ts";
import type { Session } from "../../src/session/session.ts";
import type { Paint } from "../../src/views/paint.ts";

const start = Date.parse("2026-02-14T22:58:00.000Z");

export type Timed = readonly [second: number, event: SessionEvent];
type Phase = FrozenPlan["phases"][number];

export function at(second: number): Date {
  return new Date(start + second * 1000);
}

export function phase(id: string, over: Partial<Phase> = {}): Phase {
  const files = { files_created: [], files_modified: [], files_deleted: [] };
  const text = { title: `Phase ${id}`, agent: "coder", description: `Work on ${id}.` };
  return {
    id,
    ...text,
    validation_criteria: ["it works"],
    validation: [],
    parallel: true,
    blocked_by: [],
    ...files,
    ...over,
  };
}

export function eventsOf(phases: Phase[], timed: readonly Timed[], title = "Task API"): TimedEvent[] {
  const plan = { title, path: "plan.md", hash: "0", design_document: null, phases };
  const created: SessionEvent = {
    type: "session.created",
    session_id: "2026-02-14-task-api",
    task: null,
    execution_mode: "parallel",
    plan,
  };
  const all: Timed[] = [[0, created], ...[...timed].sort(([one], [other]) => one - other)];
  return all.map(([second, event], index) => ({
    ...structuredClone(event),
    seq: index + 1,
    ts: at(second).toISOString(),
  }));
}

export function sessionOf(phases: Phase[], timed: readonly Timed[], title?: string): Session {
  let session: Session | undefined;
  for (const event of eventsOf(phases, timed, title)) session = apply(session, event);
  return session as Session;
}

export function move(
  second: number,
  id: string,
  from: EventOf<"phase.moved">["from"],
  to: EventOf<"phase.moved">["to"],
): Timed {
  return [second, { type: "phase.moved", phase: id, from, to }];
}

export function begin(second: number, id: string, attempt = 1, over: Partial<EventOf<"attempt.started">> = {}): Timed {
  const where = { run: "r1", runtime: "gemini", batch: "b1", name: `coder.p${id}-${attempt}` };
  const event = { agent: "coder", model: null, prompt_bytes: 900, timeout_ms: 600_000, ...where, ...over };
  return [second, { type: "attempt.started", phase: id, attempt, ...event }];
}

export function used(input: number, output: number, over: Partial<Usage> = {}): Usage {
  return { model: "gemini-2.5-pro", input, output, cached: 0, thoughts: 0, ...over };
}

/** `took` seconds before `second` is when it began. */
export function end(
  second: number,
  id: string,
  took: number,
  over: Partial<EventOf<"attempt.finished">> & { outcome?: AttemptOutcome } = {},
): Timed {
  const event = { attempt: 1, outcome: "success" as const, exit_code: 0, signal: null, usage: null, ...over };
  return [second, { type: "attempt.finished", phase: id, duration_ms: took * 1000, ...event }];
}

export function fails(second: number, id: string, type: ErrorRecord["type"], message: string): Timed[] {
  const error = {
    agent: "coder",
    timestamp: at(second).toISOString(),
    type,
    message,
    resolution: "pending",
    resolved: false,
  };
  return [[second, { type: "phase.error_added", phase: id, error }], move(second, id, "in_progress", "failed")];
}

/** A phase that succeeds at its first attempt. */
export function runs(from: number, to: number, id: string, usage: Usage[] | null = null, agent = "coder"): Timed[] {
  return [
    move(from, id, "pending", "in_progress"),
    begin(from, id, 1, { agent }),
    end(to, id, to - from, { usage }),
    move(to, id, "in_progress", "completed"),
  ];
}

const same = (text: string) => text;
export const plain: Paint = { bold: same, cyan: same, dim: same, green: same, red: same, yellow: same };

const code = (text: string) => `\u001b[1m${text}\u001b[22m`;
export const colored: Paint = { bold: code, cyan: code, dim: code, green: code, red: code, yellow: code };
