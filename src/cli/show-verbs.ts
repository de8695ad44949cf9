// The verbs that show how a run goes and went, read together when one of them is called for.

export { logs } from "./logs.ts";
export { report } from "./report.ts";
export { watch } from "./watch.ts";
