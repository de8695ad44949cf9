// The store of a project with all that a front door wants of it: it judges edits of the view and what may be recorded beside an engine, and
// remembers which sessions the user began.

import { judgeForeign } from "../session/decide/foreign-event.ts";
import type { FrozenPlan } from "../session/events.ts";
import { planFingerprint } from "../session/fingerprint.ts";
import type { Environment } from "../setting-layers.ts";
import type { JudgeChange } from "./driven.ts";
import { isForgettable, UserRecord } from "./files/user-record.ts";
import { recordedPath, type StateLocation } from "./location.ts";
import { SessionStore } from "./session-store.ts";
import type { StoreOptions } from "./store-options.ts";
import { reviewView } from "./view/view-review.ts";

export interface ProjectStoreOptions extends Pick<StoreOptions, "viewDelayMs" | "now" | "warn" | "redact"> {
  /** Asked whenever an edit is judged: settings may change while a process lives. */
  maxRetries: () => number;
  /** Where the user's own records are. */
  env: Environment;
}

export function projectStore(
  location: StateLocation,
  { maxRetries, env, ...options }: ProjectStoreOptions,
): SessionStore {
  const record = new UserRecord(env);
  const remember = (session: string, phases: FrozenPlan["phases"]) => {
    try {
      const about = { session, project: location.projectRoot, now: options.now() };
      record.rememberSession(planFingerprint(session, phases), about);
    } catch (error) {
      if (!isForgettable(error)) throw error;
      options.warn(`${error.message}. "maestro resume" will ask whether to accept this session`);
    }
  };
  return new SessionStore(location, {
    ...options,
    judgeChange: judgeFor(location),
    review: (session, text, sessionAt) => reviewView(session, text, maxRetries(), sessionAt),
    vouch: (events, session) => {
      for (const event of events) {
        if (event.type === "session.created") remember(event.session_id, event.plan.phases);
        if (event.type === "plan.revised" && session !== undefined) remember(session.session_id, event.plan.phases);
      }
    },
  });
}

/** The same for the door that writes and for the engine that reads. */
export function judgeFor(location: StateLocation): JudgeChange {
  return (session, change) => judgeForeign(session, change, { stateDir: recordedPath(location) });
}
