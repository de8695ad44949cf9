// The whole judge of commands, as one file: it is read when a command is not plainly fine (tools/build.js).

export { judgeShellCall } from "../guard/judge.ts";
