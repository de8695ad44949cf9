// What waits for the user, for the view "Needs you": each decision with what happened and the answers that maestro_decide takes. Pure.

import type { EventOf } from "../../session/events.ts";
import { waitsFor } from "../../session/phase/phase-state.ts";
import { reviewName } from "../../session/review/review.ts";
import {
  findPhase,
  isClosed,
  lastAttempt,
  type Review,
  type Session,
  type SessionPhase,
} from "../../session/session.ts";
import { type BudgetSpent, budgetMessage, budgetOptions, budgetTitle } from "../../views/decision/budget-block.ts";
import { escalationOf } from "../../views/decision/escalation.ts";
import { undecided } from "../../views/decision/open-decisions.ts";
import { reviewMessage, reviewTitle } from "../../views/decision/review-block.ts";
import { clockTime } from "../../views/text/duration.ts";
import { visible } from "../../views/text/visible.ts";

/** Arguments of maestro_decide. `asks`: a text that the user has to write, or may write. */
export interface NeedAnswer {
  label: string;
  action: "retry" | "skip" | "abort" | "approve" | "reject" | "reopen" | "stop";
  phase?: string;
  tree?: string;
  timeout?: string;
  asks?: "guidance" | "maybe";
  isDangerous?: true;
}

export interface Need {
  key: string;
  kind: "timeout" | "file_conflict" | "failure" | "review" | "scope" | "quota" | "budget";
  title: string;
  message: string;
  /** The phases that it is about. */
  phases: string[];
  /** The attempts whose changes are shown with it. */
  work: { phase: string; attempt: number }[];
  answers: NeedAnswer[];
  since: string | null;
}

export type RefusedScope = EventOf<"phase.scope_requested"> & { seq: number; ts: string };

export interface NeedsLook {
  maxRetries: number;
  now: number;
  /** What agents asked for and were refused; the session itself does not keep it. */
  refused?: readonly RefusedScope[];
}

/** The first ones; any number of phases may have failed. */
const MAX_NEEDS = 100;

export function needsOf(session: Session, { maxRetries, now, refused = [] }: NeedsLook): Need[] {
  const decisions = undecided(session)
    .slice(0, MAX_NEEDS)
    .map((waiting) => {
      if ("budget" in waiting) return budgetNeed(session, waiting.budget);
      return "review" in waiting ? reviewNeed(session, waiting.review) : failedNeed(session, waiting.phase, maxRetries);
    });
  return [...decisions, ...scopeNeeds(session, refused), ...quotaNeed(session, now)];
}

function reviewNeed(session: Session, review: Review): Need {
  const name = reviewName(review);
  const rejections = review.phases.map(
    (id): NeedAnswer => ({
      label: review.phases.length === 1 ? "Reject" : `Reject ${id}`,
      action: "reject",
      phase: id,
      asks: "guidance",
    }),
  );
  return {
    key: `review ${name} ${review.tree}`,
    kind: "review",
    title: reviewTitle(session, review),
    message: reviewMessage(review),
    phases: review.phases.slice(0, MAX_NEEDS),
    work: review.phases.slice(0, MAX_NEEDS).flatMap((id) => workIn(findPhase(session, id))),
    answers: [{ label: "Approve", action: "approve", phase: name, tree: review.tree }, ...rejections.slice(0, 20)],
    since: review.opened,
  };
}

/** For work that is done, and not good enough: what judgeReopening allows, without its reasons, which would make the page larger. */
export function reopeningOf(session: Session, phase: SessionPhase): NeedAnswer[] {
  const isLegal = phase.status === "completed" && !session.aborted && session.archiving === null;
  if (!isLegal || waitsFor(session, phase).length > 0) return [];
  return [{ label: "Reopen", action: "reopen", phase: phase.id, asks: "maybe" }];
}

