// The engine's own check of a phase: its validation commands, one after the other, until one fails. The agent's word is not evidence.

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
/** Of a command that passed: enough to see that it did something. */
const MAX_PASSED_CHARS = 1000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

export interface ValidationRun {
  phase: PhaseId;
  done: Promise<ValidationResult>;
  stop: (why: Killed) => void;
}

export type ValidationResult = { kind: "pass" | "fail"; detail: string; evidence: Evidence } | { kind: "stopped" };

/** Where the commands run, and which tree that is; null: nobody knows. */
export interface Subject {
  cwd: string;
  tree: TreeId | null;
  /** Variables that the commands need there. */
  env: Record<string, string>;
  wrap: (command: Command) => Command;
}

/** What a validation needs of the workshop. */
export type Bench = Pick<
  RunContext,
  "run" | "store" | "batch" | "supervisor" | "environment" | "validator" | "redact"
> & { limits: Pick<RunContext["limits"], "validationTimeoutMs"> };

/** `stopping`: of the work that it is a part of; absent: it is stopped by itself. */
export function startValidation(
  workshop: Bench,
  id: PhaseId,
  subject: Subject,
  stopping = new Stopping(),
): ValidationRun {
  return { phase: id, done: runCommands(workshop, id, subject, stopping), stop: stopping.stop };
}

async function runCommands(
  workshop: Bench,
  id: PhaseId,
  subject: Subject,
  stopping: Stopping,
): Promise<ValidationResult> {
  const { batch, supervisor, limits } = workshop;
  const phase = requirePhase(requireSession(workshop.store.session), id);
  const { name = phaseLabel(id), attempt = 1 } = phase.attempts.at(-1) ?? {};
  const commands = phase.plan?.validation ?? [];
  const evidence: Evidence = { tree: subject.tree, commands: [] };
  for (const [position, command] of commands.entries()) {
    if (command.includes(REDACTED)) return { kind: "fail", detail: `$ ${command}\n${whyNotRun(id)}`, evidence };
    batch.startValidationLog(name);
    const log = batch.resultPath(name, "validation.log");
    // Its own: what the agent, or the command before, left behind is being ended by theirs.
    const marker = `${workshop.run}.${name}.v${position + 1}`;
    const own = {
      MAESTRO_SESSION: workshop.store.session?.session_id ?? "",
      MAESTRO_PHASE: id,
      MAESTRO_AGENT: phase.agents[0] ?? "",
      MAESTRO_ATTEMPT: String(attempt),
      [RUN_MARKER]: marker,
    };
    const { exit, stop } = supervisor.launch({
      ...subject.wrap(workshop.validator(command)),
      cwd: subject.cwd,
      env: workshop.environment({ ...own, ...subject.env }),
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
    batch.redact(name, "validation.log", workshop.redact);
    // Secrets are looked for in more than is kept: half of one would not be recognised.
    const printed = workshop.redact(stripControls(batch.read(name, "validation.log", 8 * MAX_TAIL_CHARS)));
    const output = printed.slice(-(hasPassed ? MAX_PASSED_CHARS : MAX_TAIL_CHARS)).trim();
    const shown = workshop.redact(command);
    evidence.commands.push({ command: shown, exit_code: code, duration_ms: durationMs, output });
    if (hasPassed) continue;
    const how = ending(code, killed, failure, limits.validationTimeoutMs);
    return { kind: "fail", detail: `$ ${shown}\n${how}\n${output}`.trim(), evidence };
  }
  const detail = workshop.redact(commands.map((command) => `$ ${command}: passed`).join("\n"));
  return { kind: "pass", detail, evidence };
}

/** The secret is not in the record, and the command would do something else without it. */
function whyNotRun(id: PhaseId): string {
  return (
    `not run: the command held a secret, which is not recorded. Put the secret into a variable, use the variable in "validation" of ` +
    `phase ${id} ("maestro session revise <plan>"), and pass the variable with --pass-env`
  );
}

function ending(code: number | null, killed: Killed, failure: string | undefined, limitMs: number): string {
  if (killed === "timeout") return `stopped after ${limitMs / 1000} s (--validation-timeout)`;
  if (killed === "output_too_large") return "stopped: its output has no end";
  return failure === undefined ? `exit code ${code}` : `could not be started: ${failure}`;
}
