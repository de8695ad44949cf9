// The complete command guard, as one bundle that is loaded only when the quick check cannot decide (tools/build.js).

export { judgeShellCall } from "../guard/judge.ts";
