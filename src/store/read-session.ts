// The session for somebody who wants to look at it, whatever state it is in.

import { MaestroError } from "../errors.ts";
import type { SessionRead, SessionStore } from "./session-store.ts";

/** A state directory that cannot be used at all is a session that cannot be read. */
export function readSession(store: SessionStore): SessionRead & { cause?: unknown } {
  try {
    return store.read();
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    return { state: "broken", reason: error.message, file: null, kept: null, cause: error.cause };
  }
}
