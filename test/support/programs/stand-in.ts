// A stand-in for `gemini` that does what the prompt tells it: PLAY {"1": [steps of the first attempt], "*": [steps of any other]}.
// Steps are [name, argument] pairs; without steps it reports success. It notes every start in starts.jsonl of its directory.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Forged, forge } from "../forge.ts";

type Step = [name: string, argument?: unknown];

process.on("uncaughtException", (error) => {
  writeSync(2, `stand-in: ${error.stack}\n`);
  process.exit(70);
});

const [journal, ...argv] = process.argv.slice(2);
const note = (entry: object) => journal && appendFileSync(journal, `${JSON.stringify({ at: Date.now(), ...entry })}\n`);
const { MAESTRO_PHASE = "", MAESTRO_ATTEMPT = "1", MAESTRO_AGENT = "" } = process.env;
note({
  event: "start",
  phase: MAESTRO_PHASE,
  attempt: Number(MAESTRO_ATTEMPT),
  agent: MAESTRO_AGENT,
  pid: process.pid,
  cwd: process.cwd(),
  argv,
});

/** As the CLI with that output format: an event a line, the first of which repeats the prompt. */
const isStreamed = argv.includes("stream-json");
let isBegun = false;
let conversation = "57a4d1e0-0000-4000-8000-000000000000";
let spent = 0;

const prompt = readFileSync(0, "utf8");
const play = JSON.parse(/^.*\bPLAY (\{.*\})\s*$/m.exec(prompt)?.[1] ?? "{}") as Record<string, Step[]>;
let answer = () => success({});
void act(play[MAESTRO_ATTEMPT] ?? play["*"] ?? []);

async function act(steps: Step[]): Promise<void> {
  for (const [name, argument] of steps) await perform(name, argument);
  note({ event: "end", phase: MAESTRO_PHASE, attempt: Number(MAESTRO_ATTEMPT) });
  writeAll(1, answer());
}

