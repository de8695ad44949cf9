import { describe, expect, test } from "vitest";
import type { Ending, Outcome } from "../runtime.ts";
import { judgeGemini } from "./outcome.ts";

/** What Gemini CLI 0.61 writes to stderr in every run. */
const chatter = `Warning: 256-color support not detected. Using a terminal with at least 256-color support is recommended for a better visual experience.
YOLO mode is enabled. All tool calls will be automatically approved.
YOLO mode is enabled. All tool calls will be automatically approved.
Ripgrep is not available. Falling back to GrepTool.
`;
const stack = (
  error: string,
  fields: string,
) => `Error when talking to Gemini API Full report available at: /tmp/x.json ${error}
    at classifyGoogleError (file:///x/chunk-JDPZ4CE3.js:307333:14)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {
  ${fields}
}
`;
const errorJson = (code: number | string, message: string, type = "Error") =>
  `${JSON.stringify({ session_id: "b8507a54", error: { type, message, code } }, null, 2)}\n`;

const stats = {
  models: {
    "gemini-2.5-flash": {
      api: { totalRequests: 2, totalErrors: 0, totalLatencyMs: 900, errorsByType: {} },
      tokens: { input: 60, prompt: 100, candidates: 20, total: 127, cached: 40, thoughts: 7, tool: 0 },
    },
    "gemini-2.5-pro": { tokens: { input: 5, prompt: 7, candidates: 3, total: 10, cached: 2, thoughts: 0, tool: 0 } },
  },
  tools: { totalCalls: 1 },
};
const usage = [
  { model: "gemini-2.5-flash", input: 100, output: 20, cached: 40, thoughts: 7 },
  { model: "gemini-2.5-pro", input: 7, output: 3, cached: 2, thoughts: 0 },
];
const answer = (response: string, more: object = {}) =>
  JSON.stringify({ session_id: "s", response, stats, ...more }, null, 2);

const ended = (ending: Partial<Ending>): Outcome =>
  judgeGemini({ exitCode: 0, killed: null, stdout: "", stderr: chatter, ...ending });

describe("success", () => {
  test("is exit 0 and a response, whatever is on stderr; tokens are reported by model (G82, G83, H109)", () => {
    const outcome = ended({ stdout: answer("## Task Report"), stderr: `${chatter}${errorJson(429, "earlier")}` });
    expect(outcome).toEqual({ kind: "success", text: "## Task Report", usage });
  });

  test("does not need statistics: unknown tokens are null", () => {
    expect(ended({ stdout: '{"response":"done"}' })).toEqual({ kind: "success", text: "done", usage: null });
  });

  test("is found between log lines, without control characters (T7)", () => {
    const outcome = ended({ stdout: `loading\r\n${answer("do\u001b[31mne\u0007")}\nbye` });
    expect(outcome).toMatchObject({ kind: "success", text: "done" });
  });
});

describe("exit 0 without an answer is a failure", () => {
  test.each([
    ["", "no_result", /terminated from outside/],
    ["  \n", "no_result", /terminated from outside/],
    ["All done, boss.", "not_json", /something other than its JSON: All done, boss\./],
    [answer("x").slice(0, 60), "truncated_json", /is truncated/],
    ['{"session_id":"s"}', "no_response", /no response/],
    ['{"response":null}', "no_response", /no response/],
    [answer(""), "empty_response", /empty response/],
    [answer(" \n"), "empty_response", /empty response/],
    [answer("\u001b[31m\u0007"), "empty_response", /empty response/],
    [answer("", { warnings: ["Agent execution blocked: not now"] }), "empty_response", /blocked: not now/],
    [
      answer("", {
        error: { type: "INVALID_STREAM", message: "The model response was blocked due to safety settings." },
      }),
      "empty_response",
      /blocked due to safety/,
    ],
    [
      answer("half", { error: { type: "INVALID_STREAM", message: "The response exceeded the token limit." } }),
      "incomplete_response",
      /exceeded the token limit/,
    ],
  ])("%j: %s", (stdout, reason, message) => {
    const outcome = ended({ stdout });
    expect(outcome).toMatchObject({ kind: "failure", reason, errorType: "runtime" });
    expect(outcome.message).toMatch(message);
  });

  test("and still reports its cost", () => {
    expect(ended({ stdout: answer("") }).usage).toEqual(usage);
  });
});

describe("an answer next to a failure", () => {
  test("does not outweigh a failing exit code, but is kept", () => {
    expect(ended({ exitCode: 1, stdout: answer("done") })).toMatchObject({ kind: "failure", text: "done", usage });
  });

  test("has its tokens counted from an error document too", () => {
    const stderr = JSON.stringify(
      { session_id: "s", error: { type: "Error", message: "x", code: 53 }, stats },
      null,
      2,
    );
    expect(ended({ exitCode: 53, stderr }).usage).toEqual(usage);
  });
});

