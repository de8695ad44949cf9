// Runs one validation command as a process of its own group, with a time limit and a limited log, and reads what it printed.

import { devNull } from "node:os";
import { failingLines } from "../../handoff/output/failing-lines.ts";
import type { Killed } from "../../runtimes/runtime.ts";
import { stripControls } from "../../text.ts";
import type { Command } from "../isolation.ts";
import type { Stopping } from "../process/stopping.ts";
import type { Exit } from "../process/supervisor.ts";
import { RUN_MARKER } from "../process/tree.ts";
import type { RunContext } from "../run-context.ts";

const MAX_LOG_BYTES = 10 * 1024 * 1024;
/** More output is not searched for failing lines. */
const MAX_COMPARED_BYTES = 2 * 1024 * 1024;

/** The part of the run context that a command needs. */
export type CommandBench = Pick<RunContext, "batch" | "supervisor" | "environment" | "validator" | "redact">;

export interface CommandRequest {
  command: string;
  /** The stem of its log file. */
  name: string;
  /** Distinguishes its processes from all others. */
  marker: string;
  cwd: string;
  env: Record<string, string>;
  wrap: (command: Command) => Command;
  timeoutMs: number;
  /** How much of the end of its output is read. */
  tail: number;
}

export interface CommandEnd extends Exit {
  /** The end of what it printed, redacted. */
  printed: string;
  /** The failing lines in all that it printed; null when there are too many to compare. Only until the next command starts. */
  failing: () => string[] | null;
}

/** Runs a validation command in /bin/sh. */
export const inShell: RunContext["validator"] = (command) => ({ program: "/bin/sh", args: ["-c", command] });

export async function runCommand(
  { batch, supervisor, environment, validator, redact }: CommandBench,
  { command, name, marker, cwd, env, wrap, timeoutMs, tail }: CommandRequest,
  stopping: Stopping,
): Promise<CommandEnd> {
  const kind = "validation.log";
  batch.startValidationLog(name);
  const log = batch.resultPath(name, kind);
  const { exit, stop } = supervisor.launch({
    ...wrap(validator(command)),
    cwd,
    env: environment({ ...env, [RUN_MARKER]: marker }),
    marker,
    stdin: devNull,
    stdout: log,
    stderr: log,
    exitFile: devNull,
    timeoutMs,
    check: () => (batch.size(name, kind) > MAX_LOG_BYTES ? "output_too_large" : null),
  });
  stopping.runs(stop);
  const ended = await exit;
  if (batch.size(name, kind) > MAX_LOG_BYTES) batch.cut(name, kind, MAX_LOG_BYTES);
  if (ended.killed !== "stopped") batch.redact(name, kind, redact);
  // Redacted before it is cut: a secret that is cut in half would not be recognised.
  const read = (limit: number) => redact(stripControls(batch.read(name, kind, limit)));
  const failing = () =>
    batch.size(name, kind) > MAX_COMPARED_BYTES ? null : failingLines(read(MAX_COMPARED_BYTES), [cwd]);
  return { ...ended, printed: read(tail), failing };
}

export function ending(
  { code, killed, failure }: { code: number | null; killed: Killed; failure?: string | undefined },
  limit: string,
): string {
  if (killed === "timeout") return `stopped after ${limit}`;
  if (killed === "output_too_large") return `stopped: its output exceeds ${MAX_LOG_BYTES / 1024 / 1024} MB`;
  return failure === undefined ? `exit code ${code}` : `could not be started: ${failure}`;
}
