// The block that asks the user to review a batch or a phase (decision C41), with the commands that answer it.

import { reviewName } from "../../session/review/review.ts";
import { findPhase, lastAttempt, type Review, type Session, type SessionPhase } from "../../session/session.ts";
import { oneLine } from "../text/cell.ts";
import { amountOf, workOf } from "../work.ts";
import type { EscalationLook } from "./escalation.ts";

const MAX_PHASES = 30;
/** As many characters of a tree's id as a user compares. */
const SHOWN_CHARS = 12;

export interface ReviewOption {
  name: "approve" | "reject" | "abort";
  command: string;
}

export function reviewTitle(session: Session, review: Review): string {
  const [phase] = phasesOf(session, review);
  const what =
    review.batch === undefined ? `phase ${phase?.id} ${oneLine(phase?.name ?? "")}` : `batch ${review.batch}`;
  return `Review: ${what}`;
}

/** What approving means, in one sentence. */
export function reviewMessage(review: Review): string {
  const tree = review.tree.slice(0, SHOWN_CHARS);
  return review.batch === undefined
    ? `Its agent is done. Nothing of it is in the project until you approve the merged tree ${tree}.`
    : `Its phases are done. Nothing of the next batch starts until you approve the project's tree ${tree}.`;
}

export function reviewBlock(session: Session, review: Review, look: EscalationLook): string[] {
  const { program, isDriven } = look;
  const phases = phasesOf(session, review);
  const left = phases.length - MAX_PHASES;
  const [first] = review.phases;
  const next = isDriven ? "The running engine acts on it" : `After 1, 2: ${program} resume`;
  return [
    reviewTitle(session, review),
    "",
    "Work:",
    ...phases.slice(0, MAX_PHASES).map((phase) => `- ${phaseLine(phase)}`),
    ...(left > 0 ? [`- and ${left} more`] : []),
    "",
    reviewMessage(review),
    "",
    "Options:",
    "1. Approve",
    "2. Reject a phase: it is attempted again from its work, with your guidance",
    "3. Abort orchestration and review session state",
    "",
    "What would you like to do?",
    "",
    "  To answer:",
    `    1. ${approval(review, program)}`,
    `    2. ${rejection(first ?? "", program)}`,
    `    3. ${program} abort`,
    `  ${next}`,
    ...(review.phases.length > 1 ? [`  2 takes each of ${review.phases.slice(0, MAX_PHASES).join(", ")}`] : []),
    ...(phases.some(hasChanges) ? [`  ${program} diff ${phases.find(hasChanges)?.id} shows what the attempt did`] : []),
  ];
}

/** A rejection for each phase. */
export function reviewOptions(review: Review, { program }: EscalationLook): ReviewOption[] {
  return [
    { name: "approve", command: approval(review, program) },
    ...review.phases.slice(0, MAX_PHASES).map((id) => ({ name: "reject" as const, command: rejection(id, program) })),
    { name: "abort", command: `${program} abort` },
  ];
}

/** Names the tree, so that an approval never counts for one that was not shown. */
function approval(review: Review, program: string): string {
  return `${program} approve ${reviewName(review)} --tree ${review.tree.slice(0, SHOWN_CHARS)}`;
}

function rejection(id: string, program: string): string {
  return `${program} reject ${id} --guidance "what to change"`;
}

function phasesOf(session: Session, { phases }: Review): SessionPhase[] {
  return phases.flatMap((id) => findPhase(session, id) ?? []);
}

function hasChanges(phase: SessionPhase): boolean {
  return (workOf(phase)?.changes.total ?? 0) > 0;
}

/** "2 Routes (coder): 3 files (+20 -1), validation passed" */
function phaseLine(phase: SessionPhase): string {
  const { id, name, agents, validation } = phase;
  const changes = lastAttempt(phase)?.changes ?? workOf(phase)?.changes;
  const amount =
    changes === undefined ? "changes not recorded" : changes.total === 0 ? "no changes" : amountOf(changes);
  const proof = validation === undefined ? "no validation commands" : `validation ${proofs[validation.result]}`;
  return `${id} ${oneLine(name)} (${agents[0] ?? "no agent"}): ${amount}, ${proof}`;
}

const proofs = { pass: "passed", fail: "failed", skipped: "skipped" } as const;
