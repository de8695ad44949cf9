// Whether what an attempt did may stand: is it within what its phase owns? Pure but for looking the agent up. The table:
//
//   what it left                          worktree                        project                    shared with others
//   only files it owns                    taken over                      stands                     stands
//   others, ownership strict              refused, nothing taken over     refused, but it is there   told
//   others, ownership warn                taken over, told                told                       told
//   anything, by a reading agent that
//   owns nothing                          told, nothing taken over        told                       told
//   files outside of the project,
//   repositories of its own, sensitive
//   files, whatever the ownership         refused                         refused, but it is there   told

import type { Tier } from "../../agents/tiers.ts";
import { sensitivityOfFile, sensitivityReasons } from "../../secrets/sensitive-files.ts";
import type { Warned } from "../../session/decide/attempt.ts";
import type { Shortfall } from "../../session/decide/judge-handoff.ts";
import type { FailureCode } from "../../session/events.ts";
import { declaresFiles, OUTSIDE_SCOPE, SENSITIVE_CHANGE } from "../../session/scope.ts";
import type { Changes, SessionPhase } from "../../session/session.ts";
import { stripControls } from "../../text.ts";
import type { RunContext } from "../run-context.ts";
import type { ExaminedWork } from "./examine.ts";

const MAX_NAMED = 20;

export interface ScopeRules {
  ownership: "strict" | "warn";
  /** Its agent may write. */
  writes: boolean;
  /** It owns something. */
  declares: boolean;
}

export function scopeRules({ isolation, agents }: RunContext, phase: SessionPhase): ScopeRules {
  const tier = agents.get(phase.agents[0] ?? "")?.tier;
  return { ownership: isolation.options.ownership, writes: writes(tier), declares: declaresFiles(phase) };
}

/** An agent that is not known may do anything. */
function writes(tier: Tier | undefined): boolean {
  return tier !== "read-only" && tier !== "read-shell";
}

/** Nothing of a reading agent that owns nothing is taken over: running a test leaves files, and that is no fault of it. */
export function isTakenOver({ writes: mayWrite, declares }: ScopeRules): boolean {
  return mayWrite || declares;
}

export interface WorkJudgement {
  /** Null: it may stand. */
  verdict: Shortfall | null;
  warnings: Warned[];
}

export function judgeWork(
  { changes, where, trouble }: Pick<ExaminedWork, "where" | "trouble"> & { changes: Pick<Changes, "outside"> },
  rules: ScopeRules,
): WorkJudgement {
  const { outside } = changes;
  if (trouble !== null) return { verdict: refusal(trouble), warnings: [] };
  if (outside.length === 0) return { verdict: null, warnings: [] };
  const names = named(outside);
  if (where === "shared") {
    const message = `Changed while it ran, and no phase that ran owns it: ${names.join(", ")}. Without isolation nobody can tell who did it`;
    return { verdict: null, warnings: [{ code: "unjudged", message }] };
  }
  if (!isTakenOver(rules)) {
    const what = where === "worktree" ? "was not taken over" : "is in the project";
    const message = `Its agent only reads, and what it left ${what}: ${names.join(", ")}`;
    return { verdict: null, warnings: [{ code: where === "worktree" ? "not_applied" : "outside_scope", message }] };
  }
  const elsewhere = named(outside.filter((path) => path.startsWith("../")));
  if (elsewhere.length > 0) {
    const message = `Changed outside of the project, in the rest of its repository:\n${elsewhere.map((name) => `- ${name}`).join("\n")}`;
    return { verdict: refusal(message), warnings: [] };
  }
  const sensitive = outside.filter((path) => sensitivityOfFile(path) !== undefined);
  if (sensitive.length > 0) {
    return { verdict: refusal(sensitiveMessage(sensitive, where), "sensitive_change"), warnings: [] };
  }
  if (rules.ownership === "warn") {
    return { verdict: null, warnings: [{ code: "outside_scope", message: `${OUTSIDE_SCOPE} ${names.join(", ")}` }] };
  }
  const stays =
    where === "project"
      ? "\nThey are in the project: take back what is not wanted. If you changed them yourself meanwhile, run with --isolation worktree."
      : "";
  return {
    verdict: refusal(`${OUTSIDE_SCOPE}\n${names.map((name) => `- ${name}`).join("\n")}${stays}`, "outside_scope"),
    warnings: [],
  };
}

/** The agent can take the change back; otherwise a person looks at it and brings it in. */
function sensitiveMessage(paths: readonly string[], where: ExaminedWork["where"]): string {
  const names = named(paths).map((name) => {
    const kind = sensitivityOfFile(name);
    return kind === undefined ? `- ${name}` : `- ${name} (${sensitivityReasons[kind]})`;
  });
  const what = where === "worktree" ? "not brought in" : "in the project: take it back if you do not want it";
  return `${SENSITIVE_CHANGE}\n${names.join("\n")}\nThe change is ${what}.`;
}

function refusal(message: string, code?: FailureCode): Shortfall {
  const coded = code === undefined ? {} : { code };
  return { kind: "failure", reason: "outside_scope", errorType: "validation", message, ...coded };
}

/** Each in one line: a name may hold anything. */
function named(paths: readonly string[]): string[] {
  const names = paths.slice(0, MAX_NAMED).map((path) => stripControls(path).replace(/\s+/g, " "));
  const more = paths.length - names.length;
  return more > 0 ? [...names, `and ${more} more`] : names;
}
