// Compares the files that a phase declares with the project directory, for every entry point that completes a phase there: hooks, MCP
// server, command line, and the engine without a worktree. `session/deliverables.ts` decides.

import { agentTiers, type Tier } from "../agents/tiers.ts";
import type { Warned } from "../session/decide/attempt.ts";
import { writtenClaims } from "../session/decide/claims.ts";
import type { AttemptVerdict } from "../session/decide/judge-handoff.ts";
import type { FileLists } from "../session/decide/operation.ts";
import {
  type DeclaredFiles,
  type Delivery,
  type DeliveryVerdict,
  declaredLists,
  judgeDelivery,
  knownChanges,
  owesFiles,
  undeliveredShortfall,
  undeliveredText,
  untouchedWarnings,
} from "../session/deliverables.ts";
import type { FileChange } from "../session/events.ts";
import type { SessionPhase } from "../session/session.ts";
import { findDeclared } from "./files/declared-files.ts";
import { hashFiles, UNKNOWN_HASH } from "./files/project-files.ts";

export interface DeliveryEvidence {
  /** The files that the report lists, besides those that the session has recorded already. */
  reported?: FileLists | undefined;
  /** All changes of the last attempt, when they were examined. */
  changes?: readonly Pick<FileChange, "path" | "from">[] | undefined;
  /** The tier of the phase's agent; by default, that of the agent of this name. */
  tier?: Tier | undefined;
}

/** Null when the phase declares no files. */
export function projectDelivery(
  projectRoot: string,
  phase: SessionPhase,
  evidence: DeliveryEvidence,
): DeliveryVerdict | null {
  const question = projectQuestion(projectRoot, phase, evidence);
  if (question === null) return null;
  const { declared, likely, known } = question;
  return judgeDelivery({ ...known, ...findDeclared(projectRoot, declared, likely) });
}

export interface DeliveryQuestion {
  declared: DeclaredFiles;
  /** Paths that may answer for a glob without a search. */
  likely: string[];
  known: Omit<Delivery, "present" | "isSearched">;
}

/** What has to be looked up in the project, and all that is known already. */
export function projectQuestion(
  projectRoot: string,
  phase: SessionPhase,
  { reported, changes, tier = agentTiers.get(phase.agents[0] ?? "") }: DeliveryEvidence,
): DeliveryQuestion | null {
  if (!owesFiles(phase, tier)) return null;
  const declared = declaredLists(phase);
  const { created = [], modified = [] } = reported ?? {};
  const written = {
    created: [...phase.files_created, ...created],
    modified: [...phase.files_modified, ...modified],
    deleted: [],
  };
  const named = writtenClaims(written, [projectRoot]);
  const { paths, isComplete } = knownChanges(phase, changes ?? null);
  const unchanged = isComplete ? new Set<string>() : unchangedFiles(projectRoot, phase, declared);
  const known = { declared, tier, changes: { paths, isComplete, unchanged }, reported: named };
  return { declared, likely: [...named, ...paths], known };
}

/** The declared files whose content is the same as when the phase started. Work that a retry started from counts as its own. */
function unchangedFiles(projectRoot: string, phase: SessionPhase, { created, modified }: DeclaredFiles): Set<string> {
  const { hashes_at_start: before = {}, retry_count, attempts } = phase;
  if (retry_count > 0 || attempts.length > 1) return new Set();
  const known = [...created, ...modified].filter((path) => {
    const hash = Object.hasOwn(before, path) ? before[path] : null;
    return typeof hash === "string" && hash !== UNKNOWN_HASH;
  });
  const now = hashFiles(projectRoot, known);
  return new Set(known.filter((path) => now[path] === before[path]));
}

/** A report of success is not enough: the verdict becomes a shortfall when declared files are not delivered. */
export function withDelivery(
  verdict: AttemptVerdict,
  projectRoot: string,
  phase: SessionPhase,
  evidence: DeliveryEvidence,
): { verdict: AttemptVerdict; warnings: Warned[] } {
  const judged = verdict.kind === "success" ? projectDelivery(projectRoot, phase, evidence) : null;
  if (judged === null) return { verdict, warnings: [] };
  const message = undeliveredText(judged);
  return {
    verdict: message === null ? verdict : undeliveredShortfall(message),
    warnings: untouchedWarnings(judged),
  };
}
