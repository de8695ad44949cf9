// Runs the validation commands of a phase one after the other until one fails. An agent's claim that they pass is not evidence.

import { devNull } from "node:os";
import { type PhaseId, phaseLabel, type TreeId } from "../../ids.ts";
import type { Killed } from "../../runtimes/runtime.ts";
import { REDACTED } from "../../secrets/redact.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import type { Evidence } from "../../session/events.ts";
import { stripControls } from "../../text.ts";
import type { Command } from "../isolation.ts";
import { Stopping } from "../process/stopping.ts";
import { RUN_MARKER } from "../process/tree.ts";
import type { RunContext } from "../run-context.ts";

const MAX_TAIL_CHARS = 4000;
/** Output kept of a command that passed: enough to see that it did something. */
const MAX_PASSED_CHARS = 1000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

export interface ValidationRun {
  phase: PhaseId;
  done: Promise<ValidationResult>;
  stop: (why: Killed) => void;
}

export type ValidationResult = { kind: "pass" | "fail"; detail: string; evidence: Evidence } | { kind: "stopped" };

/** Where the commands run. */
export interface Subject {
  cwd: string;
  /** The git tree of `cwd`; null when it is not known. */
  tree: TreeId | null;
  /** Extra variables that the commands need there. */
  env: Record<string, string>;
  wrap: (command: Command) => Command;
}

/** The part of the run context that a validation needs. */
export type Bench = Pick<
  RunContext,
  "run" | "store" | "batch" | "supervisor" | "environment" | "validator" | "redact"
> & { limits: Pick<RunContext["limits"], "validationTimeoutMs"> };

/** `stopping`: shared with the work that this validation is part of; by default the validation has its own. */
export function startValidation(
  context: Bench,
  id: PhaseId,
  subject: Subject,
  stopping = new Stopping(),
): ValidationRun {
  return { phase: id, done: runCommands(context, id, subject, stopping), stop: stopping.stop };
}

async function runCommands(
  context: Bench,
  id: PhaseId,
  subject: Subject,
  stopping: Stopping,
): Promise<ValidationResult> {
  const { batch, supervisor, limits } = context;
  const phase = requirePhase(requireSession(context.store.session), id);
  const { name = phaseLabel(id), attempt = 1 } = phase.attempts.at(-1) ?? {};
  const commands = phase.plan?.validation ?? [];
  const evidence: Evidence = { tree: subject.tree, commands: [] };
  for (const [position, command] of commands.entries()) {
    if (command.includes(REDACTED)) return { kind: "fail", detail: `$ ${command}\n${whyNotRun(id)}`, evidence };
    batch.startValidationLog(name);
    const log = batch.resultPath(name, "validation.log");
    // Each command has its own marker, so that killing the leftovers of the agent or of an earlier command does not kill this one.
    const marker = `${context.run}.${name}.v${position + 1}`;
    const own = {
      MAESTRO_SESSION: context.store.session?.session_id ?? "",
      MAESTRO_PHASE: id,
      MAESTRO_AGENT: phase.agents[0] ?? "",
      MAESTRO_ATTEMPT: String(attempt),
      [RUN_MARKER]: marker,
    };
    const { exit, stop } = supervisor.launch({
      ...subject.wrap(context.validator(command)),
      cwd: subject.cwd,
      env: context.environment({ ...own, ...subject.env }),
      marker,
      stdin: devNull,
      stdout: log,
      stderr: log,
      exitFile: devNull,
      timeoutMs: limits.validationTimeoutMs,
      check: () => (batch.size(name, "validation.log") > MAX_LOG_BYTES ? "output_too_large" : null),
    });
    stopping.runs(stop);
    const { code, killed, failure, durationMs } = await exit;
    if (batch.size(name, "validation.log") > MAX_LOG_BYTES) batch.cut(name, "validation.log", MAX_LOG_BYTES);
    if (killed === "stopped") return { kind: "stopped" };
    const hasPassed = code === 0 && killed === null;
    batch.redact(name, "validation.log", context.redact);
    // Redact before cutting: a secret that is cut in half would not be recognised.
    const printed = context.redact(stripControls(batch.read(name, "validation.log", 8 * MAX_TAIL_CHARS)));
    const output = printed.slice(-(hasPassed ? MAX_PASSED_CHARS : MAX_TAIL_CHARS)).trim();
    const shown = context.redact(command);
    evidence.commands.push({ command: shown, exit_code: code, duration_ms: durationMs, output });
    if (hasPassed) continue;
    const how = ending(code, killed, failure, limits.validationTimeoutMs);
    return { kind: "fail", detail: `$ ${shown}\n${how}\n${output}`.trim(), evidence };
  }
  const detail = context.redact(commands.map((command) => `$ ${command}: passed`).join("\n"));
  return { kind: "pass", detail, evidence };
}

/** The recorded command has its secret removed, and would do something else without it. */
function whyNotRun(id: PhaseId): string {
  return (
    `not run: the command contained a secret, which is not recorded. Put the secret into a variable, use the variable in "validation" of ` +
    `phase ${id} ("maestro session revise <plan>"), and pass the variable with --pass-env`
  );
}

function ending(code: number | null, killed: Killed, failure: string | undefined, limitMs: number): string {
  if (killed === "timeout") return `stopped after ${limitMs / 1000} s (--validation-timeout)`;
  if (killed === "output_too_large") return `stopped: its output exceeds ${MAX_LOG_BYTES / 1024 / 1024} MB`;
  return failure === undefined ? `exit code ${code}` : `could not be started: ${failure}`;
}
