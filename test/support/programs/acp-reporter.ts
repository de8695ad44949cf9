// Starts the agent that its arguments name and passes on what it and its client say. Before the agent ends its turn, it adds a Task Report,
// which an agent without a model does not write.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const report = `
## Task Report
- Status: success
- Files Created: none
- Files Modified: none
- Files Deleted: none
- Validation: pass
- Summary: Done

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

const [program = "", ...args] = process.argv.slice(2);
const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(agent.stdin);
let sessionId = "";
createInterface({ input: agent.stdout }).on("line", (line) => {
  const { result } = JSON.parse(line);
  sessionId = result?.sessionId ?? sessionId;
  if (result?.stopReason === "end_turn") {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: report } };
    const method = "session/update";
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", method, params: { sessionId, update } })}\n`);
  }
  process.stdout.write(`${line}\n`);
});
agent.once("exit", (code) => {
  process.exitCode = code ?? 1;
});
