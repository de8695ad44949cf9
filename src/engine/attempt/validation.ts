// Runs the validation commands of a phase one after the other until one fails. An agent's claim that they pass is not evidence.

import { type PhaseId, phaseLabel, type TreeId } from "../../ids.ts";
import type { Killed } from "../../runtimes/runtime.ts";
import { REDACTED } from "../../secrets/redact.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import type { Evidence } from "../../session/events.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import type { Command } from "../isolation.ts";
import { Stopping } from "../process/stopping.ts";
import type { RunContext } from "../run-context.ts";
import { type CommandEnd, ending, runCommand } from "./command-run.ts";
import { whyWorse } from "./not-worse.ts";

const MAX_TAIL_CHARS = 4000;
/** Output kept of a command that passed: enough to see that it did something. */
const MAX_PASSED_CHARS = 1000;
const MAX_NAMES = 8;

export interface ValidationRun {
  phase: PhaseId;
  done: Promise<ValidationResult>;
  stop: (why: Killed) => void;
}

export type ValidationResult =
  | {
      kind: "pass" | "fail";
      detail: string;
      evidence: Evidence;
      /** Set when the commands passed, but declared files are not delivered; `detail` names them. */
      code?: "not_delivered";
    }
  | { kind: "stopped" };

/** The error message of a failed validation. */
export function failedMessage({ detail, code }: { detail: string; code?: "not_delivered" }): string {
  return code === undefined ? `Validation failed\n${detail}` : detail;
}

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
  "run" | "store" | "batch" | "supervisor" | "environment" | "withheld" | "validator" | "redact"
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
  const { limits } = context;
  const session = requireSession(context.store.session);
  const phase = requirePhase(session, id);
  const { name = phaseLabel(id), attempt = 1 } = phase.attempts.at(-1) ?? {};
  const commands = phase.plan?.validation ?? [];
  const evidence: Evidence = { tree: subject.tree, commands: [] };
  const passed: string[] = [];
  for (const [position, command] of commands.entries()) {
    if (command.includes(REDACTED)) return { kind: "fail", detail: `$ ${command}\n${whyNotRun(id)}`, evidence };
    const own = {
      MAESTRO_SESSION: session.session_id,
      MAESTRO_PHASE: id,
      MAESTRO_AGENT: phase.agents[0] ?? "",
      MAESTRO_ATTEMPT: String(attempt),
    };
    // Each command has its own marker, so that killing the leftovers of the agent or of an earlier command does not kill this one.
    const marker = `${context.run}.${name}.v${position + 1}`;
    const { cwd, wrap } = subject;
    const timeoutMs = limits.validationTimeoutMs;
    const request = {
      command,
      name,
      marker,
      cwd,
      env: { ...own, ...subject.env },
      wrap,
      timeoutMs,
      tail: 8 * MAX_TAIL_CHARS,
    };
    const ended = await runCommand(context, request, stopping);
    const { code, killed, printed } = ended;
    if (killed === "stopped") return { kind: "stopped" };
    const hasPassed = code === 0 && killed === null;
    const worse = hasPassed ? null : whyRed(session, phase, command, ended);
    const output = printed.slice(-(hasPassed ? MAX_PASSED_CHARS : MAX_TAIL_CHARS)).trim();
    const shown = context.redact(command);
    const spared = hasPassed || worse !== null ? {} : { not_worse: true as const };
    evidence.commands.push({ command: shown, exit_code: code, duration_ms: ended.durationMs, output, ...spared });
    if (worse === null) {
      const how = hasPassed ? "passed" : `not worse than before the work (exit code ${code}), which is not proof`;
      passed.push(`$ ${shown}: ${how}`);
      continue;
    }
    const how = ending(ended, `${timeoutMs / 1000} s (--validation-timeout)`);
    const lacking = whatLacks(context.withheld(`${command}\n${printed}`));
    const why = worse === "" ? "" : `\nexpect: not_worse, but ${worse}`;
    return { kind: "fail", detail: `$ ${shown}\n${how}${why}${lacking}\n${output}`.trim(), evidence };
  }
  return { kind: "pass", detail: passed.join("\n"), evidence };
}

/** Why a failed command fails the phase: "" for one that must pass, a reason for one that may stay red; null when it is not worse than before. */
function whyRed(session: Session, { plan }: SessionPhase, command: string, ended: CommandEnd): string | null {
  if (!plan?.not_worse?.includes(command)) return "";
  if (ended.killed !== null) return "it did not finish";
  const before = session.baseline.findLast((one) => one.command === command);
  return whyWorse(before, { code: ended.code, failing: ended.failing() });
}

/** One line for a failed command that names variables which it did not get. It shows names only, never values. */
export function whatLacks(names: readonly string[]): string {
  const [first, ...others] = names.slice(0, MAX_NAMES);
  if (first === undefined) return "";
  const list = [first, ...others].join(",");
  const which =
    others.length === 0 ? `${first} is exported, but was` : `${[first, ...others].join(", ")} are exported, but were`;
  return `\n${which} not passed to the command. To pass: --pass-env ${list}, or add to MAESTRO_PASS_ENV: ${list}`;
}

/** The recorded command has its secret removed, and would do something else without it. */
function whyNotRun(id: PhaseId): string {
  return (
    `not run: the command contained a secret, which is not recorded. Put the secret into a variable, use the variable in "validation" of ` +
    `phase ${id} ("maestro session revise"), and pass the variable with --pass-env`
  );
}
