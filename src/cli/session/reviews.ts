// maestro approve, reject and reopen: the user's answers to a review. They are written to the journal, where a running engine reads them.

import { approvalRefusal, approveReview, type ReviewAnswer } from "../../engine/integrate/review.ts";
import { openProject } from "../../engine/open-project.ts";
import { MaestroError } from "../../errors.ts";
import { NEEDS_A_PERSON } from "../../exit-codes.ts";
import { reviewName, reviewSubject } from "../../session/review/review.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { reopenPhase } from "../../store/decisions.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { decisionLines, openDecisions } from "../../views/decision/open-decisions.ts";
import { decisionLook, openStore, settingsOf, tellUser, withStore } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { type DecisionFlags, recordedReason } from "./decisions.ts";
import { toldText } from "./retry-texts.ts";

interface ApproveFlags extends DecisionFlags {
  tree?: string;
}

export async function approve(io: Io, name: string, flags: ApproveFlags): Promise<number> {
  const settings = settingsOf(io);
  const store = openStore(io, settings);
  try {
    const request = { name, shown: treePrefix(flags.tree), reason: recordedReason(io, flags) };
    const approval = await approveIn(io, store, request);
    return tellApproval(io, settings, store, approval, flags);
  } finally {
    store.close();
  }
}

export function approveIn(
  io: Io,
  store: SessionStore,
  request: Parameters<typeof approveReview>[1],
): Promise<ReviewAnswer> {
  return approveReview({ store, env: io.env, open: () => openProject({ ...io, location: store.location }) }, request);
}

function treePrefix(given: string | undefined): string | undefined {
  if (given === undefined || /^[0-9a-f]{4,64}$/.test(given)) return given;
  throw new MaestroError("usage", `--tree must be the id of a tree, or at least 4 characters of it (got: ${given})`);
}

function tellApproval(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  approval: ReviewAnswer,
  { json }: DecisionFlags,
): number {
  const { kind, review } = approval;
  const name = reviewName(review);
  const isRunning = kind === "approved" && approval.isRunning;
  const look = decisionLook(io, settings);
  if (json) {
    const { session } = store;
    const open_decisions = kind === "approved" || session === undefined ? [] : openDecisions(session, look);
    const about = { review: name, tree: review.tree, approved: kind === "approved" };
    printJson(io, { ...about, engine_running: isRunning, open_decisions });
  } else if (kind === "approved") {
    tellUser(io, `${reviewSubject(review).replace(/^phase/, "Phase")} is approved; ${nextStep(isRunning)}\n`);
  } else {
    io.err(`ERROR: Cannot approve ${reviewSubject(review)}: ${approvalRefusal(approval)}\n\n`);
    if (store.session !== undefined) io.out(`${decisionLines(store.session, look).join("\n")}\n`);
  }
  return kind === "approved" ? 0 : NEEDS_A_PERSON;
}

function nextStep(isRunning: boolean): string {
  return isRunning ? "the running engine applies this" : 'continue with "maestro resume"';
}

interface RejectFlags extends DecisionFlags {
  guidance?: string;
}

export function reject(io: Io, phase: string, flags: RejectFlags): number {
  if (flags.guidance === undefined) {
    throw new MaestroError("usage", "--guidance is missing: say what the next attempt is to change");
  }
  return again(io, phase, { ...flags, isRejection: true }, "is rejected and will be attempted again");
}

export function reopen(io: Io, phase: string, flags: RejectFlags): number {
  return again(io, phase, flags, "is reopened");
}

function again(io: Io, phase: string, flags: RejectFlags & { isRejection?: boolean }, what: string): number {
  const { guidance, isRejection = false, json } = flags;
  const request = {
    phase,
    guidance: guidance === undefined ? undefined : toldText(io, "--guidance", guidance),
    reason: recordedReason(io, flags),
    isRejection,
  };
  const isRunning = withStore(io, settingsOf(io), (store) => reopenPhase(store, request));
  if (json) printJson(io, { phase, status: "in_progress", engine_running: isRunning });
  else tellUser(io, `Phase ${phase} ${what}; ${nextStep(isRunning)}\n`);
  return 0;
}
