// Goose as a runtime: command line, variables of its vendor, and the meaning of its events.

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

const events: EventTable = {
  message: ({ message }) => partsOf(message).flatMap((part) => saidIn(part, member(message, "id") === null)),
  error: ({ error }) => [{ kind: "problem", message: wordsOf(error), isFinal: true }],
  complete: (event) => {
    const count = (name: string) => countOf(event[name]);
    // Input includes cached tokens, which it does not tell; output includes thoughts.
    const counts = {
      model: null,
      input: count("input_tokens"),
      cached: 0,
      output: count("output_tokens"),
      thoughts: 0,
    };
    return [
      ...(event.total_tokens === null ? [] : [{ kind: "usage" as const, usage: [counts] }]),
      { kind: "end", isGood: true },
    ];
  },
};

/** It reports a failed call of the model as an answer of its own, which no call has an id for, and as a complete run. */
const failedCall = /^(?:Ran into this error: ([\s\S]*?)(?:\n\nPlease retry|$)|([\s\S]*?)\n\nPlease resend\b)/;
const usedUp = /^I've reached the maximum number of actions/;

function partsOf(message: unknown): Record<string, unknown>[] {
  const content = member(message, "content");
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function saidIn(part: Record<string, unknown>, isOwn: boolean): Said[] {
  const text = wordsOf(part.text);
  if (part.type === "text") {
    const [, failed, unreached] = failedCall.exec(text) ?? [];
    const problem = failed ?? unreached ?? (usedUp.test(text) ? text : undefined);
    return problem === undefined || !isOwn
      ? [{ kind: "text", text }]
      : [{ kind: "problem", message: problem, isFinal: true }];
  }
  if (part.type === "toolRequest") {
    const call = member(part, "toolCall", "value");
    return [{ kind: "call", tool: wordsOf(member(call, "name")), input: member(call, "arguments") }];
  }
  const isFailed =
    member(part, "toolResult", "value", "isError") === true || member(part, "toolResult", "status") === "error";
  if (part.type !== "toolResponse" || !isFailed) return [];
  const said = partsOf(member(part, "toolResult", "value")).map((one) => wordsOf(one.text));
  return [{ kind: "failed", message: said.join(" ") || wordsOf(member(part, "toolResult", "error")) }];
}

const facts = {
  label: "Goose",
  events,
  signIn: "Run `goose configure` once in a terminal, or pass the key of its provider with --pass-env.",
  meanings: [{ sign: usedUp, reason: "turn_limit", what: "The agent used up its turns" }],
};

export const gooseRuntime: Runtime = {
  name: "goose",
  program: "goose",
  callsModel: true,
  login: ".config/goose/secrets.yaml",
  home: [{ path: ".config/goose" }, { path: ".local/share/goose" }, { path: ".local/state/goose" }],
  install: "npm install -g @aaif/goose",
  unattended: "",
  argv,
  payload: (prompt) => prompt,
  // Otherwise it pays a model for the name of a session, and does not count that; and it asks before it uses a tool.
  environment: { GOOSE_DISABLE_SESSION_NAMING: "true", GOOSE_MODE: "auto", GOOSE_TELEMETRY_ENABLED: "false" },
  vendor: /^GOOSE_/,
  envFiles: [],
  pinned: [],
  distrust: {},
  capabilities: {
    tiers: ["full"],
    heldBy: "nothing: its tools that read files include tools that write and the shell",
    turnLimit: "--max-turns",
    budget: null,
    streams: "messages and calls",
    tokens: "at the end, without the model's name; cached tokens are not reported separately",
    atOnce: null,
    limits: [
      "enforces only the tier full",
      "exits with 0 and reports a complete run after a failure, too; Maestro judges its last message",
      "does not load the user's extensions",
      "fails when two processes start at the same time in a new home",
    ],
  },
  judge: streamJudge(facts),
  progress: streamProgress(facts),
  shown: streamShown(facts),
  quotaSign,
};

function argv({ model, extraArgs }: AttemptSpec): string[] {
  return [
    ...["run", "-q", "--no-session", "--no-profile", "--with-builtin", "developer", "--output-format", "stream-json"],
    ...(model === null ? [] : ["--model", model]),
    ...extraArgs,
    ...["-i", "-"],
  ];
}
