import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ending, Outcome } from "../runtime.ts";
import { judgeGemini } from "./outcome.ts";

// The same runs of Gemini CLI 0.61 in both formats: `stream-json` beside the object of `json`, which attempts of older versions left.

const report = "## Task Report\n- Status: success";
const told = { total_tokens: 127, input_tokens: 100, output_tokens: 20, cached: 40, input: 60 };
const nothing = { total_tokens: 0, input_tokens: 0, output_tokens: 0, cached: 0, input: 0 };
const stats = { ...told, duration_ms: 674, tool_calls: 4, models: { "gemini-2.5-flash": told } };
const noStats = { ...nothing, duration_ms: 0, tool_calls: 0, models: { "gemini-2.5-flash": nothing } };
const tokens = { input: 60, prompt: 100, candidates: 20, total: 127, cached: 40, thoughts: 7, tool: 0 };
const jsonStats = { models: { "gemini-2.5-flash": { tokens } } };
const usage = [{ model: "gemini-2.5-flash", input: 100, output: 20, cached: 40, thoughts: 7 }];

const init = { type: "init", session_id: "s", model: "gemini-2.5-flash" };
const prompt = { type: "message", role: "user", content: `Do it. Answer with:\n${report}` };
const say = (content: string) => ({ type: "message", role: "assistant", content, delta: true });
const use = { type: "tool_use", tool_name: "list_directory", tool_id: "1", parameters: { dir_path: "." } };
const used = { type: "tool_result", tool_id: "1", status: "success", output: report };
const error = (message: string, severity = "error") => ({ type: "error", severity, message });
const result = { type: "result", status: "success", stats };
const failed = (message: string, type = "unknown", its: object = noStats) => ({
  type: "result",
  status: "error",
  error: { type, message },
  stats: its,
});
const stream = (...events: object[]) => [init, prompt, ...events].map((event) => `${JSON.stringify(event)}\n`).join("");
const object = (response: string, more: object = {}) =>
  JSON.stringify({ session_id: "s", response, stats: jsonStats, ...more }, null, 2);
const onStderr = (code: number | string, message: string, type = "Error") =>
  `${JSON.stringify({ session_id: "s", error: { type, message, code } }, null, 2)}\n`;
const stack = (name: string, status: number, more = "") =>
  `Error when talking to Gemini API Full report available at: /tmp/x.json ${name}\n    at x (file:///x.js:1:2) {\n${more}  status: ${status}\n}\n`;

const judged = (ending: Partial<Ending>): Outcome =>
  judgeGemini({ exitCode: 0, killed: null, stdout: "", stderr: "", ...ending });

const invalid = "The response exceeded the token limit.";
const quota = "You exceeded your quota\nSuggested retry after 3600s.";
const advice = "Please wait and try again later. To increase your limits, switch to another /auth method";
const nested = (code: number) => JSON.stringify({ error: { code, message: "API key not valid", status: "X" } });

