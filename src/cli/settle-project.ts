// Finishes a change of the project that a killed process began, tells it, and records what a person had asked for. What an engine began is
// recorded by the engine that goes on: it finds the work in the project already.

import { type GitProject, type Settled, settle } from "../engine/bring-in.ts";
import type { EventOf } from "../session/events.ts";
import { findPhase, type Session } from "../session/session.ts";
import { describeIntent } from "../store/integration-file.ts";
import type { SessionStore } from "../store/session-store.ts";
import { oneLine } from "../views/cell.ts";
import { someOf } from "../views/work.ts";

const MAX_PATHS = 10;

/** The caller holds the engine's lock. Returns what to tell; undefined when there was nothing. */
export async function settleProject(project: GitProject, store: SessionStore): Promise<string | undefined> {
  const settled = await settle(project);
  if (settled === undefined) return undefined;
  if (settled.outcome === "applied" && store.session !== undefined) {
    store.update((session) => ({ events: session === undefined ? [] : eventsOf(session, settled), result: undefined }));
  }
  return tellSettled(settled);
}

function eventsOf(session: Session, { intent }: Settled): (EventOf<"phase.integrated"> | EventOf<"phase.reverted">)[] {
  const { what, phase, attempt, from, to } = intent;
  if (session.session_id !== intent.session || what === "integrate") return [];
  const found = findPhase(session, phase)?.attempts.find((one) => one.attempt === attempt);
  if (found === undefined || (found.integrated !== undefined) === (what === "apply")) return [];
  if (what === "revert") return [{ type: "phase.reverted", phase, attempt, from, to }];
  return [{ type: "phase.integrated", phase, attempt, from, to, user_decision: true }];
}

function tellSettled({ intent, outcome, left }: Settled): string {
  const what = `${describeIntent(intent)} had been interrupted`;
  if (outcome === "applied") return `${what}; it is finished now`;
  const files = someOf(left.map(oneLine), MAX_PATHS);
  return `${what}; it is undone, because somebody has changed ${files} since`;
}
