// The verbs that show how a run goes and went, read together when one of them is called for.

export { watch } from "./run/watch.ts";
export { logs } from "./work/logs.ts";
export { report } from "./work/report.ts";
