// Asks the user at a terminal about the work that waits for a review, and records the answer at once.

import { approvalRefusal } from "../../engine/integrate/review.ts";
import { decideAbort } from "../../session/decide/attempt.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { answered } from "../../session/retry.ts";
import { openReview, reviewName, reviewSubject } from "../../session/review/review.ts";
import type { Review } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { reopenPhase } from "../../store/decisions.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { decisionLines } from "../../views/decision/open-decisions.ts";
import { decisionLook } from "../context.ts";
import type { Io } from "../io.ts";
import { toldText } from "../session/retry-texts.ts";
import { approveIn } from "../session/reviews.ts";

/** True when the review is answered and the session can continue. When the tree has moved on, it is shown and asked about again. */
export async function askAboutReview(io: Io, settings: ResolvedSettings, store: SessionStore): Promise<boolean> {
  for (;;) {
    store.refresh();
    const session = requireSession(store.session);
    const review = openReview(session);
    if (review === null) return !session.aborted;
    io.err(`\n${decisionLines(session, decisionLook(io, settings), [{ review }]).join("\n")}\n`);
    const choice = await ask(io);
    if (choice === null) return false;
    store.refresh();
    // Another process may have recorded an answer in the meantime.
    if (openReview(requireSession(store.session))?.tree !== review.tree) continue;
    if (choice === "abort") {
      store.update((current) => ({
        events: decideAbort(requireSession(current), undefined, io.now()),
        result: undefined,
      }));
      return false;
    }
    if (choice === "reject") return reject(io, store, review);
    const request = { name: reviewName(review), shown: review.tree, reason: answered.terminal };
    const approval = await approveIn(io, store, request);
    if (approval.kind === "approved") return true;
    io.err(`Cannot approve ${reviewSubject(review)}: ${approvalRefusal(approval)}\n`);
  }
}

async function reject(io: Io, store: SessionStore, { phases }: Review): Promise<boolean> {
  const phase = phases.length === 1 ? phases[0] : await askPhase(io, phases);
  if (phase === undefined) return false;
  const given = (await io.ask("What should the next attempt change? (empty: decide later) "))?.trim() ?? "";
  if (given === "") return false;
  const guidance = toldText(io, "The guidance", given);
  reopenPhase(store, { phase, guidance, reason: answered.terminal, isRejection: true });
  return true;
}

async function askPhase(io: Io, phases: readonly string[]): Promise<string | undefined> {
  for (;;) {
    const given = (await io.ask(`Which phase? [${phases.join(", ")}; empty: decide later] `))?.trim() ?? "";
    if (given === "") return undefined;
    if (phases.includes(given)) return given;
  }
}

/** Null when the user quits without an answer. */
async function ask(io: Io): Promise<"approve" | "reject" | "abort" | null> {
  for (;;) {
    const given = (await io.ask("[1-3, q decide later] "))?.trim().toLowerCase() ?? "q";
    if (/^(q|quit|)$/.test(given)) return null;
    if (/^(1|a|approve)$/.test(given)) return "approve";
    if (/^(2|r|reject)$/.test(given)) return "reject";
    if (/^(3|abort)$/.test(given)) return "abort";
  }
}
