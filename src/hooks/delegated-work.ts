// What a delegation changes in the project and what it uses, as one bundle: the only part of the hooks that runs git and reads the whole
// project. Loaded only when a phase of a session is delegated, returns, or was lost with its conversation (tools/build.js).

import {
  beginDelegation,
  delegationEnd,
  type Examined,
  examineEnd,
  settleDelegations,
} from "../engine/delegated/delegation-work.ts";
import { openForReview, reviewText } from "../engine/delegated/review-work.ts";
import type { OpenDelegation, Session } from "../session/session.ts";
import { liveDelegations } from "../store/files/delegations.ts";
import type { SessionStore } from "../store/session-store.ts";
import { now } from "./clock.ts";
import type { Project } from "./project.ts";
import { commandLine, type Surroundings } from "./surroundings.ts";

export type { Examined };
export { delegationEnd };

/** Time reserved for the record and the reply. */
const RESERVED_MS = 500;
const LEAST_MS = 100;

export function beginWork(
  store: SessionStore,
  here: Surroundings,
  started: { phase: string; attempt: number },
  transcripts: string | null,
): Promise<void> {
  return beginDelegation(recording(store, here), started, transcripts);
}

export function examineReturn(store: SessionStore, here: Surroundings, delegation: OpenDelegation): Promise<Examined> {
  return examineEnd(recording(store, here), delegation);
}

export function settleLost(store: SessionStore, here: Surroundings): Promise<number> {
  return settleDelegations(recording(store, here));
}

/** A slow repository must not keep the agent from starting: the review goes without its diff then. */
const MAX_REVIEW_MS = 1200;

export function evidenceOf({ location }: Project, session: Session, here: Surroundings, tag: string): Promise<string> {
  const repository = openForReview({ cwd: location.projectRoot, env: here.env, location });
  return reviewText({ repository, program: commandLine(here), limitMs: MAX_REVIEW_MS }, session, tag);
}

function recording(store: SessionStore, here: Surroundings) {
  return {
    location: store.location,
    env: here.env,
    store,
    now: here.clock,
    limitMs: Math.max(LEAST_MS, here.deadline - now() - RESERVED_MS),
    isLive: liveDelegations(store.location, here.clock()),
  };
}
