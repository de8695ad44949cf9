// A scripted model on loopback that the real Gemini CLI talks to: it answers by rule and remembers every request.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelRequest {
  model: string;
  /** The system instruction: it tells which agent is asking. */
  system: string;
  /** The text of the last message of the user. */
  prompt: string;
  tools: string[];
}

export type Part = { text: string } | { functionCall: { name: string; args: Record<string, unknown> } };
export type Answer = { parts: Part[] } | { status: number };

export interface ScriptedModel {
  url: string;
  requests: ModelRequest[];
  close(): Promise<void>;
}

export async function startModel(answer: (request: ModelRequest) => Answer): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = understand(incoming.url ?? "", Buffer.concat(chunks).toString("utf8"));
    requests.push(request);
    const answered = answer(request);
    if ("status" in answered) {
      outgoing.writeHead(answered.status, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ error: { code: answered.status, message: "scripted", status: "SCRIPTED" } }));
      return;
    }
    const body = {
      candidates: [{ content: { role: "model", parts: answered.parts }, finishReason: "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: 100,
        candidatesTokenCount: 20,
        cachedContentTokenCount: 40,
        totalTokenCount: 120,
      },
    };
    const streamed = (incoming.url ?? "").includes("streamGenerateContent");
    outgoing.writeHead(200, { "content-type": streamed ? "text/event-stream" : "application/json" });
    outgoing.end(streamed ? `data: ${JSON.stringify(body)}\n\n` : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

interface WireContent {
  role?: string;
  parts?: { text?: string }[];
}

function understand(url: string, body: string): ModelRequest {
  const wire: {
    contents?: WireContent[];
    systemInstruction?: WireContent;
    tools?: { functionDeclarations?: { name: string }[] }[];
  } = body === "" ? {} : JSON.parse(body);
  const textOf = (content: WireContent | undefined) => (content?.parts ?? []).map((part) => part.text ?? "").join("\n");
  return {
    model: /models\/([^:]+):/.exec(url)?.[1] ?? "",
    system: textOf(wire.systemInstruction),
    prompt: textOf(wire.contents?.at(-1)),
    tools: (wire.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
  };
}
