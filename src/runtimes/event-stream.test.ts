import { describe, expect, test } from "vitest";
import { claudeRuntime } from "./claude/claude.ts";
import { codexRuntime } from "./codex/codex.ts";
import { copilotRuntime } from "./copilot/copilot.ts";
import { noProgress, type Runtime } from "./runtime.ts";

const lines = (...events: object[]) => `${events.map((event) => JSON.stringify(event)).join("\n")}\n`;
const ended = (runtime: Runtime, stdout: string, exitCode: number | null = 0, stderr = "") =>
  runtime.judge({ exitCode, killed: null, stdout, stderr });

const wrote = { type: "tool_use", name: "Write", input: { file_path: "/a/b/c/d/e.ts" } };
const claude = {
  call: { type: "assistant", message: { content: [{ type: "text", text: "I write." }, wrote] } },
  said: { type: "assistant", message: { content: [{ type: "text", text: "Done." }] } },
  good: {
    ...{ type: "result", subtype: "success", is_error: false, result: "Done." },
    modelUsage: {
      main: { inputTokens: 10, cacheReadInputTokens: 5, cacheCreationInputTokens: 2, outputTokens: 3 },
      title: { inputTokens: 1, outputTokens: 1 },
    },
  },
  bad: (result: string) => ({ type: "result", subtype: "success", is_error: true, result }),
};
const codex = {
  call: { type: "item.started", item: { type: "command_execution", command: "npm test" } },
  said: { type: "item.completed", item: { type: "agent_message", text: "Done." } },
  good: { type: "turn.completed", usage: { input_tokens: 17, cached_input_tokens: 5, output_tokens: 3 } },
  bad: (message: string) => ({ type: "turn.failed", error: { message } }),
};

describe("a stream of events is judged the same way for every runtime", () => {
  test.each([
    ["claude", claudeRuntime, lines(claude.call, claude.said, claude.good)],
    ["codex", codexRuntime, lines(codex.call, codex.said, codex.good)],
  ])("%s succeeds with its last message", (_, runtime, stdout) => {
    const { kind, text } = ended(runtime, `a line of noise\n${stdout}`);
    expect([kind, text.trim()]).toEqual(["success", "Done."]);
  });

  test.each(["Added authentication: a wrong key gets 401.", "The tests fail with 429, rate limit exceeded."])(
    "does not take what an agent wrote for an error of its program: %s",
    (content) => {
      const stdout = lines({ type: "assistant.message", data: { content } }, { type: "result", exitCode: 1 });
      const { kind, reason, message } = ended(copilotRuntime, stdout, 1);
      expect({ kind, reason }).toEqual({ kind: "failure", reason: "error" });
      expect(message).toContain(content);
    },
  );

  test("tokens are those that are billed: cached ones are input, and each model counts", () => {
    expect(ended(claudeRuntime, lines(claude.good)).usage).toEqual([
      { model: "main", input: 17, cached: 5, output: 3, thoughts: 0 },
      { model: "title", input: 1, cached: 0, output: 1, thoughts: 0 },
    ]);
    expect(ended(codexRuntime, lines(codex.good)).usage).toEqual([
      { model: null, input: 17, cached: 5, output: 3, thoughts: 0 },
    ]);
  });

  test.each([
    ["quota", "API Error: 429 rate_limit_error, retry after 7s", { kind: "quota", retryAfterMs: 7000 }],
    ["a sign-in", "Invalid API key · Please run /login", { kind: "failure", errorType: "auth", reason: "auth" }],
    ["a provider that fails", "API Error: 500 internal", { kind: "failure", reason: "server_error" }],
    ["anything else", "it broke", { kind: "failure", reason: "error", errorType: "runtime" }],
  ])("tells %s from its error, whatever the exit code", (_, message, expected) => {
    for (const code of [0, 1]) {
      expect(ended(claudeRuntime, lines(claude.bad(message)), code)).toMatchObject(expected);
      expect(ended(codexRuntime, lines(codex.bad(message)), code)).toMatchObject(expected);
    }
  });

  test.each([
    ["no terminal event", lines(claude.said), 0, "no_result"],
    ["nothing", "", 0, "no_result"],
    ["garbage", "x\u0000{]\n{}\n", 0, "not_json"],
    ["a good end and a bad exit code", lines(claude.good), 143, "error"],
    ["an empty answer", lines({ ...claude.good, result: " " }), 0, "empty_response"],
    ["no program", "", 127, "not_found"],
  ])("%s is a failure", (_, stdout, code, reason) => {
    expect(ended(claudeRuntime, stdout, code)).toMatchObject({ kind: "failure", reason });
  });

  test("a kill decides, even after a complete answer", () => {
    const stdout = lines(claude.said, claude.good);
    const ending = { exitCode: 0, stdout, stderr: "" };
    expect(claudeRuntime.judge({ ...ending, killed: "timeout" }).kind).toBe("timeout");
    expect(claudeRuntime.judge({ ...ending, killed: "stopped" }).kind).toBe("interrupted");
  });
});

test("a running agent shows its last tool call or the line that it writes, and its log reads as text", () => {
  const seen = claudeRuntime.progress(noProgress, lines(claude.call));
  expect(seen.activity).toBe("Write …/c/d/e.ts");
  expect(claudeRuntime.progress(seen, lines(claude.said)).activity).toBe("Done.");
  expect(claudeRuntime.shown(lines(claude.call, claude.said), false)?.text).toBe("I write.\n> Write …/c/d/e.ts\nDone.");
  expect(codexRuntime.shown(lines(codex.call), false)?.text).toBe("> shell npm test\n");
  expect(claudeRuntime.shown("plain text\n", false)).toBeNull();
});

test("claude gets the money that an attempt reserved as its own limit, and none without a budget", () => {
  const spec = { agent: "a", tier: "full", model: null, policyFile: null, isStreamed: true, extraArgs: [] } as const;
  const limited = claudeRuntime.argv({ ...spec, maxUsd: 0.25 });
  expect(limited[limited.indexOf("--max-budget-usd") + 1]).toBe("0.25");
  expect(claudeRuntime.argv(spec)).not.toContain("--max-budget-usd");
  const end = { type: "result", subtype: "error_max_budget_usd", is_error: true };
  expect(ended(claudeRuntime, lines(end), 1)).toMatchObject({ kind: "failure", reason: "over_budget" });
});
