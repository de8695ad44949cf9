// Asks about the review of a phase as soon as it is open, while other agents work. The engine does not wait: the answer is recorded like that
// of another process.

import { MaestroError } from "../../errors.ts";
import { openReview } from "../../session/review/review.ts";
import { lastAttempt, type Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { openStore } from "../context.ts";
import type { Io } from "../io.ts";
import { askAboutReview } from "./ask-review.ts";

/** What is drawn on the terminal, which the question needs for itself. */
interface Table {
  pause(): void;
  resume(): void;
}

/** `store`: the engine's. Returns the function that takes back an open question and stops asking. */
export function askWhileRunning(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  table: Table,
): () => Promise<void> {
  let asking: { done: Promise<void>; cancel: AbortController } | undefined;
  /** The tree whose review the user decides later. */
  let left: string | undefined;
  let hasEnded = false;

  const begin = () => {
    if (asking !== undefined || hasEnded || !isAskable(store.session, left)) return;
    const cancel = new AbortController();
    table.pause();
    const done = ask(cancel.signal).finally(() => {
      asking = undefined;
      if (!hasEnded) table.resume();
    });
    asking = { done, cancel };
  };
  const ask = async (signal: AbortSignal) => {
    const own = openStore(io, settings);
    try {
      const asked = { ...io, ask: (question: string) => io.ask(question, signal) };
      if (!(await askAboutReview(asked, settings, own)) && !signal.aborted) left = treeOf(own.session);
    } catch (error) {
      // The run continues; its end asks again.
      if (!(error instanceof MaestroError)) throw error;
      left = treeOf(own.session);
      io.err(`WARNING: ${error.message}\n`);
    } finally {
      own.close();
    }
  };
  const stopObserving = store.observe((_, session) => {
    // Another process has answered it.
    if (openReview(session) === null) asking?.cancel.abort();
    // Not here: the journal is locked while an event is recorded.
    else if (asking === undefined) setImmediate(begin);
  });
  return async () => {
    hasEnded = true;
    stopObserving();
    asking?.cancel.abort();
    await asking?.done;
  };
}

/** When no agent works, the run ends with the question: nothing would be gained by asking before. */
function isAskable(session: Session | undefined, left: string | undefined): boolean {
  const review = session === undefined ? null : openReview(session);
  if (session === undefined || review === null || review.tree === left) return false;
  return session.phases.some((phase) => lastAttempt(phase)?.result === null);
}

function treeOf(session: Session | undefined): string | undefined {
  return session === undefined ? undefined : openReview(session)?.tree;
}
