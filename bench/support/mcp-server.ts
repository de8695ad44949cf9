// Runs the built MCP server with a client on its pipes, and creates a project for it.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = join(process.cwd(), "dist", "mcp.js");

interface Reply {
  id: number;
  result?: { isError?: boolean; content?: { text: string }[] };
}

export class McpServer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #last = 0;
  #rest = "";

  constructor(project: string, nodeArgs: readonly string[] = [], more: Record<string, string> = {}) {
    const env = { HOME: project, PATH: process.env.PATH, ...more };
    this.#child = spawn(process.execPath, [...nodeArgs, program], {
      cwd: project,
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout?.on("data", (chunk) => this.#take(String(chunk)));
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: "bench", version: "1" };
    await this.#request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /** The text of the answer, as the model reads it. */
  async call(name: string, args: object): Promise<string> {
    const { result } = await this.#request("tools/call", { name, arguments: args });
    const text = result?.content?.map((part) => part.text).join("\n") ?? "";
    if (result === undefined || result.isError) throw new Error(`${name}: ${text}`);
    return text;
  }

  /** Milliseconds from the call to its answer. */
  async timed(name: string, args: object): Promise<number> {
    const began = performance.now();
    await this.call(name, args);
    return performance.now() - began;
  }

  /** Closes its input and waits until it has exited by itself. */
  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin?.end();
    await gone;
  }

  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await gone;
  }

  #request(method: string, params: object): Promise<Reply> {
    this.#last += 1;
    const id = this.#last;
    const reply = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ jsonrpc: "2.0", id, method, params });
    return reply;
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #take(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const reply: Reply = JSON.parse(line);
      this.#waiting.get(reply.id)?.(reply);
      this.#waiting.delete(reply.id);
    }
  }
}

/** Milliseconds that an empty Node program takes. */
export function startBare(): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, ["-e", "0"], { stdio: ["pipe", "pipe", "ignore"] });
  return new Promise((resolve) => child.once("exit", () => resolve(performance.now() - began)));
}

/** Creates a directory with a plan of `count` phases. */
export function planOf(count: number): string {
  const project = mkdtempSync(join(tmpdir(), "maestro-bench-mcp-"));
  const phases = Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    title: `Phase ${at + 1}`,
    agent: "coder",
    description: "Work.",
    validation_criteria: ["it works"],
    files_created: [`src/file-${at}.ts`],
  }));
  writeFileSync(join(project, "plan.md"), `---\n${JSON.stringify({ title: "Bench", phases })}\n---\n`);
  return project;
}
