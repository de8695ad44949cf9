// A dashboard of a project, and requests to it with any headers.

import { request } from "node:http";
import { type Background, background, until } from "./processes.ts";
import type { Project } from "./project.ts";

export interface Answered {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface Asking {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export class TestDashboard {
  readonly process: Background;
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  token = "";

  constructor(process: Background, { url, port, pid }: { url: string; port: number; pid: number }) {
    this.process = process;
    this.url = url;
    this.port = port;
    this.pid = pid;
  }

  get code(): string {
    return this.url.split("#code=")[1] ?? "";
  }

  /** Sends exactly these headers; Host is that of the server unless it is given. */
  ask(path: string, { method = "GET", headers = {}, body }: Asking = {}): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port: this.port, path, method, headers: { host: `127.0.0.1:${this.port}`, ...headers } },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (chunk) => (text += chunk));
          answer.once("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
          answer.once("error", reject);
        },
      );
      sent.once("error", reject);
      sent.end(body);
    });
  }

  post(path: string, value: unknown, headers: Record<string, string> = {}): Promise<Answered> {
    const given = { "content-type": "application/json", ...this.bearer, ...headers };
    return this.ask(path, { method: "POST", headers: given, body: JSON.stringify(value) });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answered> {
    return this.ask(path, { headers: { ...this.bearer, ...headers } });
  }

  get bearer(): Record<string, string> {
    return this.token === "" ? {} : { authorization: `Bearer ${this.token}` };
  }

  async login(): Promise<this> {
    const { body } = await this.post("/api/login", { code: this.code });
    this.token = JSON.parse(body).token;
    return this;
  }

  /** Reads the stream of records until `enough` says so; returns the blocks. */
  stream(session: string, after: number, enough: (blocks: string[]) => boolean): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const path = `/api/sessions/${session}/records?after=${after}`;
      const headers = { host: `127.0.0.1:${this.port}`, ...this.bearer };
      const sent = request({ host: "127.0.0.1", port: this.port, path, headers }, (answer) => {
        let text = "";
        const blocks = () => text.split("\n\n").slice(0, -1);
        answer.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
          if (!enough(blocks())) return;
          sent.destroy();
          resolve(blocks());
        });
        answer.once("end", () => resolve(blocks()));
      });
      sent.once("error", (error) => {
        if (!sent.destroyed) reject(error);
      });
      sent.end();
    });
  }

  async end(): Promise<void> {
    this.process.child.kill("SIGTERM");
    await this.process.ended;
  }
}

export async function startDashboard(
  project: Project,
  words: string[] = [],
  env: Record<string, string> = {},
): Promise<TestDashboard> {
  const started = background(project, ["dashboard", "--json", ...words], env);
  const line = await until("the address of the dashboard", () => {
    const [first = "", ...rest] = started.stdout().split("\n");
    if (rest.length > 0) return first;
    if (started.child.exitCode !== null) throw new Error(`the dashboard has ended: ${started.stderr()}`);
    return undefined;
  });
  return new TestDashboard(started, JSON.parse(line));
}

/** Runs `use` with a dashboard that is ended afterwards. */
export async function withDashboard<T>(
  project: Project,
  words: string[],
  use: (dashboard: TestDashboard) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const dashboard = await startDashboard(project, words, env);
  try {
    return await use(dashboard);
  } finally {
    await dashboard.end();
  }
}
