// The baseline of a plan: what each validation command does on the untouched project. Types, and the warnings about it. Pure.

import { graphOf } from "./graph.ts";
import { addWarning, quotedValue } from "./issue.ts";
import type { Findings, PlanPhase } from "./plan.ts";

export const baselineResults = ["passes_already", "fails_now", "cannot_run", "timed_out"] as const;
export type BaselineResult = (typeof baselineResults)[number];

/** One command on the untouched project. */
export interface BaselineCommand {
  command: string;
  result: BaselineResult;
  exit_code: number | null;
  /** The failing lines that it printed, without what differs from run to run; null when there are too many to compare. */
  failing: string[] | null;
}

/** Every command of the plan once, in plan order. */
export function commandsOf(phases: readonly Pick<PlanPhase, "validation">[]): string[] {
  return [...new Set(phases.flatMap(({ validation }) => validation))];
}

/** Everything that a baseline runs, in order. `setup`: the command that prepares a worktree; empty for none. */
export function baselineList(phases: readonly Pick<PlanPhase, "validation">[], setup: string): string[] {
  const commands = commandsOf(phases);
  return setup === "" || commands.length === 0 ? commands : [setup, ...commands];
}

export function isRed({ result }: Pick<BaselineCommand, "result">): boolean {
  return result !== "passes_already";
}

/** Warns about each command that must pass, is red before the work, and that neither its phase nor one before it is meant to turn green. */
export function checkBaseline(
  phases: readonly PlanPhase[],
  baseline: readonly BaselineCommand[],
  findings: Findings,
): void {
  const red = baseline.filter(isRed);
  if (red.length === 0) return;
  const { order, blockers } = graphOf(phases);
  for (const found of red) {
    const { command } = found;
    const isGreen = new Set<number>();
    for (const position of order) {
      const phase = phases[position];
      if (phase === undefined) continue;
      if (isMeant(phase, command) || blockers[position]?.some((at) => isGreen.has(at))) isGreen.add(position);
      else if (phase.validation.includes(command) && !phase.not_worse?.includes(command)) {
        const message = `Phase ${phase.id}: ${quotedValue(command)} ${resultText(found)}, and no phase is meant to fix it; write {run: ..., expect: pass} in the phase that fixes it, or expect: not_worse if it may keep failing`;
        addWarning(findings, "baseline_red", phase.id, message);
      }
    }
  }
}

export function baselineWarnings(
  phases: readonly PlanPhase[],
  baseline: readonly BaselineCommand[],
): Findings["warnings"] {
  const findings: Findings = { errors: [], warnings: [] };
  checkBaseline(phases, baseline, findings);
  return findings.warnings;
}

/** Its author says so, or the command names a file that the phase creates. */
function isMeant(phase: PlanPhase, command: string): boolean {
  if (phase.meant_to_pass?.includes(command)) return true;
  const words = new Set(command.split(/[\s'"=;|&()<>]+/).map((word) => word.replace(/^\.\//, "")));
  return phase.files_created.some((path) => words.has(path));
}

/** "fails now (exit code 1)" */
export function resultText({ result, exit_code }: Pick<BaselineCommand, "result" | "exit_code">): string {
  const word = result.replace("_", " ");
  return exit_code === null || exit_code === 0 ? word : `${word} (exit code ${exit_code})`;
}
