// What every runtime judges the same way: an attempt that Maestro stopped, and the sentence that says why one failed. Pure; never throws.

import { clipComplaint, complaintIn } from "./complaint.ts";
import { quotaSign, retryHint } from "./quota.ts";
import type { Ending, Outcome } from "./runtime.ts";

const LONGEST_MESSAGE = 2_000;
const LONGEST_DETAIL = 1_500;
/** How much of stderr belongs to the end of the attempt. */
export const TAIL = 4_000;

export type Shortcoming = Omit<Outcome, "text" | "usage">;

/** The judgement when the agent did not end by itself; a complete answer does not change that. */
export function stoppedBy(ending: Ending): Shortcoming | null {
  const { killed } = ending;
  if (killed === "timeout") {
    // It spent its time waiting for the provider, which an immediate retry would not fix.
    if (quotaSign(ending.stderr.slice(-TAIL)) !== null) return quotaJudgement(ending, "", lastWords(ending));
    const what = "The agent did not finish within its time limit and was stopped";
    return { kind: "timeout", reason: "timeout", errorType: "timeout", message: compose(what, lastWords(ending)) };
  }
  if (killed === "output_too_large") {
    const message = "The agent printed more than the limit and was stopped. Its output is truncated.";
    return { kind: "failure", reason: "output_too_large", errorType: "runtime", message };
  }
  if (killed === "over_budget") {
    const message = "The agent used more than was reserved for it from the budget and was stopped.";
    return { kind: "failure", reason: "over_budget", errorType: "runtime", message };
  }
  if (killed === "stopped") {
    return { kind: "interrupted", reason: "stopped", message: "The attempt was stopped before it finished." };
  }
  if (ending.exitCode !== null) return null;
  const message = "The attempt has no recorded end: no exit code was written, as after a crash of the machine.";
  return { kind: "interrupted", reason: "no_exit_code", message };
}

/** `raw`: the error as it was printed, in which the provider may say how long to wait. */
export function quotaJudgement(ending: Ending, raw: string, detail: string): Shortcoming {
  const retryAfterMs = retryHint(raw) ?? retryHint(ending.stderr.slice(-TAIL));
  const message = compose("The provider's quota is used up for now", detail);
  const hint = retryAfterMs === null ? {} : { retryAfterMs };
  return { kind: "quota", reason: "quota", errorType: "quota", message, ...hint };
}

export function lastWords({ stderr }: Ending): string {
  return complaintIn(stderr, LONGEST_DETAIL);
}

export function compose(what: string, detail: string, advice = ""): string {
  const said = clipComplaint(detail, LONGEST_DETAIL);
  const sentence = said === "" ? `${what}.` : `${what}: ${/[.!?]$/.test(said) ? said : `${said}.`}`;
  return clipComplaint(advice === "" ? sentence : `${sentence} ${advice}`, LONGEST_MESSAGE);
}
