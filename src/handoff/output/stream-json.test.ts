import { describe, expect, test } from "vitest";
import { checkHandoff } from "../handoff.ts";

const report = `## Task Report
- Status: success
- Files Created: src/a.ts
- Files Modified: none
- Files Deleted: none

## Downstream Context
- Warnings: none
`;
type Event = Record<string, unknown>;
const jsonl = (...events: (Event | string)[]) =>
  events.map((event) => `${typeof event === "string" ? event : JSON.stringify(event)}\n`).join("");

const init = { type: "init", timestamp: "t", session_id: "s", model: "m" };
const prompt = { type: "message", role: "user", content: report.replace("success", "failure") };
const say = (content: string, delta = true): Event => ({
  type: "message",
  role: "assistant",
  content,
  ...(delta ? { delta } : {}),
});
const chunks = (text: string) => Array.from(text.match(/.{1,7}/gs) ?? [], (piece) => say(piece));
const toolUse = { type: "tool_use", tool_name: "write_file", tool_id: "1", parameters: { file_path: "src/a.ts" } };
const toolResult = {
  type: "tool_result",
  tool_id: "1",
  status: "success",
  output: "## Task Report\n- Status: failure",
};
const stats = {
  total_tokens: 130,
  input_tokens: 100,
  output_tokens: 20,
  cached: 40,
  input: 60,
  duration_ms: 5,
  tool_calls: 1,
};
const result = { type: "result", timestamp: "t", status: "success", stats };

describe("joins the answer from its events (H109)", () => {
  test.each([
    ["one message", jsonl(init, prompt, say(report, false), result)],
    ["many chunks", jsonl(init, prompt, ...chunks(report), result)],
    [
      "chunks with noise between them",
      jsonl(init, "[WARN] {x}", ...chunks(report).flatMap((event) => [event, "noise {", "{}"]), result),
    ],
    ["text, a tool, a report", jsonl(init, say("I will write it."), toolUse, toolResult, ...chunks(report), result)],
    [
      "a second answer after a rejected one",
      jsonl(init, say("Done"), { type: "error", severity: "warning", message: "blocked" }, say(report), result),
    ],
    ["two messages", jsonl(init, say("Done", false), say(report, false), result)],
    ["role model", jsonl(init, { type: "message", role: "model", content: report }, result)],
    ["CRLF and a byte order mark", `\uFEFF${jsonl(init, ...chunks(report), result).replaceAll("\n", "\r\n")}`],
    ["a broken line", jsonl(init, '{"type":"message","role":"assistant","content":"x', ...chunks(report), result)],
    ["blank lines", jsonl(init, "", "  ", ...chunks(report), "", result, "")],
    [
      "another key order",
      jsonl({ session_id: "s", type: "init" }, { content: report, role: "assistant", type: "message" }, result),
    ],
    [
      "a warning in between",
      jsonl(init, say(report), { type: "error", severity: "error", message: "quota is low" }, result),
    ],
    ["a second run", jsonl(init, say(report.replace("success", "failure")), result, init, say(report), result)],
    ["another result", jsonl(init, say(report), { ...result, status: "error" }, result)],
  ])("%s", (_, source) => {
    const check = checkHandoff(source, { format: "stream-json" });
    expect(check).toMatchObject({ valid: true, status: "success", files_created: ["src/a.ts"], parse_error: null });
    expect(check.tokens).toEqual({ input: 100, output: 20, cached: 40 });
    expect(checkHandoff(source)).toEqual(check);
  });

  test("messages of the user and of tools are not the agent's report", () => {
    expect(checkHandoff(jsonl(init, prompt, toolUse, toolResult, say("Done."), result))).toMatchObject({
      valid: false,
      has_task_report: false,
      parse_error: null,
    });
  });
});

describe("a stream that failed (F18)", () => {
  test.each([
    ["no result", jsonl(init, say(report)), "no_result_event", "runtime", "success"],
    ["a truncated result", jsonl(init, say(report), '{"type":"result","sta'), "no_result_event", "runtime", "success"],
    [
      "no result after a quota error",
      jsonl(init, say(report), { type: "error", severity: "error", message: "RESOURCE_EXHAUSTED" }),
      "no_result_event",
      "quota",
      "success",
    ],
    ["only a truncated event", '{"type":"init","ses', "no_result_event", "runtime", null],
    [
      "a second run without result",
      jsonl(init, say(report), result, init, say("Hm")),
      "no_result_event",
      "runtime",
      null,
    ],
    [
      "an error result",
      jsonl(init, say(report), { type: "result", status: "error", error: { type: "Error", message: "status: 429" } }),
      null,
      "quota",
      "success",
    ],
    [
      "an error result without reason",
      jsonl(init, say(report), { type: "result", status: "error" }),
      null,
      "runtime",
      "success",
    ],
    [
      "an error result after an error event",
      jsonl(
        init,
        say(report),
        { type: "error", severity: "error", message: "timed out" },
        { type: "result", status: "error" },
      ),
      null,
      "timeout",
      "success",
    ],
    ["no message", jsonl(init, result), "no_response", "runtime", null],
    [
      "no message, and an error",
      jsonl(init, { type: "result", status: "error", error: { type: "FatalAuthenticationError", message: "x" } }),
      "no_response",
      "runtime",
      null,
    ],
    ["an empty message", jsonl(init, say(""), result), "empty_response", "runtime", null],
    [
      "a message that is not text",
      jsonl(init, { type: "message", role: "assistant", content: { a: 1 } }, result),
      "no_response",
      "runtime",
      null,
    ],
  ] as const)("%s", (_, source, parse_error, error_type, status) => {
    const check = checkHandoff(source, { format: "stream-json" });
    expect(check).toMatchObject({ valid: false, parse_error, error_type, status });
    expect(checkHandoff(source)).toEqual(check);
  });

  test.each([
    ["", "empty_output"],
    ["\n \n", "empty_output"],
    ["Error: no such file", "not_json"],
    [report, "not_json"],
    ["null", "no_result_event"],
    ['{"response":"x"}', "no_result_event"],
    ['{"type":"unknown"}', "no_result_event"],
  ] as const)("%j is %s", (source, parse_error) => {
    const check = checkHandoff(source, { format: "stream-json" });
    expect(check).toMatchObject({ valid: false, parse_error, error_type: "runtime", tokens: null });
  });
});