/** Only the command line raises a budget. */
function budgetNeed(session: Session, spent: BudgetSpent): Need {
  const [raise] = budgetOptions(spent, { program: "maestro" });
  return {
    // The same for every record after it: each new key is a notification.
    key: `budget ${spent.phase} ${raise?.command}`,
    kind: "budget",
    title: budgetTitle(spent),
    message: `${budgetMessage(session, spent)} ${raise?.command}`,
    phases: [spent.phase],
    work: [],
    answers: [],
    since: session.updated,
  };
}

function failedNeed(session: Session, phase: SessionPhase, maxRetries: number): Need {
  const { kind, message, choices } = escalationOf(session, phase, { maxRetries, program: "maestro" });
  const { id } = phase;
  const offered = choices.map((choice): NeedAnswer => {
    if (choice.kind === "skip") return { label: "Skip", action: "skip", phase: id };
    if (choice.kind === "abort") return { label: "Abort session", action: "abort", isDangerous: true };
    if (choice.kind === "narrow") return { label: "Retry with less", action: "retry", phase: id, asks: "guidance" };
    const timeout = "timeoutMs" in choice ? { timeout: `${Math.round((choice.timeoutMs ?? 0) / 1000)}s` } : {};
    if (choice.kind === "adjust")
      return { label: "Retry with guidance", action: "retry", phase: id, asks: "guidance", ...timeout };
    const label = "timeout" in timeout ? "Retry with more time" : "Retry";
    return { label, action: "retry", phase: id, asks: "maybe", ...timeout };
  });
  return {
    key: `failed ${id} ${phase.attempts.length} ${phase.retry_count}`,
    kind,
    title: `Phase ${id} ${phase.name}: ${titles[kind]}`,
    message: visible(message).trim(),
    phases: [id],
    work: workIn(phase),
    // The button that cannot be undone is apart from those that are pressed often.
    answers: offered.toSorted((one, other) => Number(one.isDangerous ?? 0) - Number(other.isDangerous ?? 0)),
    since: phase.errors.at(-1)?.timestamp ?? lastAttempt(phase)?.finished ?? null,
  };
}

const titles = { timeout: "ran out of time", file_conflict: "conflicts with other work", failure: "failed" };

/** Requests of phases that are not done. A later grant of the same paths answers them. */
function scopeNeeds(session: Session, refused: readonly RefusedScope[]): Need[] {
  return refused.slice(-MAX_NEEDS).flatMap(({ phase: id, agent, paths, reason, owner, ts }) => {
    const phase = findPhase(session, id);
    const isAnswered = phase === undefined || isClosed(phase) || paths.every((path) => phase.granted.includes(path));
    if (isAnswered || session.aborted || session.status === "completed") return [];
    const because = owner === null ? "" : ` Phase ${owner} owns them and is not done.`;
    return [
      {
        key: `scope ${id} ${ts} ${paths.join(" ")}`,
        kind: "scope",
        title: `Phase ${id} ${phase.name}: ${agent} was refused files`,
        message: visible(`${paths.join(", ")}: ${reason}.${because}`),
        phases: [id],
        work: workIn(phase),
        answers: [],
        since: ts,
      },
    ];
  });
}

function quotaNeed({ quota, status }: Session, now: number): Need[] {
  if (quota === null || status === "completed" || Date.parse(quota.until) <= now) return [];
  return [
    {
      key: `quota ${quota.until}`,
      kind: "quota",
      title: "The provider's quota is exhausted",
      message: `Nothing starts before ${clockTime(new Date(quota.until))}.${quota.slots === null ? "" : ` Afterwards ${quota.slots} at a time.`}`,
      phases: [],
      work: [],
      answers: [],
      since: quota.since,
    },
  ];
}

/** The last attempt of the phase, if any. */
function workIn(phase: SessionPhase | undefined): Need["work"] {
  const attempt = phase === undefined ? undefined : lastAttempt(phase);
  return phase === undefined || attempt === undefined ? [] : [{ phase: phase.id, attempt: attempt.attempt }];
}