describe("a stream is judged as the object of the same run (C57, G82, G83, H109)", () => {
  test.each<[string, Partial<Ending>, Partial<Ending>, string]>([
    [
      "an answer",
      { stdout: stream(say("## Task "), say(report.slice(8)), result) },
      { stdout: object(report) },
      "success",
    ],
    [
      "an answer after tools, without the text before them",
      { stdout: stream(say("I look."), use, used, say("Now."), use, used, say(report), result) },
      { stdout: object(report) },
      "success",
    ],
    [
      "no text after the last tool: the turns are used up",
      { stdout: stream(say(report), use, used, error("Maximum session turns exceeded"), result) },
      { stdout: object("", { warnings: ["Maximum session turns exceeded"] }) },
      "empty_response",
    ],
    [
      "an empty response",
      { stdout: stream(error(invalid), { type: "result", status: "error", stats }) },
      { stdout: object("", { error: { type: "INVALID_STREAM", message: invalid } }) },
      "empty_response",
    ],
    [
      "half a response",
      { stdout: stream(say("half"), error(invalid), { type: "result", status: "error", stats }) },
      { stdout: object("half", { error: { type: "INVALID_STREAM", message: invalid } }) },
      "incomplete_response",
    ],
    [
      "an agent that a hook blocked",
      { stdout: stream(error("Agent execution blocked: not now", "warning"), result) },
      { stdout: object("", { warnings: ["Agent execution blocked: not now"] }) },
      "empty_response",
    ],
    [
      "an agent that a hook stopped at a tool",
      { stdout: stream(say("half"), use, { ...used, error: { type: "stop_execution", message: "no" } }, result) },
      { stdout: object("half") },
      "success",
    ],
    ["an end by a signal", { stdout: stream() }, { stdout: "" }, "no_result"],
    [
      "a quota",
      { exitCode: 173, stdout: stream(failed(`[API Error: ${quota}]\n${advice}`)), stderr: stack("x", 429) },
      { exitCode: 173, stderr: stack("x", 429) + onStderr(429, quota) },
      "quota",
    ],
    [
      "an invalid key",
      { exitCode: 144, stdout: stream(failed(`[API Error: ${nested(400)}]`)), stderr: stack("x", 400) },
      { exitCode: 144, stderr: stack("x", 400) + onStderr(400, nested(400)) },
      "auth",
    ],
    [
      "a model that the provider does not know",
      { exitCode: 148, stdout: stream(failed("[API Error: no such model]")), stderr: stack("x", 404) },
      { exitCode: 148, stderr: stack("x", 404) + onStderr(404, "no such model") },
      "model_not_found",
    ],
    [
      "a failed sign-in",
      { exitCode: 41, stdout: stream(failed("No key", "FatalAuthenticationError")) },
      { exitCode: 41, stderr: onStderr(41, "No key", "FatalAuthenticationError") },
      "auth",
    ],
    [
      "a turn limit",
      { exitCode: 53, stdout: stream(failed("Reached max session turns.", "FatalTurnLimitedError")) },
      { exitCode: 53, stderr: onStderr(53, "Reached max session turns.", "FatalTurnLimitedError") },
      "turn_limit",
    ],
    [
      "a tool that fails for good",
      { exitCode: 54, stdout: stream(failed("Error executing tool write_file: disk full", "no_space_left")) },
      { exitCode: 54, stderr: onStderr("no_space_left", "Error executing tool write_file: disk full") },
      "tool_failed",
    ],
  ])("%s", (_, streamed, printed, reason) => {
    const outcome = judged(streamed);
    expect(outcome).toEqual(judged(printed));
    expect(outcome.reason ?? outcome.kind).toBe(reason);
  });

  test("of an attempt that failed in the middle, the tokens are known", () => {
    const outcome = judged({ exitCode: 173, stdout: stream(say("I start."), use, used, failed("quota", "x", stats)) });
    expect(outcome).toMatchObject({ kind: "quota", usage });
  });

  test.each<Ending["killed"]>(["timeout", "stopped", "output_too_large"])(
    "%s is not a success, though the stream is complete; what was said is kept (G89, G90, F14)",
    (killed) => {
      const outcome = judged({ killed, stdout: stream(say(report), result) });
      expect(outcome).toEqual(judged({ killed, stdout: object(report) }));
      expect(outcome).toMatchObject({ text: report, usage });
      expect(judged({ killed, stdout: stream(say("I begin")) })).toMatchObject({ text: "I begin", usage: null });
    },
  );

  test("without its result is never a success, wherever it was cut, and the prompt is never the answer", () => {
    const whole = stream(say("I look."), use, used, say(report), result).trimEnd();
    for (let length = 0; length < whole.length; length++) {
      const outcome = judged({ stdout: whole.slice(0, length) });
      expect([outcome.kind, outcome.text.includes("Do it.")]).toEqual(["failure", false]);
    }
    expect(judged({ stdout: whole })).toMatchObject({ kind: "success", text: report });
  });

  test("is found behind megabytes of noise, and between lines of it", () => {
    const noise = `${"x".repeat(2_000_000)}\n`;
    expect(judged({ stdout: noise + stream(say(report), result) })).toMatchObject({ kind: "success", text: report });
    const noisy = stream(say(report), result).replaceAll("\n", '\nYOLO {"type":\n{"type":"tool_use"\n');
    expect(judged({ stdout: noisy })).toMatchObject({ kind: "success", text: report });
  });

  test("judging a mixture of events never throws, and success always has an answer and a result (F15)", () => {
    const pieces = [init, prompt, say("a"), say(""), use, used, error("no"), result, failed("[API Error: {", "x")];
    const part = fc.oneof(
      fc.constantFrom(...pieces.map((event) => `${JSON.stringify(event)}\n`)),
      fc.constantFrom('{"type":"result"\n', '{"type":"message","role":"assistant"}\n', "{", object("done"), "\n"),
      fc.string({ unit: "binary", maxLength: 8 }),
    );
    const exits = fc.constantFrom(0, 0, 0, 1, 53, 173, null);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 10 }), exits, (parts, exitCode) => {
        const stdout = parts.join("");
        const outcome = judged({ stdout, exitCode });
        const hasResult = /"type":"result"|"response"/.test(stdout);
        if (outcome.kind === "success")
          expect([outcome.text.trim() !== "", exitCode, hasResult]).toEqual([true, 0, true]);
        else expect(outcome.message?.length).toBeGreaterThan(10);
      }),
      { numRuns: 1_000 },
    );
  });
});
