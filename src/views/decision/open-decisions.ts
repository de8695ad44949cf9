// The decisions that a session waits for, in the same words wherever they are shown: what happened, the options, and the command for each.
// Their number is limited in every form, because any number of phases may have failed.

import { openReview, reviewName } from "../../session/review/review.ts";
import type { Review, Session, SessionPhase } from "../../session/session.ts";
import { plural } from "../text/amount.ts";
import { cut, oneLine } from "../text/cell.ts";
import { visible } from "../text/visible.ts";
import {
  type BudgetOption,
  type BudgetSpent,
  budgetBlock,
  budgetMessage,
  budgetOptions,
  budgetTitle,
} from "./budget-block.ts";
import { commandOf, type Escalation, type EscalationLook, escalationBlock, escalationOf } from "./escalation.ts";
import { type ReviewOption, reviewBlock, reviewMessage, reviewOptions, reviewTitle } from "./review-block.ts";

/** Decisions that are listed as data. */
const MAX_DECISIONS = 20;
/** Decisions that are shown with their whole block. */
const MAX_BLOCKS = 3;
const MAX_IDS = 10;
const MAX_MESSAGE = 2_000;
const MAX_TITLE = 80;

export interface OpenDecision {
  /** The id of the phase, or the name of the batch that is to be reviewed. */
  phase: string;
  kind: Escalation["kind"] | "review" | "budget";
  message: string;
  /** Of a review: the phases that it covers, and the tree that an approval is bound to. */
  phases?: string[];
  tree?: string;
  options: {
    name: Escalation["choices"][number]["kind"] | ReviewOption["name"] | BudgetOption["name"];
    command: string;
  }[];
}

/** What the user has to decide about: a failed phase, work to be reviewed, or a spent budget. */
export type Undecided = { phase: SessionPhase } | { review: Review } | { budget: BudgetSpent };

/** Everything that the user has to decide about. An archived, aborted or completed session waits for nothing. */
export function undecided(session: Session): Undecided[] {
  if (session.aborted || session.archiving !== null || session.status === "completed") return [];
  const failed = session.phases.filter((phase) => phase.status === "failed").map((phase) => ({ phase }));
  const review = openReview(session);
  const { budget_spent: budget } = session;
  return [...failed, ...(review === null ? [] : [{ review }]), ...(budget === null ? [] : [{ budget }])];
}

/** "3", "batch-1": the id of the phase or the name of the review. */
export function undecidedName(waiting: Undecided): string {
  if ("budget" in waiting) return waiting.budget.phase;
  return "phase" in waiting ? waiting.phase.id : reviewName(waiting.review);
}

/** The first `most` decisions as data. */
export function openDecisions(session: Session, look: EscalationLook, most = MAX_DECISIONS): OpenDecision[] {
  return undecided(session)
    .slice(0, most)
    .map((waiting) => {
      if ("review" in waiting) return reviewDecision(waiting.review, look);
      if ("budget" in waiting) return budgetDecision(session, waiting.budget, look);
      return decisionOf(waiting.phase, escalationOf(session, waiting.phase, look), look);
    });
}

function budgetDecision(session: Session, spent: BudgetSpent, look: EscalationLook): OpenDecision {
  const about = { phase: spent.phase, kind: "budget" as const, message: budgetMessage(session, spent) };
  return { ...about, options: budgetOptions(spent, look) };
}

function decisionOf({ id }: SessionPhase, { kind, message, choices }: Escalation, look: EscalationLook): OpenDecision {
  const text = visible(message).trim();
  return {
    phase: id,
    kind,
    message: text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE)} ...`,
    options: choices.map((choice) => ({ name: choice.kind, command: commandOf(look.program, id, choice) })),
  };
}

function reviewDecision(review: Review, look: EscalationLook): OpenDecision {
  const { phases, tree } = review;
  const about = { phase: reviewName(review), kind: "review" as const, message: reviewMessage(review) };
  return { ...about, phases, tree, options: reviewOptions(review, look) };
}

/** The blocks of the first decisions, and how many more there are; empty when none is open. */
export function decisionLines(session: Session, look: EscalationLook, waiting = undecided(session)): string[] {
  const blocks = waiting.slice(0, MAX_BLOCKS).map((one) => blockOf(session, one, look));
  const others = waiting.slice(MAX_BLOCKS).map(undecidedName);
  const lines = blocks.flatMap((block, at) => (at === 0 ? block : ["", ...block]));
  if (others.length === 0) return lines;
  const named = `${others.slice(0, MAX_IDS).join(", ")}${others.length > MAX_IDS ? ", ..." : ""}`;
  const count = others.length === 1 ? "1 more phase waits" : `${others.length} more phases wait`;
  return [...lines, "", `${count} for a decision: phase ${named} (${look.program} status --json lists them)`];
}

function blockOf(session: Session, one: Undecided, look: EscalationLook): string[] {
  if ("review" in one) return reviewBlock(session, one.review, look);
  return "budget" in one ? budgetBlock(session, one.budget, look) : escalationBlock(session, one.phase, look);
}

function titleOf(session: Session, one: Undecided, look: EscalationLook): string {
  if ("review" in one) return reviewTitle(session, one.review);
  return "budget" in one ? budgetTitle(one.budget) : (escalationOf(session, one.phase, look).block[0] ?? "");
}

/** The first decision in one line for a model, which pays for it in every turn; empty when none is open. */
export function decisionBrief(session: Session, look: EscalationLook): string[] {
  const [first, ...others] = undecided(session);
  const [decision] = openDecisions(session, look, 1);
  if (first === undefined || decision === undefined) return [];
  // A batch may have many phases: one rejection is enough as an example.
  const kinds = decision.options.filter(({ name }, at, all) => all.findIndex((one) => one.name === name) === at);
  const options = kinds.map(({ command }, at) => `${at + 1}. ${command}`);
  const more = others.length === 0 ? "" : ` ${plural(others.length, "more phase")} waiting: maestro_session_read.`;
  const about = "review" in first ? decision.phase : `phase ${decision.phase}`;
  const what = cut(oneLine(titleOf(session, first, look)), MAX_TITLE);
  return [`Open decision, ${about}: ${what}. The user's options: ${options.join("; ")}.${more}`];
}
