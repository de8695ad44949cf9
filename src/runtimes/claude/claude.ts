// Claude Code as a runtime: command line, variables of its vendor, and the meaning of its events.

import type { Tier } from "../../agents/tiers.ts";
import { OVER_BUDGET } from "../../session/budget/reserve.ts";
import { isObject } from "../../shape.ts";
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
import { messageParts, saidByModel, saidByTool } from "./messages.ts";

const reading = ["Read", "Glob", "Grep", "WebFetch", "WebSearch", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"];
const writing = ["Write", "Edit", "NotebookEdit"];
/** An allow list: subagents, workflows and skills would bring tools that the tier denies, and each version adds others. Null: every tool. */
const tools: Readonly<Record<Tier, readonly string[] | null>> = {
  "read-only": reading,
  "read-shell": [...reading, "Bash"],
  "read-write": [...reading, ...writing],
  full: null,
};

const events: EventTable = {
  system: () => [],
  assistant: (event) => messageParts(event).flatMap(saidByModel),
  user: (event) => messageParts(event).flatMap(saidByTool),
  result: (event) => {
    const isGood = event.subtype === "success" && event.is_error !== true;
    const text = wordsOf(event.result);
    const usage = usageOf(event.modelUsage);
    return [
      ...(usage.length === 0 ? [] : [{ kind: "usage" as const, usage }]),
      ...(isGood ? [] : [{ kind: "problem" as const, message: text || wordsOf(event.subtype) }]),
      { kind: "end", isGood, ...(isGood ? { text } : {}) },
    ];
  },
};

/** `modelUsage` has what the account is billed for, the call for a title included; its input leaves out what was cached. */
function usageOf(byModel: unknown) {
  return Object.entries(isObject(byModel) ? byModel : {}).map(([model, counts]) => {
    const cached = countOf(member(counts, "cacheReadInputTokens"));
    const fresh = countOf(member(counts, "inputTokens")) + countOf(member(counts, "cacheCreationInputTokens"));
    const output = countOf(member(counts, "outputTokens"));
    return { model: model.slice(0, 200), input: fresh + cached, cached, output, thoughts: 0 };
  });
}

const facts = {
  label: "Claude Code",
  events,
  signIn: "Start `claude` once in a terminal and sign in, or set ANTHROPIC_API_KEY.",
  meanings: [
    { sign: /error_max_turns/, reason: "turn_limit", what: "The agent used up its turns" },
    {
      sign: /error_max_budget/,
      reason: OVER_BUDGET,
      what: "The agent used up what was reserved for it from the budget",
    },
    {
      sign: /root\/sudo privileges/,
      reason: "root",
      what: "Claude Code does not run as root without asking for permissions",
      advice:
        "Run Maestro as another user; in a container that confines it, export IS_SANDBOX=1 and pass --pass-env IS_SANDBOX.",
    },
  ],
};

export const claudeRuntime: Runtime = {
  name: "claude",
  program: "claude",
  callsModel: true,
  credentials: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  login: ".claude/.credentials.json",
  home: [
    { path: ".claude", variable: "CLAUDE_CONFIG_DIR", reads: ["agents", "commands", "plugins", "skills"] },
    { path: ".claude.json" },
  ],
  install: "npm install -g @anthropic-ai/claude-code",
  unattended: "--permission-mode bypassPermissions",
  argv,
  payload: (prompt) => prompt,
  environment: { DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  vendor: /^(?:ANTHROPIC_|CLAUDE_CODE_(?!SSE_PORT|ENTRYPOINT)|CLAUDE_CONFIG_DIR$)/,
  envFiles: [],
  pinned: [],
  distrust: {},
  capabilities: {
    tiers: ["read-only", "read-shell", "read-write", "full"],
    heldBy: "--tools; project settings and servers are not loaded",
    turnLimit: "--max-turns",
    budget: "--max-budget-usd",
    streams: "messages and calls",
    tokens: "at the end, per model",
    atOnce: 8,
    limits: ["retries a 429 and a 500 for more than a minute before it fails", "does not start as root"],
  },
  judge: streamJudge(facts),
  progress: streamProgress(facts),
  shown: streamShown(facts),
  quotaSign,
};

function argv({ tier, model, maxUsd, extraArgs }: AttemptSpec): string[] {
  const allowed = tools[tier];
  return [
    ...["-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"],
    // A project's settings may start programs, and its servers add tools that no tier lists.
    ...["--setting-sources", "user", "--strict-mcp-config"],
    ...(model === null ? [] : ["--model", model]),
    ...(maxUsd === undefined ? [] : ["--max-budget-usd", String(maxUsd)]),
    ...(allowed === null ? [] : ["--tools", allowed.join(",")]),
    ...extraArgs,
  ];
}
