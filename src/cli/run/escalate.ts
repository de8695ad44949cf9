// Asks the user at a terminal about each failed phase, with the escalation block, and records each answer at once.

import { parseDuration } from "../../duration.ts";
import { MaestroError } from "../../errors.ts";
import { decideAbort } from "../../session/decide/attempt.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { otherAgent } from "../../session/decide/other-agent.ts";
import type { Adjustments } from "../../session/events.ts";
import { answered } from "../../session/retry.ts";
import type { SessionPhase } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { movePhase } from "../../store/operations.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { type Choice, type Escalation, escalationOf } from "../../views/decision/escalation.ts";
import { decisionLook } from "../context.ts";
import type { Io } from "../io.ts";
import { agentChoice, checkedModel, toldText } from "../session/retry-texts.ts";

/** Asks about every phase; true when each has an answer and the session can continue. `isShown`: the blocks are on the screen. */
export async function askAboutFailed(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  phases: readonly string[],
  { isShown = false } = {},
): Promise<boolean> {
  const { MAESTRO_MAX_RETRIES: maxRetries } = settings.values;
  for (const id of phases) {
    store.refresh();
    const phase = requirePhase(requireSession(store.session), id);
    // Another process may have recorded a decision in the meantime.
    if (phase.status !== "failed") continue;
    const { choices } = isShown ? escalation(io, settings, store, id) : showDecision(io, settings, store, id);
    const choice = await ask(io, choices);
    if (choice === null) return false;
    if (choice.kind === "abort") {
      store.update((current) => ({
        events: decideAbort(requireSession(current), undefined, io.now()),
        result: undefined,
      }));
      return false;
    }
    const adjustments = await adjustmentsFor(io, settings, phase, choice);
    if (adjustments === null) return false;
    store.refresh();
    if (requirePhase(requireSession(store.session), id).status !== "failed") continue;
    movePhase(store, {
      phase: id,
      to: choice.kind === "skip" ? "skipped" : "in_progress",
      userDecision: true,
      reason: answered.terminal,
      maxRetries,
      now: io.now(),
      adjustments,
    });
  }
  return true;
}

/** Prints the block of a failed phase. */
export function showDecision(io: Io, settings: ResolvedSettings, store: SessionStore, id: string): Escalation {
  const shown = escalation(io, settings, store, id);
  io.err(`\n${[...shown.block, ...shown.hints.map((hint) => `  ${hint}`)].join("\n")}\n`);
  return shown;
}

function escalation(io: Io, settings: ResolvedSettings, store: SessionStore, id: string): Escalation {
  const session = requireSession(store.session);
  return escalationOf(session, requirePhase(session, id), decisionLook(io, settings));
}

/** What the next attempts get; null when the user gives nothing that the choice needs. */
async function adjustmentsFor(
  io: Io,
  settings: ResolvedSettings,
  phase: SessionPhase,
  choice: Choice,
): Promise<Adjustments | null> {
  const guidance = (question: string) => answer(io, question, (given) => toldText(io, "The guidance", given));
  switch (choice.kind) {
    case "retry":
      return { timeout_ms: choice.timeoutMs };
    case "narrow": {
      const told = await guidance(
        "What should the next attempt do, and what should it leave out? (empty: decide later) ",
      );
      return told === undefined ? null : { guidance: told };
    }
    case "adjust":
      return {
        guidance: await guidance("Guidance for the next attempts (empty: none) "),
        agent: await answer(io, "Another agent (empty: unchanged) ", (given) =>
          otherAgent(phase, given, agentChoice(io, settings)),
        ),
        model: await answer(io, "Another model (empty: unchanged) ", (given) => checkedModel("The model", given)),
        timeout_ms: await answer(io, "Time limit for the next attempts (90s, 20m; empty: unchanged) ", (given) =>
          timeLimit(given),
        ),
        criteria: await answer(io, "Validation criteria instead of the plan's (empty: unchanged) ", (given) => [
          toldText(io, "The criteria", given),
        ]),
      };
    default:
      return {};
  }
}

function timeLimit(given: string): number {
  const milliseconds = parseDuration(given, "m");
  if (milliseconds) return milliseconds;
  throw new MaestroError("usage", `This is not a duration: ${given}`, { hint: "Write it as 90s, 10m or 1h." });
}

/** Asks until the answer can be read; undefined when it is empty. */
async function answer<T>(io: Io, question: string, read: (given: string) => T): Promise<T | undefined> {
  for (;;) {
    const given = (await io.ask(question))?.trim() ?? "";
    if (given === "") return undefined;
    try {
      return read(given);
    } catch (error) {
      if (!(error instanceof MaestroError)) throw error;
      io.err(`${error.message}\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`);
    }
  }
}

/** Returns null when the user quits without an answer. */
async function ask(io: Io, choices: readonly Choice[]): Promise<Choice | null> {
  for (;;) {
    const question = `[1-${choices.length}, q decide later] `;
    const given = (await io.ask(question))?.trim().toLowerCase() ?? "q";
    if (/^(q|quit|)$/.test(given)) return null;
    const choice = choices[Number(given) - 1];
    if (choice !== undefined) return choice;
  }
}
