// What a reviewer gets from the record of the session: changed files, claims and proofs, and the diff. Hooks use it for a native review, the
// engine for a phase of the reviewer. Reads only; a part that cannot be read is named in the text.

import { MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { limitGit } from "../../git/running.ts";
import { reviewEvidence } from "../../prompt/review-evidence.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { claimLine, claimOf } from "../../views/claim.ts";
import { type ReviewedPatch, reviewPatch } from "../../views/review-patch.ts";
import { oneLine } from "../../views/text/cell.ts";
import { nameOf, type PhaseWork, sessionWork } from "../../views/work.ts";
import { workPatch } from "../kept-work.ts";
import { openProject, type ProjectPlace } from "../open-project.ts";

/** The agent that gets it. */
export const REVIEWER = "code-reviewer";

const MAX_FILES = 300;

export interface ReviewSource {
  /** The repository, or why there is none. */
  repository: () => Promise<Repository | string>;
  /** The command line of Maestro, for a diff that is not shown. */
  program: string;
  /** How long reading the diff may take; absent: as long as it takes. */
  limitMs?: number;
}

export function openForReview(place: ProjectPlace): ReviewSource["repository"] {
  return async () => {
    const opening = await openProject(place);
    return opening.kind === "open" ? opening.repository : `its content is not kept: ${opening.reason}`;
  };
}

/** Empty when nothing that the session changed is in the project. */
export async function reviewText(source: ReviewSource, session: Session, tag: string): Promise<string> {
  const works = sessionWork(session);
  if (works.length === 0) return "";
  const { patches, unread } = await readPatches(source, session, works);
  const { shown, leftOut } = reviewPatch(patches);
  const proofs = session.phases.filter(({ status }) => status === "completed").map(proofLine);
  return reviewEvidence({ files: fileLines(works), proofs, diff: shown, leftOut: [...unread, ...leftOut] }, tag);
}

function proofLine(phase: SessionPhase): string {
  const claim = claimOf(phase);
  const said = claim === undefined ? `no claim / validation: ${phase.validation?.result ?? "none"}` : claimLine(claim);
  return `Phase ${phase.id}, ${oneLine(phase.name)} (${phase.agents.join(", ")}): ${said}`;
}

function fileLines(works: readonly PhaseWork[]): string[] {
  const lines = works.flatMap(({ phase, attempt }) =>
    attempt.changes.files.map((file) => `${file.kind} ${oneLine(nameOf(file))} (phase ${phase.id})`),
  );
  const more = works.reduce((sum, { attempt }) => sum + attempt.changes.total, 0) - MAX_FILES;
  return more > 0 ? [...lines.slice(0, MAX_FILES), `and ${more} more`] : lines;
}

interface Read {
  patches: ReviewedPatch[];
  /** One line per work whose diff could not be read. */
  unread: string[];
}

async function readPatches(source: ReviewSource, session: Session, works: readonly PhaseWork[]): Promise<Read> {
  const read: Read = { patches: [], unread: [] };
  const deadline = source.limitMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + source.limitMs;
  const lift = source.limitMs === undefined ? () => undefined : limitGit(source.limitMs);
  const skip = ({ phase, attempt }: PhaseWork, why: string) =>
    read.unread.push(
      `Phase ${phase.id}, attempt ${attempt.attempt} (${why}): ${source.program} diff ${phase.id} --attempt ${attempt.attempt}`,
    );
  try {
    const repository = await source.repository();
    for (const work of works) {
      if (typeof repository === "string") skip(work, repository);
      else if (performance.now() > deadline) skip(work, "not read in time");
      else await readPatch(repository, session, work, read, skip);
    }
  } finally {
    lift();
  }
  return read;
}

async function readPatch(
  repository: Repository,
  { session_id }: Session,
  work: PhaseWork,
  { patches }: Read,
  skip: (work: PhaseWork, why: string) => void,
): Promise<void> {
  const { phase, attempt } = work;
  try {
    const { base, commit, patch } = await workPatch(repository, session_id, { phase: phase.id, attempt });
    patches.push({
      ...{ phase: phase.id, attempt: attempt.attempt, from: base, to: commit },
      text: patch.toString("utf8"),
    });
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    skip(work, error.message);
  }
}
