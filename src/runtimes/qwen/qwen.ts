// Qwen Code as a runtime: command line, variables of its vendor, and the meaning of its events.

import type { Tier } from "../../agents/tiers.ts";
import { escapedAtSigns } from "../at-signs.ts";
import { messageParts, saidByModel, saidByTool } from "../claude/messages.ts";
import {
  countOf,
  type EventTable,
  member,
  streamJudge,
  streamProgress,
  streamShown,
  wordsOf,
} from "../event-stream.ts";
import { quotaSign } from "../quota.ts";
import type { AttemptSpec, Runtime } from "../runtime.ts";

/** Subagents are denied with them: they would bring tools that the tier denies. */
const writing = ["write_file", "edit"];
const commands = ["run_shell_command", "monitor"];
const denied: Readonly<Record<Tier, readonly string[]>> = {
  "read-only": [...writing, ...commands, "agent"],
  "read-shell": [...writing, "agent"],
  "read-write": [...commands, "agent"],
  full: [],
};

const events: EventTable = {
  system: () => [],
  assistant: (event) => messageParts(event).flatMap(saidByModel),
  user: (event) => messageParts(event).flatMap(saidByTool),
  result: (event) => {
    const text = wordsOf(event.result);
    const error = wordsOf(member(event, "error", "message")) || (failedCall.exec(text)?.[1] ?? "");
    const isGood = event.subtype === "success" && event.is_error !== true && error === "";
    return [
      { kind: "usage", usage: [usageIn(event)] },
      ...(isGood ? [] : [{ kind: "problem" as const, message: error || text || wordsOf(event.subtype) }]),
      { kind: "end", isGood, ...(isGood ? { text } : {}) },
    ];
  },
};

/** A call of the model that failed ends as a success with this answer. */
const failedCall = /^\[API Error: ([\s\S]*)\]$/;

/** Input includes cached tokens, output includes thoughts. */
function usageIn(event: Record<string, unknown>) {
  const count = (name: string) => countOf(member(event, "usage", name));
  const [input, cached] = [count("input_tokens"), count("cache_read_input_tokens")];
  return { model: null, input, cached, output: count("output_tokens"), thoughts: 0 };
}

const facts = {
  label: "Qwen Code",
  events,
  signIn: "Start `qwen` once in a terminal and use /auth, or pass the key of its provider with --pass-env.",
  meanings: [
    { sign: /max(?:imum)? session turns/i, reason: "turn_limit", what: "The agent used up its turns" },
    {
      sign: /No auth type is selected/,
      reason: "auth",
      what: "Qwen Code is not signed in",
      advice: "Start `qwen` once in a terminal and use /auth.",
    },
  ],
};

export const qwenRuntime: Runtime = {
  name: "qwen",
  program: "qwen",
  callsModel: true,
  login: ".qwen/oauth_creds.json",
  home: [{ path: ".qwen", reads: ["agents", "commands", "extensions", "skills"] }],
  install: "npm install -g @qwen-code/qwen-code",
  unattended: "--approval-mode yolo",
  argv,
  payload: escapedAtSigns,
  environment: {},
  vendor: /^(?:QWEN_|DASHSCOPE_|BAILIAN_)/,
  envFiles: [".qwen/.env", ".env"],
  pinned: [],
  distrust: {},
  capabilities: {
    tiers: ["read-only", "read-shell", "read-write", "full"],
    heldBy: "--exclude-tools; servers are not loaded",
    turnLimit: "--max-session-turns",
    budget: null,
    streams: "messages and calls",
    tokens: "at the end, without the model's name",
    atOnce: 4,
    limits: [
      "reports an exhausted quota late: it retries a 429 for more than two minutes and prints nothing",
      "exits with 0 when the provider rejects the request",
      "loads the hooks of the project's .qwen/settings.json",
    ],
  },
  judge: streamJudge(facts),
  progress: streamProgress(facts),
  shown: streamShown(facts),
  quotaSign,
};

function argv({ tier, model, extraArgs }: AttemptSpec): string[] {
  const tools = denied[tier];
  return [
    ...["--approval-mode", "yolo", "--output-format", "stream-json"],
    // A name that no server has: none is started.
    ...["--allowed-mcp-server-names", "none"],
    ...(model === null ? [] : ["-m", model]),
    ...(tools.length === 0 ? [] : ["--exclude-tools", tools.join(",")]),
    ...extraArgs,
  ];
}
