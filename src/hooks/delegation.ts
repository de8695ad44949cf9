// The hooks around a delegated agent, as one file: it is read when one of them is called (tools/build.js).

export { delegate } from "./delegate.ts";
export { judgeAnswer, judgeCompletion } from "./gate.ts";
export { recordHandback } from "./hand-back.ts";
