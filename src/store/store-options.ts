// What a store of sessions is told by whoever opens it.

import type { SessionEvent } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import type { JudgeChange } from "./driven.ts";
import type { ViewOptions } from "./view/view-keeper.ts";

export interface StoreOptions extends ViewOptions {
  /** Told of what is about to be recorded: the user who works here wants it. */
  vouch?: (events: readonly SessionEvent[], session: Session | undefined) => void;
  /** Takes secrets out of all that is recorded; absent: those that the environment and the project's .env tell of. */
  redact?: (text: string) => string;
  /** How long the view may lag in a long-lived process; absent: drawn by `close`, or by `flush`. */
  viewDelayMs?: number;
  /** How long to wait for somebody else's change. */
  lockWaitMs?: number;
  /** What may be recorded while another process runs the session; absent: nothing. */
  judgeChange?: JudgeChange;
}
