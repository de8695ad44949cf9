// Finishes a change of the project that a killed process began, records it, and tells it. What a person has decided against since then is taken
// back instead: nothing of a skipped phase or an aborted session comes in.

import { decideIntegrated, filesOf } from "../../session/decide/attempt.ts";
import type { SessionEvent } from "../../session/events.ts";
import { findPhase, isValidated, type Session } from "../../session/session.ts";
import { describeIntent, type Intent } from "../../store/files/integration-file.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import { type GitProject, type Settled, settle } from "../integrate/bring-in.ts";

const MAX_PATHS = 10;

/** The caller holds the engine's lock and has read the session. Returns what to tell; undefined when there was nothing. */
export async function settleProject(project: GitProject, store: SessionStore, now: Date): Promise<string | undefined> {
  const settled = await settle(project, (intent) => isWanted(store.session, intent));
  if (settled === undefined) return undefined;
  if (settled.outcome === "applied" && store.session !== undefined) {
    const { projectRoot } = project.repository;
    store.update((session) => ({
      events: session === undefined ? [] : eventsOf(session, settled.intent, projectRoot, now),
      result: undefined,
    }));
  }
  return tellSettled(settled);
}

/** What an engine began is wanted as long as the phase waits for it. */
function isWanted(session: Session | undefined, { what, session: id, phase }: Intent): boolean {
  if (what !== "integrate" || session?.session_id !== id) return true;
  return !session.aborted && findPhase(session, phase)?.status === "in_progress";
}

function eventsOf(session: Session, intent: Intent, projectRoot: string, now: Date): SessionEvent[] {
  const { what, phase: id, attempt, from, to } = intent;
  const phase = session.session_id === intent.session ? findPhase(session, id) : undefined;
  const found = phase?.attempts.find((one) => one.attempt === attempt);
  if (phase === undefined || found === undefined) return [];
  if (what === "revert") return found.integrated ? [{ type: "phase.reverted", phase: id, attempt, from, to }] : [];
  if (found.integrated !== undefined) return [];
  if (what === "apply") return [{ type: "phase.integrated", phase: id, attempt, from, to, user_decision: true }];
  const files = found.changes === undefined ? { created: [], modified: [], deleted: [] } : filesOf(found.changes);
  const rules = { maxRetries: 0, now, hashes: (paths: readonly string[]) => hashFiles(projectRoot, paths) };
  const events = decideIntegrated(session, id, { attempt, from, to, files, warnings: [] }, rules);
  // Its proof was recorded before anything was touched.
  return isValidated(phase) ? events : events.filter(({ type }) => type !== "phase.moved");
}

function tellSettled({ intent, outcome, left }: Settled): string {
  const what = `${describeIntent(intent)} had been interrupted`;
  if (outcome === "applied") return `${what}; it is finished now`;
  if (left.length === 0) return `${what}; it is taken back, because the phase is not to be done any more`;
  return `${what}; it is undone, because somebody has changed ${someOf(left.map(oneLine), MAX_PATHS)} since`;
}
