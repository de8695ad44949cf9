// The guard's answer: allow, or deny with the rule and what to do instead.

import { shown } from "./shell/shape.ts";

export type Rule =
  | "shell-write"
  | "destructive-rm"
  | "force-push"
  | "hard-reset"
  | "discard-work"
  | "kill-process"
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

/** Denies content that the shell would write into a file. */
export function denyContent(name: string, target: string): Denial {
  return deny(
    "shell-write",
    `Use write_file (or replace) for file content: the shell corrupts it (${shown(name)} -> ${shown(target)}). The shell is for running programs; their output may go into a log.`,
  );
}
