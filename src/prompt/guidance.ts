// The user's guidance for the next attempt, from their decision on a retry, under its own heading. It is an instruction, so it is not
// enclosed like the words of other agents.

import { MAX_TOLD_CHARS, toldByUser } from "../session/retry.ts";
import type { SessionPhase } from "../session/session.ts";
import { bullet, clipText, visibleText } from "./data.ts";

/** Empty when the user said nothing. */
export function userGuidance(phase: SessionPhase): string {
  const { guidance, reason } = toldByUser(phase);
  const parts = [
    ...(guidance === undefined ? [] : [clipText(visibleText(guidance), MAX_TOLD_CHARS)]),
    ...(reason === undefined
      ? []
      : [`Why the user decided on this retry: ${clipText(visibleText(reason), MAX_TOLD_CHARS)}`]),
  ];
  const why = phase.retry_decisions?.at(-1)?.reopened === true ? REVIEWED : LOOKED;
  return parts.length === 0 ? "" : [HEADING, `${why} ${PRECEDENCE}`, ...parts].join("\n\n");
}

const HEADING = "# Guidance from the user";
const LOOKED = "The user looked at what failed and decided on this attempt.";
const REVIEWED = "The user reviewed the finished work and asked for this attempt.";
const PRECEDENCE = "Where this differs from the task, follow it; the protocols and the list of files still apply.";

/** For a prompt that does not have the criteria of the plan: those that the user has changed. Empty when the user changed none. */
export function changedCriteria({ criteria }: SessionPhase): string {
  if (criteria === undefined) return "";
  return ["# Validation criteria", "The user has changed them. This must be true when you are done:"]
    .concat(criteria.map(bullet).join("\n"))
    .join("\n\n");
}
