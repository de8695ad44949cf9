// How a session is to be carried out: by flag, by setting, or by asking. Nothing runs before it is decided.

import { MaestroError } from "../../errors.ts";
import { graphOf } from "../../plan/graph.ts";
import type { PlanPhase } from "../../plan/plan.ts";
import { profileOf } from "../../plan/profile.ts";
import type { ExecutionMode } from "../../session/events.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { isForgettable, UserRecord } from "../../store/files/user-record.ts";
import { consentLines } from "../../views/decision/consent.ts";
import type { Io } from "../io.ts";
import type { EngineFlags } from "./engine-options.ts";
import { projectNotes } from "./project-notes.ts";
import { extraArguments } from "./run-session.ts";

/** The mode that a flag or a setting names; null: to be asked. */
export function presetMode({ values }: ResolvedSettings, flags: EngineFlags): ExecutionMode | null {
  const preset = flags.mode ?? values.MAESTRO_EXECUTION_MODE;
  if (preset === "parallel" || preset === "sequential") return preset;
  if (preset === "ask") return null;
  throw new MaestroError("usage", `Unknown execution mode ${JSON.stringify(preset)}`, {
    hint: "Use one of parallel, sequential, ask.",
  });
}

/** The mode; undefined when nobody is there to choose it, or does not want to. The question itself has been shown then. */
export async function chooseMode(
  io: Io,
  settings: ResolvedSettings,
  phases: readonly PlanPhase[],
  flags: EngineFlags,
): Promise<ExecutionMode | undefined> {
  const preset = presetMode(settings, flags);
  if (preset !== null) return preset;
  const proposed = flags.mode === undefined ? settings.proposedMode : null;
  const record = new UserRecord(io.env);
  if (proposed !== null && record.knowsMode(io.cwd, proposed)) return proposed;
  const notes = projectNotes(io, extraArguments(settings));
  const chosen = await ask(io, phases, flags, { proposed, notes });
  if (chosen !== undefined && chosen === proposed && !flags.yes) rememberMode(io, record, chosen);
  return chosen;
}

/** Once per machine and project: the next run takes the project's proposal without asking. */
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
  phases: readonly PlanPhase[],
  flags: EngineFlags,
  { proposed, notes }: { proposed: ExecutionMode | null; notes: readonly string[] },
): Promise<ExecutionMode | undefined> {
  io.err(`${consentLines(profileOf(phases, graphOf(phases)), "gemini", notes).join("\n")}\n\n`);
  if (proposed !== null)
    io.err(`The project's .env proposes ${proposed} mode. If you choose it, you are not asked again here.\n\n`);
  if (flags.yes) {
    io.err("--yes: parallel dispatch\n");
    return "parallel";
  }
  if (!io.interactive) {
    io.err(
      "ERROR: Somebody has to choose how the phases are carried out, and there is no terminal to ask on\n" +
        "  Pass --mode parallel or --mode sequential, or set MAESTRO_EXECUTION_MODE.\n",
    );
    return undefined;
  }
  for (;;) {
    const question = "Which one? [1 parallel, 2 sequential, q to leave] ";
    const answer = (await io.ask(question))?.trim().toLowerCase() ?? "q";
    if (/^(1|p|parallel)$/.test(answer)) return "parallel";
    if (/^(2|s|sequential)$/.test(answer)) return "sequential";
    if (/^(q|quit|n|no|)$/.test(answer)) return undefined;
  }
}
