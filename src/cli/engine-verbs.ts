// The verbs that start, stop, take over or put away work, read together when one of them is called for.

export { apply } from "./apply.ts";
export { archive } from "./archive.ts";
export { sessionComplete } from "./complete.ts";
export { abort, retry, skip, stop } from "./decisions.ts";
export { diff } from "./diff.ts";
export { dispatch } from "./dispatch.ts";
export { rehearse } from "./rehearse.ts";
export { resume } from "./resume.ts";
export { revert } from "./revert.ts";
export { run } from "./run.ts";
export { verify } from "./verify.ts";
