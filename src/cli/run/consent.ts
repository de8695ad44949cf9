// Chooses the execution mode of a session from a flag, a setting or the user's answer. Nothing runs before it is chosen.

import { MaestroError } from "../../errors.ts";
import { graphOf } from "../../plan/graph.ts";
import type { PlanPhase } from "../../plan/plan.ts";
import { profileOf } from "../../plan/profile.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { ExecutionMode } from "../../session/events.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { isForgettable, UserRecord } from "../../store/files/user-record.ts";
import { consentLines } from "../../views/decision/consent.ts";
import type { Io } from "../io.ts";
import type { EngineFlags } from "./engine-options.ts";
import { projectNotes } from "./project-notes.ts";
import { extraArguments } from "./run-session.ts";

/** The mode that a flag or a setting names; null when the user must be asked. */
export function presetMode({ values }: ResolvedSettings, flags: EngineFlags): ExecutionMode | null {
  const preset = flags.mode ?? values.MAESTRO_EXECUTION_MODE;
  if (preset === "parallel" || preset === "sequential") return preset;
  if (preset === "ask") return null;
  throw new MaestroError("usage", `Unknown execution mode ${JSON.stringify(preset)}`, {
    hint: "Use one of parallel, sequential, ask.",
  });
}

/** Returns undefined, after showing the question, when the user declines or no terminal is attached. */
export async function chooseMode(
  io: Io,
  settings: ResolvedSettings,
  { phases, used }: { phases: readonly PlanPhase[]; used: readonly Runtime[] },
  flags: EngineFlags,
): Promise<ExecutionMode | undefined> {
  const preset = presetMode(settings, flags);
  if (preset !== null) return preset;
  const proposed = flags.mode === undefined ? settings.proposedMode : null;
  const record = new UserRecord(io.env);
  if (proposed !== null && record.knowsMode(io.cwd, proposed)) return proposed;
  const notes = projectNotes(io, used, extraArguments(settings));
  const chosen = await ask(io, { phases, used }, flags, { proposed, notes });
  if (chosen !== undefined && chosen === proposed && !flags.yes) rememberMode(io, record, chosen);
  return chosen;
}

/** Remembers the answer per machine and project, so that the next run uses the project's proposed mode without asking. */
function rememberMode(io: Io, record: UserRecord, mode: ExecutionMode): void {
  try {
    record.rememberMode(io.cwd, mode, io.now());
  } catch (error) {
    if (!isForgettable(error)) throw error;
    io.err(`WARNING: ${error.message}\n`);
  }
}

async function ask(
  io: Io,
  { phases, used }: { phases: readonly PlanPhase[]; used: readonly Runtime[] },
  flags: EngineFlags,
  { proposed, notes }: { proposed: ExecutionMode | null; notes: readonly string[] },
): Promise<ExecutionMode | undefined> {
  io.err(`${consentLines(profileOf(phases, graphOf(phases)), used, notes, flags.review).join("\n")}\n\n`);
  if (proposed !== null)
    io.err(`The project's .env proposes ${proposed} mode. If you choose it, you are not asked again here.\n\n`);
  if (flags.yes) {
    io.err("--yes: parallel dispatch\n");
    return "parallel";
  }
  if (!io.interactive) {
    io.err(
      "ERROR: Cannot start: no execution mode is set, and no terminal is attached to ask you\n" +
        "  Pass --mode parallel or --mode sequential, or set MAESTRO_EXECUTION_MODE.\n",
    );
    return undefined;
  }
  for (;;) {
    const question = "Which mode? [1 parallel, 2 sequential, q quit] ";
    const answer = (await io.ask(question))?.trim().toLowerCase() ?? "q";
    if (/^(1|p|parallel)$/.test(answer)) return "parallel";
    if (/^(2|s|sequential)$/.test(answer)) return "sequential";
    if (/^(q|quit|n|no|)$/.test(answer)) return undefined;
  }
}
