// The verbs that read and change the session's record, and touch nothing else: read together when one of them is called for.

export {
  sessionCreate,
  sessionError,
  sessionFiles,
  sessionMode,
  sessionNote,
  sessionRevise,
  sessionTransition,
} from "./session/session.ts";
export { activeState, readState, workspace, writeState } from "./session/state.ts";
export { status } from "./session/status.ts";
