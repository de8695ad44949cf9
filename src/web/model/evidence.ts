// What an agent claims beside what Maestro observed: files, and validation. A claim is not proof, and proof about an older tree is stale.
// Pure.

import type { Evidence } from "../../session/events.ts";
import { type Attempt, lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { workOf } from "../../views/work.ts";

export interface FileClaim {
  path: string;
  claimed: "created" | "modified" | "deleted" | null;
  /** What changed in the work: null when the file did not change. */
  changed: "created" | "modified" | "deleted" | "renamed" | null;
  added: number | null;
  removed: number | null;
  /** The phase does not own it. */
  isOutside: boolean;
}

export interface SeenProof {
  result: "pass" | "fail" | "skipped";
  detail: string;
  /** Null: it ran in the project itself. */
  tree: string | null;
  /** The proof is about another tree than the one that is in the project, or in review, for this phase. */
  isStale: boolean;
  /** How many other phases changed the project since. */
  later: number;
  commands: Evidence["commands"];
}

export interface ClaimedAndSeen {
  files: FileClaim[];
  /** Files beyond those that the record lists. */
  unlisted: number;
  claim: { result: string | null; text: string } | null;
  proof: SeenProof | null;
  summary: string | null;
  status: string | null;
  missing: string[];
}

export function claimedAndSeen(session: Session, phase: SessionPhase): ClaimedAndSeen {
  const { handoff, validation } = phase;
  const tree = validation?.evidence?.tree ?? null;
  return {
    ...filesOf(phase),
    claim: handoff?.validation ?? null,
    proof:
      validation === undefined
        ? null
        : {
            result: validation.result,
            detail: validation.detail,
            tree,
            isStale: tree !== null && isStale(session, phase, tree),
            later: tree === null ? 0 : laterIntegrations(session, phase),
            commands: validation.evidence?.commands ?? [],
          },
    summary: handoff?.summary ?? null,
    status: handoff?.status ?? null,
    missing: handoff?.missing ?? [],
  };
}

function filesOf(phase: SessionPhase): Pick<ClaimedAndSeen, "files" | "unlisted"> {
  const files = new Map<string, FileClaim>();
  const blank = { claimed: null, changed: null, added: null, removed: null, isOutside: false };
  for (const kind of ["created", "modified", "deleted"] as const) {
    for (const path of phase[`files_${kind}`]) files.set(path, { path, ...blank, claimed: kind });
  }
  const changes = workOf(phase)?.changes;
  const outside = new Set(changes?.outside ?? []);
  for (const { path, kind, added, removed } of changes?.files ?? []) {
    const known = files.get(path) ?? { path, ...blank };
    files.set(path, { ...known, changed: kind, added, removed, isOutside: outside.has(path) });
  }
  const sorted = [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files: sorted, unlisted: changes === undefined ? 0 : Math.max(0, changes.total - changes.files.length) };
}

/** Whether another tree was validated than the one that was applied to the project, or that the user is asked to approve. */
function isStale({ open_review: review }: Session, phase: SessionPhase, tree: string): boolean {
  const own = lastAttempt(phase)?.integrated;
  if (own !== undefined) return own.to !== tree;
  const isReviewed = review !== null && review.batch === undefined && review.phases.includes(phase.id);
  return isReviewed && review.tree !== tree;
}

function laterIntegrations(session: Session, phase: SessionPhase): number {
  const own = lastAttempt(phase)?.integrated;
  if (own === undefined) return 0;
  return integrations(session).filter(({ seq, from, to }) => seq > own.seq && from !== to).length;
}

/** In the order in which they happened. */
function integrations(session: Session): NonNullable<Attempt["integrated"]>[] {
  return session.phases
    .flatMap(({ attempts }) => attempts.flatMap(({ integrated }) => integrated ?? []))
    .sort((one, other) => one.seq - other.seq);
}
