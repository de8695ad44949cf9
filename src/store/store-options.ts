// The options of a session store.

import type { SessionEvent } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import type { JudgeChange } from "./driven.ts";
import type { ViewOptions } from "./view/view-keeper.ts";

export interface StoreOptions extends ViewOptions {
  /** Called with the events about to be recorded, to remember that this user agreed to them. */
  vouch?: (events: readonly SessionEvent[], session: Session | undefined) => void;
  /** Removes secrets from everything recorded; by default the secrets found in the environment and the project's .env. */
  redact?: (text: string) => string;
  /** How long the view may lag in a long-lived process; by default only `close` and `flush` render it. */
  viewDelayMs?: number;
  /** How long to wait for another process to release the lock. */
  lockWaitMs?: number;
  /** Judges what may be recorded while another process runs the session; by default nothing. */
  judgeChange?: JudgeChange;
}
