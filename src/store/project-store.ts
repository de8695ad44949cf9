// The store of a project with all that a front door wants of it: it judges edits of the view.

import type { StateLocation } from "./location.ts";
import { SessionStore, type StoreOptions } from "./session-store.ts";
import { reviewView } from "./view-review.ts";

export interface ProjectStoreOptions extends Pick<StoreOptions, "viewDelayMs" | "now" | "warn"> {
  /** Asked whenever an edit is judged: settings may change while a process lives. */
  maxRetries: () => number;
}

export function projectStore(location: StateLocation, { maxRetries, ...options }: ProjectStoreOptions): SessionStore {
  return new SessionStore(location, {
    ...options,
    review: (session, text, sessionAt) => reviewView(session, text, maxRetries(), sessionAt),
  });
}
