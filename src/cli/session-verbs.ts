// The verbs that read and change the session's record, read together when one of them is called for.

export { archive } from "./archive.ts";
export { logs } from "./logs.ts";
export { report } from "./report.ts";
export {
  sessionComplete,
  sessionCreate,
  sessionError,
  sessionFiles,
  sessionMode,
  sessionNote,
  sessionRevise,
  sessionTransition,
} from "./session.ts";
export { activeState, readState, workspace, writeState } from "./state.ts";
export { status } from "./status.ts";
export { watch } from "./watch.ts";
