// A scripted model on loopback that speaks the protocol of any vendor. It remembers what it was asked and what it has counted.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  anthropic,
  type Call,
  type Counts,
  completions,
  google,
  type Heard,
  type Protocol,
  responses,
} from "./wire.ts";

export type Reply =
  | { text: string }
  | { call: Call }
  | { status: number; message?: string; retryAfter?: number }
  | { hang: true }
  | { garbage: string };

export interface Scripted {
  url: string;
  heard: Heard[];
  /** What the answers to those who have said `word` have counted together. */
  counted: (word: string) => Counts;
  close: () => Promise<void>;
}

const perAnswer: Counts = { input: 1234, cached: 200, output: 56 };
const protocols: readonly Protocol[] = [anthropic, responses, completions, google];

export async function startScripted(script: (heard: Heard) => Reply): Promise<Scripted> {
  const heard: Heard[] = [];
  const answered: Heard[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const path = (incoming.url ?? "").split("?")[0] ?? "";
    const protocol = protocols.find((one) => one.isAsked(path));
    if (protocol === undefined || incoming.method !== "POST") {
      outgoing.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const said = protocol.hear(path, JSON.parse(Buffer.concat(chunks).toString("utf8")));
    heard.push(said);
    // A question without tools is about the conversation itself, such as its title.
    const reply: Reply = said.tools.length === 0 ? { text: "A title" } : script(said);
    if (!("text" in reply || "call" in reply)) {
      refuse(outgoing, protocol, reply);
      return;
    }
    answered.push(said);
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.end(protocol.write(reply, perAnswer, said.model));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  const counted = (word: string) => {
    const { length } = answered.filter((one) => one.said.includes(word));
    const { input, cached, output } = perAnswer;
    return { input: length * input, cached: length * cached, output: length * output };
  };
  return { url: `http://127.0.0.1:${port}`, heard, counted, close };
}

function refuse(
  outgoing: ServerResponse,
  protocol: Protocol,
  reply: Exclude<Reply, { text: string } | { call: Call }>,
) {
  if ("hang" in reply) return;
  if ("garbage" in reply) {
    outgoing.writeHead(200, { "content-type": "text/event-stream" }).end(reply.garbage);
    return;
  }
  const { status, message = "scripted", retryAfter } = reply;
  const wait = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  outgoing.writeHead(status, { "content-type": "application/json", ...wait });
  outgoing.end(JSON.stringify(protocol.refuse(status, message)));
}
