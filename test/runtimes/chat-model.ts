// A scripted model on loopback that speaks OpenAI's chat completions, as the programs that take any provider do. It answers by a function and
// keeps every request.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ChatRequest {
  body: string;
  tools: string[];
  /** Whether the last call of a tool was answered. */
  hasResult: boolean;
}

export type ChatAnswer =
  | { text: string }
  | { tool: string; input: Record<string, unknown> }
  | { status: number; message: string }
  | "hang"
  | "garbage";

export interface ChatModel {
  url: string;
  requests: ChatRequest[];
  close: () => void;
}

/** Every answer costs the same. */
const perCall = { input: 1234, cached: 200, output: 56 };

export async function startChatModel(answer: (request: ChatRequest) => ChatAnswer): Promise<ChatModel> {
  const requests: ChatRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    if (!incoming.url?.endsWith("/chat/completions")) return void outgoing.writeHead(404).end("{}");
    const request = understood(Buffer.concat(chunks).toString("utf8"));
    requests.push(request);
    send(outgoing, answer(request));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close };
}

function understood(body: string): ChatRequest {
  const wire: { tools?: { function: { name: string } }[]; messages?: { role: string }[] } = JSON.parse(body);
  return {
    body,
    tools: (wire.tools ?? []).map((tool) => tool.function.name),
    hasResult: (wire.messages ?? []).some(({ role }) => role === "tool"),
  };
}

function send(outgoing: ServerResponse, answer: ChatAnswer): void {
  if (answer === "hang") return;
  if (typeof answer === "object" && "status" in answer) {
    outgoing.writeHead(answer.status, { "content-type": "application/json", "retry-after": "1" });
    outgoing.end(JSON.stringify({ error: { message: answer.message, type: `scripted_${answer.status}` } }));
    return;
  }
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  if (answer === "garbage") return void outgoing.end("\u0001{]\n\n");
  const chunk = (part: object) =>
    outgoing.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m1", ...part })}\n\n`,
    );
  const called = "tool" in answer && {
    tool_calls: [
      {
        ...{ index: 0, id: "call_1", type: "function" },
        function: { name: answer.tool, arguments: JSON.stringify(answer.input) },
      },
    ],
  };
  const delta = { role: "assistant", content: "text" in answer ? answer.text : null, ...(called || {}) };
  chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: called ? "tool_calls" : "stop" }] });
  const { input, cached, output } = perCall;
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  chunk({ choices: [], usage: { ...usage, prompt_tokens_details: { cached_tokens: cached } } });
  outgoing.end("data: [DONE]\n\n");
}
