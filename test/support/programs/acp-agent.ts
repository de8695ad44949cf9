// An agent that speaks the Agent Client Protocol, made with the official library. Its arguments are steps; it answers with what came of them.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { type AgentContext, agent, methods, ndJsonStream } from "@agentclientprotocol/sdk/unstable";

let cwd = "";
const sessionId = "session-1";
const { client } = methods;

type Step = (context: AgentContext, argument: string) => Promise<string>;

const steps: Record<string, Step> = {
  write: async (context, path) => {
    await context.request(client.fs.writeTextFile, { sessionId, path: join(cwd, path), content: "written\n" });
    return "yes";
  },
  read: async (context, path) => {
    const { content } = await context.request(client.fs.readTextFile, { sessionId, path: join(cwd, path) });
    return content.trim();
  },
  ask: async (context, kind) => {
    const { outcome } = await context.request(client.session.requestPermission, {
      sessionId,
      toolCall: {
        toolCallId: "1",
        title: `a ${kind}`,
        kind: kind as "edit",
        locations: [{ path: join(cwd, "a.txt") }],
      },
      options: [
        { optionId: "sure", name: "Yes", kind: "allow_once" },
        { optionId: "never", name: "No", kind: "reject_once" },
      ],
    });
    return outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
  },
  run: async (context, command) => {
    const { terminalId } = await context.request(client.terminal.create, {
      sessionId,
      command: "sh",
      args: ["-c", command],
    });
    const { exitCode } = await context.request(client.terminal.waitForExit, { sessionId, terminalId });
    const { output } = await context.request(client.terminal.output, { sessionId, terminalId });
    await context.request(client.terminal.release, { sessionId, terminalId });
    return `${output.trim()} ${exitCode}`;
  },
  hang: () => {
    spawn("sleep", ["600"], { stdio: "ignore" });
    return new Promise(() => undefined);
  },
  die: () => process.exit(3),
};

async function play(context: AgentContext): Promise<string> {
  const told: string[] = [];
  for (const word of process.argv.slice(2)) {
    const [name = "", argument = ""] = word.split("=");
    const update = {
      sessionUpdate: "tool_call" as const,
      toolCallId: word,
      title: word,
      status: "in_progress" as const,
    };
    await context.notify(client.session.update, { sessionId, update });
    const result = await steps[name]?.(context, argument).catch((error: Error) => `error ${error.message}`);
    told.push(`${word}: ${result}`);
  }
  return told.join("; ");
}

const report = (summary: string) => `## Task Report
- Status: success
- Objective Achieved: yes
- Files Created: none
- Files Modified: none
- Files Deleted: none
- Validation: skipped
- Summary: ${summary}

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

agent({ name: "test" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    cwd = params.cwd;
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, async ({ client: context }) => {
    const text = report(await play(context));
    const update = { sessionUpdate: "agent_message_chunk" as const, content: { type: "text" as const, text } };
    await context.notify(client.session.update, { sessionId, update });
    return { stopReason: "end_turn", usage: { inputTokens: 30, outputTokens: 12, totalTokens: 42 } };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
