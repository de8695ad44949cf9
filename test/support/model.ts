// A scripted model on loopback that the real Gemini CLI talks to: it answers by rule and remembers every request.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelRequest {
  model: string;
  /** The system instruction: it tells which agent is asking. */
  system: string;
  /** The text of the last message of the user. */
  prompt: string;
  /** Every text of the user's side in the conversation, part by part. */
  texts: string[];
  /** What came back from tools in the last message, as JSON. */
  results: string;
  tools: string[];
}

export type Part = { text: string } | { functionCall: { name: string; args: Record<string, unknown> } };

/** As the provider counts: `prompt` has the cached tokens in it, `candidates` has not the thoughts. */
export interface Usage {
  prompt: number;
  cached: number;
  candidates: number;
  thoughts: number;
}

interface Refusal {
  status: number;
  message?: string;
  /** When to come back, as google.rpc.RetryInfo has it: "3s". */
  retryDelay?: string;
}

export type Answer = ({ parts: Part[]; usage?: Partial<Usage> } | Refusal | { hang: true }) & { delayMs?: number };

export interface ScriptedModel {
  url: string;
  requests: ModelRequest[];
  close(): Promise<void>;
}

const usual: Usage = { prompt: 100, cached: 40, candidates: 20, thoughts: 0 };

/** An answer may wait for something that the test does. */
export async function startModel(answer: (request: ModelRequest) => Answer | Promise<Answer>): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = understand(incoming.url ?? "", Buffer.concat(chunks).toString("utf8"));
    requests.push(request);
    const answered = await answer(request);
    const isStreamed = (incoming.url ?? "").includes("streamGenerateContent");
    setTimeout(() => send(outgoing, answered, isStreamed), answered.delayMs ?? 0).unref();
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

export type Rules = Record<string, Answer | Answer[]>;

/**
 * Answers by the words in a conversation: the first rule whose key is in it. A list is used up in order, and a request after its end, or
 * one that fits no rule, is refused; anything else is the answer to every request.
 */
export function byWords(rules: Rules): (request: ModelRequest) => Answer {
  return ({ texts }) => {
    const said = texts.join("\n");
    const [key, rule] = Object.entries(rules).find(([words]) => said.includes(words)) ?? ["", []];
    const answer = Array.isArray(rule) ? rule.shift() : rule;
    return answer ?? { status: 400, message: `the script has no answer left: ${key}` };
  };
}

function send(outgoing: ServerResponse, answer: Answer, isStreamed: boolean): void {
  if ("hang" in answer) return;
  if ("status" in answer) {
    outgoing.writeHead(answer.status, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ error: refusal(answer) }));
    return;
  }
  const { prompt, cached, candidates, thoughts } = { ...usual, ...answer.usage };
  const body = {
    candidates: [{ content: { role: "model", parts: answer.parts }, finishReason: "STOP", index: 0 }],
    usageMetadata: {
      promptTokenCount: prompt,
      cachedContentTokenCount: cached,
      candidatesTokenCount: candidates,
      thoughtsTokenCount: thoughts,
      totalTokenCount: prompt + candidates + thoughts,
    },
  };
  outgoing.writeHead(200, { "content-type": isStreamed ? "text/event-stream" : "application/json" });
  outgoing.end(isStreamed ? `data: ${JSON.stringify(body)}\n\n` : JSON.stringify(body));
}

function refusal({ status: code, message = "scripted", retryDelay }: Refusal): object {
  const status = code === 429 ? "RESOURCE_EXHAUSTED" : code === 500 ? "INTERNAL" : "SCRIPTED";
  const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay };
  return { code, message, status, ...(retryDelay === undefined ? {} : { details: [retryInfo] }) };
}

interface WireContent {
  role?: string;
  parts?: { text?: string; functionResponse?: unknown }[];
}

function understand(url: string, body: string): ModelRequest {
  const wire: {
    contents?: WireContent[];
    systemInstruction?: WireContent;
    tools?: { functionDeclarations?: { name: string }[] }[];
  } = body === "" ? {} : JSON.parse(body);
  const textOf = (content: WireContent | undefined) => (content?.parts ?? []).map((part) => part.text ?? "").join("\n");
  const last = wire.contents?.at(-1);
  const ofUser = (wire.contents ?? []).filter(({ role }) => role === "user");
  return {
    model: /models\/([^:]+):/.exec(url)?.[1] ?? "",
    system: textOf(wire.systemInstruction),
    prompt: textOf(last),
    texts: ofUser.flatMap(({ parts }) => (parts ?? []).flatMap(({ text }) => text ?? [])),
    results: JSON.stringify((last?.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? [])),
    tools: (wire.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
  };
}
