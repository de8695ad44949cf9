// Codex CLI as a runtime: command line, variables of its vendor, and the meaning of its events.

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

const READ_ONLY = ["-s", "read-only"];
const modes: Readonly<Record<Tier, readonly string[]>> = {
  "read-only": READ_ONLY,
  "read-shell": READ_ONLY,
  "read-write": ["-s", "workspace-write"],
  full: ["--dangerously-bypass-approvals-and-sandbox"],
};

const events: EventTable = {
  "thread.started": () => [],
  "turn.started": () => [],
  "item.started": ({ item }) => (isObject(item) ? calledIn(item) : []),
  "item.updated": () => [],
  "item.completed": ({ item }) => (isObject(item) ? doneIn(item) : []),
  "turn.completed": (event) => [usageIn(event), { kind: "end", isGood: true }],
  "turn.failed": ({ error }) => [
    { kind: "problem", message: wordsOf(member(error, "message")) },
    { kind: "end", isGood: false },
  ],
  error: ({ message }) => [{ kind: "problem", message: wordsOf(message) }],
};

function calledIn(item: Record<string, unknown>): Said[] {
  if (item.type === "command_execution") return [{ kind: "call", tool: "shell", input: item.command }];
  if (item.type === "mcp_tool_call") return [{ kind: "call", tool: wordsOf(item.tool), input: item.arguments }];
  return item.type === "web_search" ? [{ kind: "call", tool: "search", input: item.query }] : [];
}

function doneIn(item: Record<string, unknown>): Said[] {
  if (item.type === "agent_message") return [{ kind: "text", text: `${wordsOf(item.text)}\n` }];
  if (item.type === "file_change") return [{ kind: "call", tool: "write", input: firstPath(item.changes) }];
  const isFailed = item.type === "command_execution" && item.status === "failed";
  return isFailed ? [{ kind: "failed", message: wordsOf(item.aggregated_output) }] : [];
}

function firstPath(changes: unknown): string {
  return Array.isArray(changes) ? wordsOf(member(changes[0], "path")) : "";
}

/** Input includes cached tokens. The counts are those of the whole thread, and each attempt has a thread of its own. */
function usageIn(event: Record<string, unknown>): Said {
  const count = (name: string) => countOf(member(event, "usage", name));
  const thoughts = Math.min(count("reasoning_output_tokens"), count("output_tokens"));
  const output = count("output_tokens") - thoughts;
  const usage = { model: null, input: count("input_tokens"), cached: count("cached_input_tokens"), output, thoughts };
  return { kind: "usage", usage: [usage] };
}

const facts = {
  label: "Codex",
  events,
  signIn: "Run `codex login` once in a terminal, or set CODEX_API_KEY.",
  // What it makes of a 500.
  meanings: [
    {
      sign: /experiencing high demand/,
      reason: "server_error",
      what: "The provider failed",
      advice: "Try again later.",
    },
  ],
};

export const codexRuntime: Runtime = {
  name: "codex",
  program: "codex",
  callsModel: true,
  credentials: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  login: ".codex/auth.json",
  home: [{ path: ".codex", variable: "CODEX_HOME", reads: ["prompts", "rules", "skills"] }],
  install: "npm install -g @openai/codex",
  unattended: "--dangerously-bypass-approvals-and-sandbox",
  argv,
  payload: (prompt) => prompt,
  environment: {},
  vendor: /^(?:OPENAI_|CODEX_)/,
  envFiles: [],
  pinned: [],
  distrust: {},
  capabilities: {
    tiers: ["read-only", "read-shell", "full"],
    heldBy: "its own sandbox (-s read-only): commands run and change nothing",
    turnLimit: null,
    budget: null,
    streams: "messages and calls",
    tokens: "at the end, without the model's name",
    atOnce: null,
    limits: [
      "cannot write without a shell, so read-write is not enforced",
      "starts the servers of the user's config.toml in every tier, outside of its sandbox",
      "its sandbox fails when CODEX_HOME is below the directory for temporary files",
    ],
  },
  judge: streamJudge(facts),
  progress: streamProgress(facts),
  shown: streamShown(facts),
  quotaSign,
};

function argv({ tier, model, extraArgs }: AttemptSpec): string[] {
  return [
    // Without its plugins it leaves no background process behind.
    ...["exec", "--json", "--skip-git-repo-check", "--disable", "plugins", ...modes[tier]],
    ...(model === null ? [] : ["-m", model]),
    ...extraArgs,
    "-",
  ];
}
