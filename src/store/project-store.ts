// The session store as the command line, the MCP server and the hooks use it: judges edits of the view, judges what may be recorded while an
// engine runs, and remembers which sessions the user started.

import { type ForeignRules, judgeForeign } from "../session/decide/foreign-event.ts";
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
  /** Read whenever an edit is judged, because settings may change while the process runs. */
  maxRetries: () => number;
  /** Locates the user's own records. */
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

/** Shared by the process that records a change and the engine that reads it, so that both judge alike. */
export function judgeFor(location: StateLocation, tiers?: ForeignRules["tiers"]): JudgeChange {
  const rules = { stateDir: recordedPath(location), ...(tiers === undefined ? {} : { tiers }) };
  return (session, change) => judgeForeign(session, change, rules);
}