async function perform(name: string, argument: unknown): Promise<void> {
  const steps: Record<string, () => unknown> = {
    sleep: () => new Promise((resolve) => setTimeout(resolve, Number(argument))),
    hang: () => new Promise(() => setInterval(() => undefined, 1000)),
    spin: () => {
      for (;;);
    },
    exit: () => process.exit(Number(argument)),
    kill: () => {
      process.kill(process.pid, argument as NodeJS.Signals);
      return new Promise((resolve) => setTimeout(resolve, 5000));
    },
    /** Kills its whole process group, including the process that waits for it. */
    killGroup: () => process.kill(0, "SIGKILL"),
    ignore: () => process.on(argument as NodeJS.Signals, () => undefined),
    /** Exits on TERM, but slowly. */
    linger: () => process.on("SIGTERM", () => setTimeout(() => process.exit(143), Number(argument))),
    /** Exits with 0 on TERM, as the CLI does. */
    obey: () => process.on("SIGTERM", () => process.exit(0)),
    /** Bytes without end on stdout or stderr: ["spew", [fd, bytes]]. */
    spew: () => spew(...(argument as [number, number])),
    stdout: () => writeAll(1, String(argument)),
    stderr: () => writeAll(2, `${argument}\n`),
    /** Text, and calls of tools (["use", [name, parameters]]), as they happen. `$NAME` in a parameter is its variable. */
    say: () => emit({ type: "message", role: "assistant", content: String(argument), delta: true }),
    use: () => {
      const [tool_name, given] = argument as [string, Record<string, string>];
      const value = (text: string) => text.replace(/\$(\w+)/g, (_, name) => process.env[name] ?? "");
      const parameters = Object.fromEntries(Object.entries(given).map(([key, text]) => [key, value(text)]));
      emit({ type: "tool_use", tool_name, tool_id: "1", parameters });
      emit({ type: "tool_result", tool_id: "1", status: "success" });
    },
    /** Another answer of the model is in its transcript, with so many tokens: ["spend", [input, output]]. */
    spend: () => {
      conversation = `${process.pid.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
      const [input, output] = argument as [number, number];
      emit({ type: "message", role: "assistant", content: ".", delta: true });
      spent += 1;
      const tokens = { input, output, cached: 0, thoughts: 0 };
      const path = join(
        process.env.HOME ?? "",
        ".gemini/tmp/p/chats",
        `session-2026-02-14-${conversation.slice(0, 8)}.jsonl`,
      );
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(
        path,
        `${JSON.stringify({ id: String(spent), type: "gemini", model: "gemini-2.5-pro", tokens })}\n`,
      );
    },
    /** What is answered instead of a hand-off. */
    answer: () => {
      answer = () => String(argument);
    },
    report: () => {
      answer = () => success(argument as Report);
    },
    /** Hands over at once: for an agent that never exits. */
    print: () => writeAll(1, answer()),
    /** Waits until a file is there. */
    await: () => fileAt(String(argument)),
    /** Waits until the test has put a file of that name beside the notes: for an agent whose directory is not the project. */
    signal: () => fileAt(join(dirname(journal ?? ""), String(argument))),
    write: () => {
      const [path, text] = argument as [string, string];
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    },
    /** Bytes in base64: ["bytes", [path, bytes]]. */
    bytes: () => {
      const [path, base64] = argument as [string, string];
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, Buffer.from(base64, "base64"));
    },
    append: () => {
      const [path, text] = argument as [string, string];
      appendFileSync(path, text);
    },
    /** Writes into the journal as if it were the engine: ["forge", [path, changes]]. */
    forge: () => {
      const [path, changes] = argument as [string, Forged[][]];
      forge(path, changes);
    },
    /** Files, and directories with all they hold. */
    remove: () => rmSync(String(argument), { recursive: true }),
    rename: () => {
      const [from, to] = argument as [string, string];
      mkdirSync(dirname(to), { recursive: true });
      renameSync(from, to);
    },
    chmod: () => {
      const [path, mode] = argument as [string, number];
      chmodSync(path, mode);
    },
    symlink: () => {
      const [target, path] = argument as [string, string];
      symlinkSync(target, path);
    },
    /** Children that outlive it: in the group, holding stdout; or gone to a session of their own. */
    child: () => spawn("sleep", [String(argument)], { stdio: "inherit" }).unref(),
    daemon: () => spawn("sleep", [String(argument)], { stdio: "ignore", detached: true }).unref(),
    stubborn: () => stubborn(Number(argument)),
    closeStdout: () => closeSync(1),
    environment: () =>
      note({
        event: "environment",
        phase: MAESTRO_PHASE,
        names: Object.keys(process.env).sort(),
        values: process.env,
        argv,
      }),
    prompt: () => note({ event: "prompt", phase: MAESTRO_PHASE, prompt }),
    /** Runs a program as an agent's tool would: ["command", [program, ...arguments]]. */
    command: () => {
      const [program = "", ...args] = argument as string[];
      const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
      note({ event: "command", phase: MAESTRO_PHASE, code: status, stderr });
    },
    /** A line of shell that has to succeed; what it prints is noted. */
    shell: () => {
      const { status, stdout, stderr } = spawnSync("sh", ["-ec", String(argument)], { encoding: "utf8" });
      note({ event: "shell", phase: MAESTRO_PHASE, attempt: Number(MAESTRO_ATTEMPT), code: status, stdout, stderr });
      if (status !== 0) throw new Error(`${argument}: ${stderr}`);
    },
    /**
     * Calls a tool of the MCP server as the agent's client would: ["tool", [name, arguments]], with a third part in that environment. The answer
     * is noted.
     */
    tool: () => callTool(...(argument as [string, object, NodeJS.ProcessEnv?])),
    /** Prints a variable as a careless tool would. */
    leak: () => writeAll(2, `error: request failed, key=${process.env[String(argument)]}\n`),
    /** Fails as the CLI does when the provider refuses: nothing on stdout, an error document on stderr. */
    quota: () => {
      const hint = argument === undefined ? "" : ` Please retry in ${argument}s.`;
      fail(429, `You exceeded your current quota.${hint}`, 173);
    },
    /** A provider that rejects every request until a point in time. */
    outage: () => {
      if (Date.now() < Number(argument)) fail(429, "You exceeded your current quota.", 173);
    },
    error: () => fail(...(argument as [number, string, number])),
  };
  const step = steps[name];
  if (step === undefined) throw new Error(`no step ${name}`);
  await step();
}

interface Report {
  status?: string;
  created?: string;
  modified?: string;
  deleted?: string;
  validation?: string;
  summary?: string;
  downstream?: boolean;
  tokens?: { prompt: number; candidates: number; cached: number; thoughts: number };
}

function success({
  status = "success",
  created = "none",
  modified = "none",
  deleted = "none",
  validation = "pass",
  summary = "Done.",
  downstream = true,
  tokens,
}: Report): string {
  const context = downstream
    ? "\n## Downstream Context\n- Key Interfaces Introduced: none\n- Patterns Established: none\n- Integration Points: none\n- Assumptions: none\n- Warnings: none\n"
    : "";
  const response = `## Task Report\n- Status: ${status}\n- Files Created: ${created}\n- Files Modified: ${modified}\n- Files Deleted: ${deleted}\n- Validation: ${validation}\n- Summary: ${summary}\n${context}`;
  const counts = { prompt: 100, candidates: 20, cached: 40, thoughts: 7, ...tokens };
  const stats = {
    models: { "gemini-2.5-pro": { tokens: { ...counts, input: counts.prompt - counts.cached, total: 0, tool: 0 } } },
  };
  return isStreamed ? streamed(response, counts) : JSON.stringify({ session_id: "stand-in", response, stats }, null, 2);
}

function streamed(content: string, { prompt: input, candidates, cached, thoughts }: Record<string, number>): string {
  const total_tokens = Number(input) + Number(candidates) + Number(thoughts);
  const counts = { total_tokens, input_tokens: input, output_tokens: candidates, cached };
  const stats = { ...counts, duration_ms: 1, tool_calls: 0, models: { "gemini-2.5-pro": counts } };
  return [
    ...(isBegun ? [] : beginning()),
    { type: "message", role: "assistant", content, delta: true },
    { type: "result", status: "success", stats },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join("");
}

function beginning(): object[] {
  const init = { type: "init", session_id: conversation, model: "gemini-2.5-pro" };
  return [init, { type: "message", role: "user", content: prompt }];
}

function emit(event: object): void {
  for (const one of [...(isBegun ? [] : beginning()), event]) writeAll(1, `${JSON.stringify(one)}\n`);
  isBegun = true;
}

function fail(code: number, message: string, exit: number): never {
  if (isStreamed) {
    writeAll(2, `Error when talking to Gemini API Error: ${message}\n    at x (y.js:1:2) {\n  status: ${code}\n}\n`);
    emit({ type: "result", status: "error", error: { type: "unknown", message: `[API Error: ${message}]` } });
    process.exit(exit);
  }
  writeAll(2, `${JSON.stringify({ session_id: "stand-in", error: { type: "Error", message, code } }, null, 2)}\n`);
  process.exit(exit);
}

/** A child that ignores TERM once this function has returned. */
async function stubborn(seconds: number): Promise<void> {
  const script = `trap '' TERM; echo deaf; sleep ${seconds}; sleep ${seconds}`;
  const child = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  child.stdout.destroy();
  child.unref();
}

async function fileAt(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The server of this attempt: its directory and its environment. */
async function callTool(name: string, args: object, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const path = fileURLToPath(new URL("../../../dist/mcp.js", import.meta.url));
  const server = spawn(process.execPath, [path], { stdio: ["pipe", "pipe", "inherit"], env });
  const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "stand-in", version: "1" };
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/call", params: { name, arguments: args } });
  for await (const line of createInterface({ input: server.stdout })) {
    const { id, result } = JSON.parse(line);
    if (id !== 2) continue;
    note({ event: "tool", phase: MAESTRO_PHASE, answer: JSON.parse(result.content[0].text) });
    server.stdin.end();
  }
}

function spew(fd: number, bytes: number): void {
  const chunk = Buffer.alloc(64 * 1024, "x");
  for (let written = 0; written < bytes; written += chunk.length) writeSync(fd, chunk);
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}
