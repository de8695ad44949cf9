// What the guard answers: allow, or deny with the rule and what to do instead.

export type Rule =
  | "shell-write"
  | "destructive-rm"
  | "force-push"
  | "hard-reset"
  | "sensitive-file"
  | "unparsable"
  | "too-large"
  | "too-deep"
  | "tier";

export interface Denial {
  verdict: "deny";
  rule: Rule;
  /** For the agent: what is wrong, and what to do instead. */
  reason: string;
}

export type Verdict = { verdict: "allow" } | Denial;

export function deny(rule: Rule, reason: string): Denial {
  return { verdict: "deny", rule, reason };
}
