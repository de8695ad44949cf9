// The verbs that start, stop, take over or put away work, read together when one of them is called for.

export { dispatch } from "./run/dispatch.ts";
export { rehearse } from "./run/rehearse.ts";
export { resume } from "./run/resume.ts";
export { run } from "./run/run.ts";
export { verify } from "./run/verify.ts";
export { archive } from "./session/archive.ts";
export { sessionComplete } from "./session/complete.ts";
export { abort, retry, skip, stop } from "./session/decisions.ts";
export { apply } from "./work/apply.ts";
export { diff } from "./work/diff.ts";
export { revert } from "./work/revert.ts";
