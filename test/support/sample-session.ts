// Sessions whose events happen at given seconds, for the tests of the views.

import { emptyContext } from "../../src/handoff/downstream-context.ts";
import type {
  AttemptOutcome,
  ErrorRecord,
  EventOf,
  FileChange,
  FrozenPlan,
  RecordedError,
  SessionEvent,
  Usage,
  WarningCode,
} from "../../src/session/events.ts";
import { applyEvent, type TimedEvent } from "../../src/session/fold.ts";
import type { Session } from "../../src/session/session.ts";
import type { Paint } from "../../src/views/text/paint.ts";

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
  const plan = { title, path: "plan.md", hash: "0".repeat(64), design_document: null, phases };
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
  for (const event of eventsOf(phases, timed, title)) session = applyEvent(session, event);
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

export function claim(second: number, id: string, worker: string, attempt = 1): Timed {
  return [second, { type: "attempt.claimed", phase: id, attempt, worker }];
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

export function fails(
  second: number,
  id: string,
  type: ErrorRecord["type"],
  message: string,
  details: Pick<RecordedError, "code" | "conflicts"> = {},
): Timed[] {
  const error = {
    agent: "coder",
    timestamp: at(second).toISOString(),
    type,
    message,
    resolution: "pending",
    resolved: false,
    ...details,
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

/** Its agent reports success. */
export function reported(second: number, id: string): Timed {
  const handoff = { status: "success" as const, missing: [], summary: "Done.", downstream_context: emptyContext() };
  return [second, { type: "phase.handed_off", phase: id, agent: "coder", handoff }];
}

/** In the project when `worktree` is null. */
export function place(second: number, id: string, attempt = 1, worktree: string | null = "w1"): Timed {
  return [second, { type: "attempt.placed", phase: id, attempt, worktree, base: "b".repeat(40) }];
}

/** Ten lines more in each file, one less, if nothing else is said. */
export function change(
  second: number,
  id: string,
  files: readonly (string | (Partial<FileChange> & { path: string }))[],
  over: Partial<EventOf<"attempt.changed">> = {},
): Timed {
  const all = files.map((file) => {
    const fields = typeof file === "string" ? { path: file } : file;
    return { kind: "modified" as const, added: 10, removed: 1, ...fields };
  });
  const sum = (counts: (number | null)[]) => counts.reduce<number>((total, count) => total + (count ?? 0), 0);
  const lines = { added: sum(all.map((one) => one.added)), removed: sum(all.map((one) => one.removed)) };
  const held = { base: "b".repeat(40), commit: "c".repeat(40), outside: [] };
  const event = { attempt: 1, files: all, total: all.length, ...lines, ...held, ...over };
  return [second, { type: "attempt.changed", phase: id, ...event }];
}

export function integrate(
  second: number,
  id: string,
  attempt = 1,
  over: { user_decision?: boolean; from?: string; to?: string } = {},
): Timed {
  const trees = { from: "d".repeat(40), to: "e".repeat(40) };
  return [second, { type: "phase.integrated", phase: id, attempt, ...trees, ...over }];
}

export function warn(second: number, id: string, code: WarningCode, message: string): Timed {
  return [second, { type: "phase.warned", phase: id, code, message }];
}

type CheckedCommand = readonly [command: string, exitCode: number | null, output?: string];

/** Each command takes three seconds. */
export function check(second: number, id: string, tree: string | null, ...commands: CheckedCommand[]): Timed {
  const ran = commands.map(([command, exit_code, output = ""]) => ({ command, exit_code, duration_ms: 3000, output }));
  const result = commands.every(([, code]) => code === 0) ? "pass" : "fail";
  return [second, { type: "phase.validated", phase: id, result, detail: "", evidence: { tree, commands: ran } }];
}

const same = (text: string) => text;
export const plain: Paint = { bold: same, cyan: same, dim: same, green: same, red: same, yellow: same };

const code = (text: string) => `\u001b[1m${text}\u001b[22m`;
export const colored: Paint = { bold: code, cyan: code, dim: code, green: code, red: code, yellow: code };
