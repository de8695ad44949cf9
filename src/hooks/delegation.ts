// The hooks around a delegated agent, as one bundle that is loaded only when one of them runs (tools/build.js).

export { delegate } from "./delegate.ts";
export { judgeAnswer, judgeCompletion } from "./gate.ts";
export { recordHandback } from "./hand-back.ts";
