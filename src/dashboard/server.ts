// The server of the dashboard: listens on 127.0.0.1, checks every request before it looks at it, answers with the page, the journal and the
// files of attempts, and passes decisions on to maestro_decide. It writes nothing itself.

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { MaestroError } from "../errors.ts";
import { Access } from "./access.ts";
import type { Answers } from "./answers.ts";
import { type PageParts, servedPolicy } from "./page.ts";
import { type AskedRoute, type Denied, routeOf } from "./request.ts";

const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 128;
const MAX_STREAMS = 32;
const REQUEST_MS = 10_000;

export interface DashboardOptions {
  port: number;
  page: PageParts;
  answers: Answers;
  /** Called for a request that failed for a reason of our own. */
  complain: (error: unknown) => void;
}

export class Dashboard {
  readonly #options: DashboardOptions;
  readonly #access = new Access(randomBytes, Date.now);
  readonly #server: Server;
  readonly #headers: Record<string, string>;
  #streams = 0;
  /** When the last request ended. */
  #lastUse = performance.now();
  port = 0;

  constructor(options: DashboardOptions) {
    this.#options = options;
    this.#headers = {
      "content-security-policy": servedPolicy(options.page),
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": "camera=(), microphone=(), geolocation=()",
      "cache-control": "no-store",
    };
    this.#server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
      (request, answer) => void this.#serve(request, answer),
    );
    this.#server.maxConnections = MAX_CONNECTIONS;
    // Without these, Node keeps a connection for a protocol that this server does not speak.
    this.#server.on("upgrade", (_, socket) => socket.destroy());
    this.#server.on("connect", (_, socket) => socket.destroy());
  }

  /** Listens, on loopback alone. */
  async start(): Promise<void> {
    const { port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) =>
        reject(
          new MaestroError("environment", `Cannot listen on 127.0.0.1:${port}: ${error.message}`, {
            hint: "Choose another --port, or leave it out: any free port is used.",
          }),
        ),
      );
      this.#server.listen({ host: "127.0.0.1", port, exclusive: true }, resolve);
    });
    const address = this.#server.address();
    this.port = typeof address === "object" && address !== null ? address.port : 0;
  }

  /** An address that logs in once. The code is in the fragment, which a browser sends to no server. */
  newAddress(): string {
    return `http://127.0.0.1:${this.port}/#code=${this.#access.newCode()}`;
  }

  get hasPages(): boolean {
    return this.#streams > 0;
  }

  /** How long no page has been open and no request has come. */
  idleMs(): number {
    return this.#streams > 0 ? 0 : performance.now() - this.#lastUse;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    answer.on("error", () => answer.destroy());
    for (const [name, value] of Object.entries(this.#headers)) answer.setHeader(name, value);
    try {
      await this.#answer(request, answer);
    } catch (error) {
      this.#fail(answer, error);
    } finally {
      this.#lastUse = performance.now();
    }
  }

  async #answer(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { headers, headersDistinct } = request;
    const fetchSite = headers["sec-fetch-site"];
    const route = routeOf(
      {
        method: request.method ?? "",
        target: request.url ?? "",
        // Node would take the first of several, and another program on the way perhaps the last.
        host: headersDistinct.host?.length === 1 ? headers.host : undefined,
        origin: headers.origin,
        fetchSite: Array.isArray(fetchSite) ? fetchSite.join() : fetchSite,
        contentType: headers["content-type"],
      },
      this.port,
    );
    if ("status" in route) return deny(request, answer, route);
    if (route.kind === "page") return sendText(answer, "text/html; charset=utf-8", this.#options.page.html);
    if (route.kind === "login") return this.#login(request, answer);
    if (!this.#access.allows(headers.authorization)) {
      return deny(request, answer, { status: 401, message: "Log in with the code in the printed address." });
    }
    await this.#routed(route, request, answer);
  }

  async #login(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if ("status" in body) return deny(request, answer, body);
    const login = this.#access.login((body.value as { code?: unknown } | null)?.code);
    if (login === "too_many") return deny(request, answer, { status: 429, message: "Too many logins: wait a minute." });
    if (login === "refused")
      return deny(request, answer, { status: 401, message: "This code is not valid, or has been used." });
    sendJson(answer, 200, login);
  }

  async #routed(
    route: Exclude<AskedRoute, { kind: "page" | "login" }>,
    request: IncomingMessage,
    answer: ServerResponse,
  ): Promise<void> {
    const { answers } = this.#options;
    switch (route.kind) {
      case "sessions":
        return sendJson(answer, 200, answers.overview());
      case "records":
        return this.#stream(route, request, answer);
      case "log": {
        const { text, next, isEnd, isOver } = answers.log(route);
        answer.setHeader("x-next-offset", String(next));
        answer.setHeader("x-log-end", isEnd ? "yes" : "no");
        answer.setHeader("x-attempt-over", isOver ? "yes" : "no");
        return sendText(answer, "text/plain; charset=utf-8", text);
      }
      case "prompt":
        return sendText(answer, "text/plain; charset=utf-8", answers.prompt(route));
      case "diff":
        return sendText(answer, "text/plain; charset=utf-8", await answers.diff(route));
      case "decisions": {
        const body = await readBody(request);
        if ("status" in body) return deny(request, answer, body);
        const { status, body: told } = await answers.decide(route.session, body.value);
        return sendJson(answer, status, told);
      }
    }
  }

  async #stream(
    { session, after }: { session: string; after: number },
    request: IncomingMessage,
    answer: ServerResponse,
  ): Promise<void> {
    if (this.#streams >= MAX_STREAMS)
      return deny(request, answer, { status: 503, message: "Too many pages are open: close some." });
    const send = this.#options.answers.records(session, after);
    answer.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    this.#streams += 1;
    try {
      await send(answer);
    } finally {
      this.#streams -= 1;
    }
  }

  #fail(answer: ServerResponse, error: unknown): void {
    if (answer.headersSent) {
      answer.destroy();
      return;
    }
    if (error instanceof MaestroError) {
      const status = error.code === "not_found" ? 404 : 409;
      sendJson(answer, status, {
        error: error.code,
        message: error.message,
        ...(error.hint ? { hint: error.hint } : {}),
      });
      return;
    }
    this.#options.complain(error);
    sendJson(answer, 500, {
      error: "internal",
      message: "This is a defect in Maestro; the terminal of the dashboard shows it.",
    });
  }
}

function deny(request: IncomingMessage, answer: ServerResponse, { status, message }: Denied): void {
  // What the sender still has to say is not read.
  answer.setHeader("connection", "close");
  sendJson(answer, status, { error: "denied", message });
  request.resume();
}

function sendJson(answer: ServerResponse, status: number, value: unknown): void {
  answer.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  answer.end(JSON.stringify(value));
}

function sendText(answer: ServerResponse, type: string, text: string): void {
  answer.writeHead(200, { "content-type": type });
  answer.end(text);
}

async function readBody(request: IncomingMessage): Promise<{ value: unknown } | Denied> {
  const tooLarge = { status: 413, message: `The body is larger than ${MAX_BODY_BYTES} bytes.` };
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) return tooLarge;
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MAX_BODY_BYTES) return tooLarge;
    pieces.push(piece);
  }
  try {
    return { value: JSON.parse(Buffer.concat(pieces).toString("utf8")) };
  } catch {
    return { status: 400, message: "The body is not JSON." };
  }
}
