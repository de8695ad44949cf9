// GitHub Copilot CLI as a runtime: command line, variables of its vendor, and the meaning of its events.

import type { Tier } from "../../agents/tiers.ts";
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

const denied: Readonly<Record<Tier, readonly string[]>> = {
  "read-only": ["write", "shell"],
  "read-shell": ["write"],
  "read-write": ["shell"],
  full: [],
};

const events: EventTable = {
  "user.message": () => [],
  "assistant.turn_start": () => [],
  "assistant.message": ({ data }) => [{ kind: "text", text: wordsOf(member(data, "content")) }],
  "tool.execution_start": ({ data }) => [
    { kind: "call", tool: wordsOf(member(data, "toolName")), input: member(data, "arguments") },
  ],
  "tool.execution_complete": ({ data }) =>
    member(data, "success") === false ? [{ kind: "failed", message: wordsOf(member(data, "error", "message")) }] : [],
  "session.error": ({ data }) => {
    const status = countOf(member(data, "statusCode"));
    const message = wordsOf(member(data, "message"));
    return [{ kind: "problem", message: status === 0 ? message : `${message} (${status})` }];
  },
  result: ({ exitCode }) => [{ kind: "end", isGood: exitCode === 0 }],
};

const facts = {
  label: "Copilot CLI",
  events,
  signIn: "Run `copilot login` once in a terminal, or set COPILOT_GITHUB_TOKEN.",
  meanings: [{ sign: /^No response was returned/, reason: "empty_response", what: "The model gave an empty response" }],
};

export const copilotRuntime: Runtime = {
  name: "copilot",
  program: "copilot",
  callsModel: true,
  credentials: ["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
  home: [{ path: ".copilot", variable: "COPILOT_HOME", reads: ["agents", "pkg", "skills"] }],
  install: "npm install -g @github/copilot",
  unattended: "--allow-all-tools",
  argv,
  payload: (prompt) => prompt,
  environment: {},
  // GITHUB_TOKEN and GH_TOKEN open much more than its model.
  vendor: /^COPILOT_/,
  envFiles: [],
  pinned: [],
  distrust: {},
  capabilities: {
    tiers: ["read-only", "read-shell", "read-write", "full"],
    heldBy: "--deny-tool; its own servers and the project's settings are not loaded",
    turnLimit: null,
    budget: "--max-ai-credits",
    streams: "messages and calls",
    tokens: "none",
    atOnce: 6,
    limits: [
      "does not report its tokens",
      "loads the servers of the user's mcp-config.json in every tier",
      "replaces the value of its key wherever it would print it",
    ],
  },
  judge: streamJudge(facts),
  progress: streamProgress(facts),
  shown: streamShown(facts),
  quotaSign,
};

function argv({ tier, model, extraArgs }: AttemptSpec): string[] {
  return [
    ...["--output-format", "json", "--allow-all-tools", "--allow-all-paths", "--no-auto-update", "--no-ask-user"],
    // The answers of its own subagents would look like those of the agent.
    ...["--disable-builtin-mcps", "--no-remote", "--excluded-tools=task"],
    ...denied[tier].map((tool) => `--deny-tool=${tool}`),
    ...(model === null ? [] : ["--model", model]),
    ...extraArgs,
  ];
}
