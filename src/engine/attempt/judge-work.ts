// Decides whether an attempt's changes are accepted: do they stay within the files its phase owns? Pure, except for looking up the agent.
//
//   changed files                         in a worktree                   in the project             in a shared project
//   only files the phase owns             integrated                      accepted                   accepted
//   others, ownership "strict"            rejected, not integrated        rejected, but in place     warning
//   others, ownership "warn"              integrated, warning             warning                    warning
//   any file, by a read-only agent whose
//   phase owns nothing                    warning, not integrated         warning                    warning
//   files outside the project, nested
//   repositories, sensitive files, with
//   any ownership                         rejected                        rejected, but in place     warning

import { mayWrite } from "../../agents/tiers.ts";
import { sensitivityOfFile, sensitivityReasons } from "../../secrets/sensitive-files.ts";
import type { Warned } from "../../session/decide/attempt.ts";
import { claimDifferences, claimWarning } from "../../session/decide/claims.ts";
import type { Shortfall } from "../../session/decide/judge-handoff.ts";
import type { FileLists } from "../../session/decide/operation.ts";
import { knownChanges } from "../../session/deliverables.ts";
import type { FailureCode } from "../../session/events.ts";
import { declaresFiles, OUTSIDE_SCOPE, SENSITIVE_CHANGE } from "../../session/scope.ts";
import type { Changes, SessionPhase } from "../../session/session.ts";
import { stripControls } from "../../text.ts";
import type { RunContext } from "../run-context.ts";
import type { ExaminedWork } from "./examine.ts";

const MAX_NAMED = 20;

export interface ScopeRules {
  ownership: "strict" | "warn";
  /** The phase's agent may write files. */
  writes: boolean;
  /** The phase owns files. */
  declares: boolean;
}

export function scopeRules({ isolation, agents }: RunContext, phase: SessionPhase): ScopeRules {
  const tier = agents.get(phase.agents[0] ?? "")?.tier;
  return { ownership: isolation.options.ownership, writes: mayWrite(tier), declares: declaresFiles(phase) };
}

/** Changes by a read-only agent whose phase owns nothing are not integrated: running a test leaves files, which is not an error. */
export function isTakenOver({ writes, declares }: ScopeRules): boolean {
  return writes || declares;
}

export interface WorkJudgement {
  /** Null: the changes are accepted. */
  verdict: Shortfall | null;
  warnings: Warned[];
}

export function judgeWork(
  { changes, where, trouble }: Pick<ExaminedWork, "where" | "trouble"> & { changes: Pick<Changes, "outside"> },
  rules: ScopeRules,
): WorkJudgement {
  const { outside } = changes;
  if (trouble !== null) return { verdict: rejection(trouble), warnings: [] };
  if (outside.length === 0) return { verdict: null, warnings: [] };
  const names = oneLineNames(outside);
  if (where === "shared") {
    const message = `Changed during the attempt, and not owned by any running phase: ${names.join(", ")}. Without isolation, Maestro cannot tell what changed it`;
    return { verdict: null, warnings: [{ code: "unjudged", message }] };
  }
  if (!isTakenOver(rules)) {
    const what = where === "worktree" ? "were not integrated" : "are in the project";
    const message = `Its agent is read-only, and its changes ${what}: ${names.join(", ")}`;
    return { verdict: null, warnings: [{ code: where === "worktree" ? "not_applied" : "outside_scope", message }] };
  }
  const elsewhere = oneLineNames(outside.filter((path) => path.startsWith("../")));
  if (elsewhere.length > 0) {
    const message = `Changed outside the project, elsewhere in its repository:\n${elsewhere.map((name) => `- ${name}`).join("\n")}`;
    return { verdict: rejection(message), warnings: [] };
  }
  const sensitive = outside.filter((path) => sensitivityOfFile(path) !== undefined);
  if (sensitive.length > 0) {
    return { verdict: rejection(sensitiveMessage(sensitive, where), "sensitive_change"), warnings: [] };
  }
  if (rules.ownership === "warn") {
    return { verdict: null, warnings: [{ code: "outside_scope", message: `${OUTSIDE_SCOPE} ${names.join(", ")}` }] };
  }
  const stays =
    where === "project"
      ? "\nThey are in the project: revert those that you do not want. If you changed them yourself, run with --isolation worktree."
      : "";
  return {
    verdict: rejection(`${OUTSIDE_SCOPE}\n${names.map((name) => `- ${name}`).join("\n")}${stays}`, "outside_scope"),
    warnings: [],
  };
}

/** Warns about differences between the files that a report names and the files that changed. */
export function claimWarnings(
  phase: SessionPhase,
  claims: FileLists,
  { where, files, fresh }: ExaminedWork,
  root: string,
): Warned[] {
  const differences = claimDifferences(claims, files, [root]);
  // In the project the work of earlier attempts is kept, and an agent that finishes it may name all of it.
  const earlier = where === "worktree" ? new Set<string>() : knownChanges(phase, []).paths;
  const missing = differences.missing.filter((path) => !earlier.has(path));
  // A change that the agent did not report may come from another process, or from an earlier attempt.
  const unclaimed = where === "shared" ? [] : differences.unclaimed.filter((path) => fresh?.has(path) !== false);
  const message = claimWarning({ ...differences, missing, unclaimed });
  return message === null ? [] : [{ code: "claims_differ", message }];
}

/** The next attempt can revert the change; otherwise the user reviews it and applies it. */
function sensitiveMessage(paths: readonly string[], where: ExaminedWork["where"]): string {
  const names = oneLineNames(paths).map((name) => {
    const kind = sensitivityOfFile(name);
    return kind === undefined ? `- ${name}` : `- ${name} (${sensitivityReasons[kind]})`;
  });
  const what = where === "worktree" ? "not integrated" : "in the project: revert it if you do not want it";
  return `${SENSITIVE_CHANGE}\n${names.join("\n")}\nThe change is ${what}.`;
}

function rejection(message: string, code?: FailureCode): Shortfall {
  const coded = code === undefined ? {} : { code };
  return { kind: "failure", reason: "outside_scope", errorType: "validation", message, ...coded };
}

/** One line for each name, because a name may contain line breaks. */
function oneLineNames(paths: readonly string[]): string[] {
  const names = paths.slice(0, MAX_NAMED).map((path) => stripControls(path).replace(/\s+/g, " "));
  const more = paths.length - names.length;
  return more > 0 ? [...names, `and ${more} more`] : names;
}