describe("quota is not a failure (F17)", () => {
  test.each<[string, number, string, number | undefined]>([
    [
      "a plain 429",
      173,
      stack("RetryableQuotaError: x", "retryDelayMs: undefined,\n  status: 429") +
        errorJson(429, "Resource has been exhausted (e.g. check quota)."),
      undefined,
    ],
    [
      "429 with a suggested wait",
      173,
      errorJson(429, "You exceeded your current quota. Please retry in 12.5s.\nSuggested retry after 12s."),
      12_000,
    ],
    ["429 with a message", 173, errorJson(429, "Quota exceeded. Please retry in 3.2s."), 3_200],
    [
      "429 with RetryInfo inside",
      173,
      errorJson(429, JSON.stringify({ error: { code: 429, message: "no", details: [{ retryDelay: "12.5s" }] } })),
      12_500,
    ],
    [
      "429 with the wait only in the stack",
      173,
      stack("TerminalQuotaError: Quota", "retryDelayMs: 3600000") + errorJson(429, "Quota"),
      3_600_000,
    ],
    ["429 with a header in the log", 173, `retry-after: 7\n${errorJson(429, "Too Many Requests")}`, 7_000],
    ["173 alone", 173, "", undefined],
    ["a code as a string", 1, errorJson("429", "no"), undefined],
    ["a name without a code", 1, errorJson(1, "RESOURCE_EXHAUSTED: try later"), undefined],
    [
      "nested twice",
      1,
      errorJson(
        1,
        JSON.stringify({ error: { message: JSON.stringify({ error: { code: 429, message: "slow down" } }) } }),
      ),
      undefined,
    ],
    [
      "an exit before the JSON was printed",
      1,
      "Attempt 7 failed with status 429. Retrying with backoff... _ApiError\n",
      undefined,
    ],
  ])("%s (%i)", (_, exitCode, stderr, retryAfterMs) => {
    const outcome = ended({ exitCode, stderr: chatter + stderr });
    expect(outcome).toMatchObject({ kind: "quota", reason: "quota", errorType: "quota" });
    expect(outcome.retryAfterMs).toBe(retryAfterMs);
  });

  test.each([
    [
      "an earlier 429 that a retry overcame",
      53,
      `${stack("x", "status: 429")}${errorJson(53, "Reached max session turns.")}`,
    ],
    ["a file name", 1, errorJson(1, "cannot read quota.ts, line 429")],
    ["a killed process that had been waiting", 137, "Attempt 1 failed with status 429\n"],
  ])("%s is not a quota problem", (_, exitCode, stderr) => {
    expect(ended({ exitCode, stderr }).kind).toBe("failure");
  });
});

describe("an attempt that Maestro stopped", () => {
  test.each<[Ending["killed"], number | null, object]>([
    ["timeout", 143, { kind: "timeout", reason: "timeout", errorType: "timeout" }],
    ["timeout", 0, { kind: "timeout", reason: "timeout", errorType: "timeout" }],
    ["timeout", null, { kind: "timeout", reason: "timeout", errorType: "timeout" }],
    ["output_too_large", 0, { kind: "failure", reason: "output_too_large", errorType: "runtime" }],
    ["over_budget", 143, { kind: "failure", reason: "over_budget", errorType: "runtime" }],
    ["stopped", 0, { kind: "interrupted", reason: "stopped" }],
    ["stopped", 137, { kind: "interrupted", reason: "stopped" }],
    [null, null, { kind: "interrupted", reason: "no_exit_code" }],
  ])(
    "%s with exit code %s is not a success, though the answer is complete (G89, G90, F14)",
    (killed, exitCode, expected) => {
      const outcome = ended({ killed, exitCode, stdout: answer("done") });
      expect(outcome).toMatchObject({ ...expected, text: "done", usage });
      expect(outcome.message).toMatch(/\.$/);
    },
  );

  test("a time limit reached while the provider rejects requests counts as quota, not as a failure (F17)", () => {
    const stderr = `${chatter}Attempt 9 failed with status 429. Retrying with backoff...\n`;
    expect(ended({ killed: "timeout", exitCode: 143, stderr })).toMatchObject({
      kind: "quota",
      reason: "quota",
    });
  });
});

describe("the message", () => {
  test("has at most 2,000 characters and keeps the advice", () => {
    const { message = "" } = ended({ exitCode: 41, stderr: errorJson(41, "\u001b[31mno ".repeat(5_000)) });
    expect(message.length).toBeLessThanOrEqual(2_000);
    expect(message).toMatch(/^Gemini CLI could not sign in \(exit code 41\): no no .*GEMINI_API_KEY\.$/s);
  });

  test("shows the last lines of stderr when nothing better is known", () => {
    const stderr = `${chatter}${Array.from({ length: 500 }, (_, i) => `line ${i}`).join("\n")}\n    at stack (x.js:1)\n`;
    const { message = "" } = ended({ exitCode: 1, stderr });
    expect(message).toMatch(/\nline 498\nline 499\.$/);
    expect(message.length).toBeLessThanOrEqual(2_000);
  });
});
