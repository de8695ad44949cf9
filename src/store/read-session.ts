// Reads the session for display, whatever state it is in.

import { MaestroError } from "../errors.ts";
import type { SessionRead, SessionStore } from "./session-store.ts";

/** Reports an unusable state directory as a broken session. */
export function readSession(store: SessionStore): SessionRead & { cause?: unknown } {
  try {
    return store.read();
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    return { state: "broken", reason: error.message, file: null, kept: null, cause: error.cause };
  }
}
