// OpenCode as a runtime: command line, variables of its vendor, and the meaning of its events.

import type { Tier } from "../../agents/tiers.ts";
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

const reading = ["read", "glob", "grep", "list", "lsp", "webfetch", "websearch", "codesearch", "todowrite", "skill"];
/** These are about how a tool is used. */
const ways = ["external_directory", "doom_loop"];
/** An allow list: subagents and the tools of the user's servers would bring what the tier denies. Null: every tool. */
const tools: Readonly<Record<Tier, readonly string[] | null>> = {
  "read-only": reading,
  "read-shell": [...reading, "bash"],
  "read-write": [...reading, "edit"],
  full: null,
};

/** The last rule that fits counts. */
function permissionOf(allowed: readonly string[]): string {
  return JSON.stringify(Object.fromEntries([["*", "deny"], ...[...allowed, ...ways].map((tool) => [tool, "allow"])]));
}

const events: EventTable = {
  step_start: () => [],
  text: ({ part }) => [{ kind: "text", text: `${wordsOf(member(part, "text"))}\n` }],
  tool_use: ({ part }) => calledIn(part),
  step_finish: ({ part }) => {
    const reason = wordsOf(member(part, "reason"));
    const spent: Said = { kind: "spent", usage: [usageIn(part)] };
    if (reason === "stop") return [spent, { kind: "end", isGood: true }];
    if (!isCut.test(reason)) return [spent];
    return [spent, { kind: "problem", message: `the answer ended with ${reason}` }, { kind: "end", isGood: false }];
  },
  error: ({ error }) => [
    { kind: "problem", message: errorText(error) },
    { kind: "end", isGood: false },
  ],
};

const isCut = /^(?:length|content-filter|error)$/;

/** A tool that the tier denies does not exist for the model: its calls arrive as those of a tool "invalid". */
function calledIn(part: unknown): Said[] {
  const input = member(part, "state", "input");
  const tool = wordsOf(member(part, "tool"));
  const problem = tool === "invalid" ? wordsOf(member(input, "error")) : wordsOf(member(part, "state", "error"));
  const call: Said = { kind: "call", tool: tool === "invalid" ? wordsOf(member(input, "tool")) : tool, input };
  return problem === "" ? [call] : [call, { kind: "failed", message: problem }];
}

function errorText(error: unknown): string {
  const status = countOf(member(error, "data", "statusCode"));
  const message = wordsOf(member(error, "data", "message")) || wordsOf(member(error, "name"));
  return status === 0 ? message : `${status} ${message}`;
}

/** For each step. Input leaves out what was cached, output leaves out thoughts. */
function usageIn(part: unknown) {
  const count = (...path: string[]) => countOf(member(part, "tokens", ...path));
  const cached = count("cache", "read");
  const input = count("input") + count("cache", "write") + cached;
  return { model: null, input, cached, output: count("output"), thoughts: count("reasoning") };
}

const facts = {
  label: "OpenCode",
  events,
  signIn: "Run `opencode auth login` once in a terminal, or pass the key of its provider with --pass-env.",
};

export const opencodeRuntime: Runtime = {
  name: "opencode",
  program: "opencode",
  callsModel: true,
  login: ".local/share/opencode/auth.json",
  home: [
    { path: ".config/opencode", reads: ["agent", "agents", "command", "commands", "node_modules", "skills"] },
    ...[{ path: ".local/share/opencode" }, { path: ".local/state/opencode" }],
  ],
  install: "npm install -g opencode-ai",
  unattended: "--auto",
  argv,
  payload: (prompt) => prompt,
  // A project's settings may start programs, and its servers add tools that no tier lists.
  environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_PROJECT_CONFIG: "1" },
  tierEnvironment: (tier) => {
    const allowed = tools[tier];
    return allowed === null ? {} : { OPENCODE_PERMISSION: permissionOf(allowed) };
  },
  vendor: /^OPENCODE_/,
  envFiles: [],
  pinned: [],
  distrust: {},
  capabilities: {
    tiers: ["read-only", "read-shell", "read-write", "full"],
    heldBy: "OPENCODE_PERMISSION; project settings and plugins are not loaded",
    turnLimit: null,
    budget: null,
    streams: "messages and calls",
    tokens: "while it runs and at the end, without the model's name",
    atOnce: 4,
    limits: [
      "starts the servers of the user's opencode.json in every tier; only full has their tools",
      "retries a 500 for more than a minute and prints nothing",
      "retries forever when the provider sends garbage, until the time limit stops it",
      "fails when two processes start at the same time in a new home",
    ],
  },
  judge: streamJudge(facts),
  progress: streamProgress(facts),
  shown: streamShown(facts),
  quotaSign,
};

function argv({ agent, model, extraArgs }: AttemptSpec): string[] {
  return [
    // With a title from Maestro it does not pay a model for one.
    ...["run", "--format", "json", "--auto", "--pure", "--title", `maestro ${agent}`],
    ...(model === null ? [] : ["-m", model]),
    ...extraArgs,
  ];
}
