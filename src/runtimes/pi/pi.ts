// Pi as a runtime: command line, variables of its vendor, and the meaning of its events.

import type { Tier } from "../../agents/tiers.ts";
import { isObject } from "../../shape.ts";
import {
  countOf,
  type EventTable,
  member,
  type Said,
  streamJudge,
  streamProgress,
  streamShown,
  wordsOf,
} from "../event-stream.ts";
import { quotaSign } from "../quota.ts";
import type { AttemptSpec, Runtime } from "../runtime.ts";

const READ = "read,grep,find,ls";
const tools: Readonly<Record<Tier, string>> = {
  "read-only": READ,
  "read-shell": `${READ},bash`,
  "read-write": `${READ},edit,write`,
  full: `${READ},bash,edit,write`,
};

/**
 * An extension of Pi that prints its events. Its own `--mode json` repeats the whole message with each piece of it, twice: 205 MB for a file
 * of 20 kB, of which this prints 62 kB. The answer follows as plain text.
 */
const startFile = {
  ending: "mjs",
  text: `import { writeSync } from "node:fs";
const print = (event) => {
  const line = Buffer.from(JSON.stringify(event) + "\\n");
  for (let at = 0; at < line.length; ) at += writeSync(1, line, at);
};
const isAnswer = ({ role }) => role === "assistant";
export default function (pi) {
  for (const name of ["agent_start", "tool_execution_start"]) pi.on(name, print);
  pi.on("tool_execution_end", (event) => {
    if (event.isError) print(event);
  });
  pi.on("message_end", (event) => {
    if (isAnswer(event.message)) print(event);
  });
  pi.on("agent_end", ({ type, messages }) => print({ type, messages: messages.filter(isAnswer) }));
}
`,
};

const events: EventTable = {
  agent_start: () => [],
  message_end: ({ message }) => (isAnswer(message) ? saidIn(message) : []),
  tool_execution_start: ({ toolName, args }) => [{ kind: "call", tool: wordsOf(toolName), input: args }],
  tool_execution_end: ({ isError, result }) =>
    isError === true ? [{ kind: "failed", message: partsOf(result).map(textOf).join("") }] : [],
  agent_end: ({ messages }) => {
    const answers = (Array.isArray(messages) ? messages : []).filter(isAnswer);
    const isGood = answers.at(-1)?.stopReason === "stop";
    // Has every message since it started; the events before are often too long to be read whole.
    return [
      { kind: "spent", usage: answers.map(usageOf), isWhole: true },
      { kind: "end", isGood, ...(isGood ? { text: answers.slice(-1).flatMap(partsOf).map(textOf).join("") } : {}) },
    ];
  },
};

function isAnswer(message: unknown): message is Record<string, unknown> {
  return isObject(message) && message.role === "assistant";
}

function saidIn(message: Record<string, unknown>): Said[] {
  const { stopReason } = message;
  const isCut = stopReason !== "stop" && stopReason !== "toolUse";
  const problem = wordsOf(message.errorMessage) || `the answer ended with ${wordsOf(stopReason)}`;
  return [
    { kind: "text", text: partsOf(message).map(textOf).join("") },
    { kind: "spent", usage: [usageOf(message)] },
    ...(isCut ? [{ kind: "problem" as const, message: problem }] : []),
  ];
}

function partsOf(message: unknown): unknown[] {
  const content = member(message, "content");
  return Array.isArray(content) ? content : [];
}

function textOf(part: unknown): string {
  return member(part, "type") === "text" ? wordsOf(member(part, "text")) : "";
}

/** Its input leaves out what was cached; its output includes thoughts. */
function usageOf(message: unknown) {
  const count = (name: string) => countOf(member(message, "usage", name));
  const cached = count("cacheRead");
  const input = count("input") + count("cacheWrite") + cached;
  const model = wordsOf(member(message, "model")).slice(0, 200) || null;
  return { model, input, cached, output: count("output"), thoughts: 0 };
}

const facts = {
  label: "Pi",
  events,
  signIn: "Start `pi` once in a terminal and use /login, or pass the key of its provider with --pass-env.",
};

export const piRuntime: Runtime = {
  name: "pi",
  program: "pi",
  callsModel: true,
  login: ".pi/agent/auth.json",
  home: [{ path: ".pi/agent", variable: "PI_CODING_AGENT_DIR", reads: ["bin", "prompts", "skills"] }],
  install: "npm install -g @earendil-works/pi-coding-agent",
  unattended: "",
  argv,
  startFile,
  payload: (prompt) => prompt,
  environment: { PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
  vendor: /^PI_/,
  envFiles: [],
  pinned: [],
  distrust: {},
  capabilities: {
    tiers: ["read-only", "read-shell", "read-write", "full"],
    heldBy: "--tools; the only extension that is loaded is Maestro's, which prints the events",
    turnLimit: null,
    budget: null,
    streams: "messages and calls",
    tokens: "while it runs and at the end, per model",
    atOnce: null,
    limits: ["retries a 429 and a 500 for about 20 seconds before it fails"],
  },
  judge: streamJudge(facts),
  progress: streamProgress(facts),
  shown: streamShown(facts),
  quotaSign,
};

function argv({ tier, model, policyFile, extraArgs }: AttemptSpec): string[] {
  return [
    ...["-p", "--no-session", "--no-extensions", ...(policyFile === null ? [] : ["-e", policyFile])],
    ...["--tools", tools[tier]],
    ...(model === null ? [] : ["--model", model]),
    ...extraArgs,
  ];
}
