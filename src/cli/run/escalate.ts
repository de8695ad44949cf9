// Asks the user at a terminal about each failed phase, with the escalation block, and records each answer at once.

import { parseDuration } from "../../duration.ts";
import { decideAbort } from "../../session/decide/attempt.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { movePhase } from "../../store/operations.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { type Choice, escalationOf } from "../../views/decision/escalation.ts";
import type { Io } from "../io.ts";

/** Asks about every phase; true when each has an answer and the session can continue. */
export async function askAboutFailed(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  phases: readonly string[],
): Promise<boolean> {
  const { MAESTRO_MAX_RETRIES: maxRetries } = settings.values;
  for (const id of phases) {
    store.refresh();
    const session = requireSession(store.session);
    // Another process may have recorded a decision in the meantime.
    if (requirePhase(session, id).status !== "failed") continue;
    const { block, choices, hints } = escalationOf(session, requirePhase(session, id), maxRetries);
    io.err(`\n${[...block, ...hints.map((hint) => `  ${hint}`)].join("\n")}\n`);
    const choice = await ask(io, choices);
    if (choice === null || choice.kind === "narrow") return false;
    if (choice.kind === "abort") {
      store.update((current) => ({
        events: decideAbort(requireSession(current), undefined, io.now()),
        result: undefined,
      }));
      return false;
    }
    store.refresh();
    if (requirePhase(requireSession(store.session), id).status !== "failed") continue;
    movePhase(store, {
      phase: id,
      to: choice.kind === "skip" ? "skipped" : "in_progress",
      userDecision: true,
      reason: "decided at the terminal",
      maxRetries,
      now: io.now(),
      timeoutMs: await timeLimit(io, choice),
    });
  }
  return true;
}

/** The time limit of the next attempts; undefined keeps the current one. */
async function timeLimit(io: Io, choice: Choice): Promise<number | undefined> {
  if (choice.kind === "retry") return choice.timeoutMs;
  if (choice.kind !== "adjust") return undefined;
  for (;;) {
    const answer = (await io.ask("Time limit for the next attempts (90s, 20m; empty: unchanged) "))?.trim() ?? "";
    const milliseconds = answer === "" ? undefined : parseDuration(answer, "m");
    if (answer === "" || milliseconds) return milliseconds;
  }
}

/** Returns null when the user quits without an answer. */
async function ask(io: Io, choices: readonly Choice[]): Promise<Choice | null> {
  for (;;) {
    const question = `[1-${choices.length}, q decide later] `;
    const answer = (await io.ask(question))?.trim().toLowerCase() ?? "q";
    if (/^(q|quit|)$/.test(answer)) return null;
    const choice = choices[Number(answer) - 1];
    if (choice !== undefined) return choice;
  }
}
