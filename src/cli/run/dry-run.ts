// --dry-run: prints what a run would do, without starting anything.

import { drawPlan } from "../../plan/draw.ts";
import { DEFAULT_RUNTIME, runtimeNamed } from "../../runtimes/runtime-table.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { policyPath } from "../../store/files/batch.ts";
import { budgetForecast } from "../../views/text/budget.ts";
import { oneLine } from "../../views/text/cell.ts";
import { durationText } from "../../views/text/duration.ts";
import { chosenBudget, planEstimate } from "../budget.ts";
import { type CheckedPlan, rosterOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import type { Chosen } from "../runtimes/cast.ts";
import { modelOfRuntime } from "../runtimes/model.ts";
import type { EngineFlags, EngineSettings } from "./engine-options.ts";
import { extraArguments, requireProgram } from "./run-session.ts";

interface Intended {
  flags: EngineFlags;
  engine: EngineSettings;
  chosen: Chosen;
  /** A description of how attempts would be isolated. */
  isolation: string;
  /** Null when attempts run here. */
  workers: { queue: string; exchange: string } | null;
}

export function dryRun(io: Io, settings: ResolvedSettings, { plan, report }: CheckedPlan, intended: Intended): number {
  const { flags, engine, chosen, isolation, workers } = intended;
  const agents = new Map(rosterOf(io).agents.map((agent) => [agent.name, agent]));
  const extraArgs = extraArguments(settings);
  const { values } = settings;
  const commands = plan.phases.map((phase) => {
    const agent = agents.get(phase.agent) ?? { name: phase.agent, tier: "full" as const };
    const runtime = runtimeNamed(phase.runtime ?? chosen.selection.byAgent(phase.agent), "--runtime", {
      all: chosen.players,
      problems: [],
    });
    const isDefault = runtime.name === DEFAULT_RUNTIME;
    const named = { model: flags.model, main: chosen.selection.main };
    const model = phase.model ?? modelOfRuntime(agent, runtime.name, settings, named);
    // The bridge is not the user's concern.
    if (runtime.host !== undefined) return { phase: phase.id, agent: agent.name, command: runtime.name };
    const policyFile = policyPath(
      `${values.MAESTRO_STATE_DIR}/parallel/<session>`,
      agent.tier,
      runtime.startFile?.ending,
    );
    const args = runtime.argv({
      agent: agent.name,
      tier: agent.tier,
      model,
      policyFile,
      isStreamed: true,
      extraArgs: isDefault ? extraArgs : [],
    });
    return { phase: phase.id, agent: agent.name, command: [runtime.program, ...args].join(" ") };
  });
  const budget = chosenBudget(settings, flags);
  const mode = flags.mode ?? settings.values.MAESTRO_EXECUTION_MODE;
  const { review = "end" } = flags;
  const programs = chosen.used.map(
    (runtime) => [runtime.program, requireProgram(io, runtime.program) ?? null] as const,
  );
  const program = programs[0]?.[1] ?? null;
  if (flags.json) {
    const { isolation: _, ownership, sandbox, setup, ...rest } = engine;
    const limits = { ...rest, slots: Number.isFinite(engine.slots) ? engine.slots : 0 };
    const apart = { isolation, ownership, sandbox, setup };
    printJson(io, {
      mode,
      review,
      program,
      budget: budget ?? null,
      workers,
      ...apart,
      limits,
      profile: report.profile,
      commands,
    });
    return 0;
  }
  const slots = Number.isFinite(engine.slots) ? `${engine.slots} at a time` : "no concurrency limit";
  io.out(`${drawPlan(plan, report).join("\n")}\n\n`);
  io.out(
    `Mode ${mode}, ${slots}, ${durationText(engine.timeoutMs)} per attempt, ${durationText(engine.staggerMs)} between launches\n`,
  );
  if (budget !== undefined) {
    io.out(`Budget: ${budgetForecast(budget, planEstimate(io, settings, plan.phases, flags.model))}\n`);
  }
  if (workers !== null) {
    const here =
      flags.maxConcurrent === undefined
        ? "none here"
        : `${flags.maxConcurrent === "0" ? "any number" : flags.maxConcurrent} here`;
    io.out(`Workers: those of ${workers.queue}, through ${oneLine(workers.exchange)}; ${here}\n`);
  }
  io.out(`Isolation: ${isolation}\n`);
  io.out(`Review: ${review === "end" ? "at the end" : `of each ${review}`}\n`);
  const absent = workers === null || flags.maxConcurrent !== undefined ? "not found on PATH" : "workers use their own";
  for (const [name, found] of programs) io.out(`${name}: ${found ?? absent}\n`);
  io.out("\n");
  for (const { phase, command } of commands) io.out(`  ${phase}  ${command}\n`);
  io.out("\nNothing was started.\n");
  return 0;
}
