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
const stats = {
  models: {
    "gemini-2.5-flash": {
      api: { totalRequests: 2, totalErrors: 0, totalLatencyMs: 900, errorsByType: {} },
      tokens: { input: 60, prompt: 100, candidates: 20, total: 130, cached: 40, thoughts: 10, tool: 0 },
      roles: { main: { totalRequests: 2, tokens: { input: 60, prompt: 100, candidates: 20, total: 130, cached: 40 } } },
    },
    "gemini-2.5-pro": { tokens: { input: 5, prompt: 7, candidates: 3, total: 10, cached: 2, thoughts: 0, tool: 0 } },
  },
  tools: { totalCalls: 1 },
  files: { totalLinesAdded: 3, totalLinesRemoved: 0 },
};
const tokens = { input: 107, output: 23, cached: 42 };
const pretty = JSON.stringify({ session_id: "s", response: report, stats }, null, 2);
const compact = JSON.stringify({ session_id: "s", response: report, stats });

describe("finds the answer (H109, J131, F18)", () => {
  test.each([
    ["alone", pretty],
    ["on one line", compact],
    ["after a byte order mark", `\uFEFF${pretty}`],
    ["with CRLF", pretty.replaceAll("\n", "\r\n")],
    ["after log lines", `Loaded cached credentials.\n[WARN] {something} happened\n${pretty}`],
    ["after lines that begin like objects", `{not json}\n{"level":"warn"}\n{ "half": [\n${pretty}`],
    ["after an unfinished string", `{"oops\n${compact}`],
    ["after an object with an error", `{"level":"error","error":"deprecated"}\n${pretty}`],
    ["after many JSON log lines", `${'{"level":"info","msg":"x"}\n'.repeat(500)}${pretty}`],
    ["after many broken lines", `${'{"level":info}\n'.repeat(500)}${pretty}`],
    ["before log lines", `${pretty}\nClosing {connection}\n{"bye":1}\n`],
    ["before an unfinished object", `${pretty}\n{"half": [`],
    ["before text on the same line", `${pretty} done`],
    ["after a colour code", `\u001b[2K\u001b[0m${pretty}`],
    ["after a progress line", `loading\r${compact}`],
    ["twice", `${pretty}\n${pretty}`],
    ["twice without a line break", compact.replace("success", "failure") + compact],
    ["with an unknown key and in another order", JSON.stringify({ warnings: ["w"], stats, response: report })],
  ])("%s", (_, source) => {
    const check = checkHandoff(source, { format: "gemini-json" });
    expect(check).toMatchObject({ valid: true, status: "success", files_created: ["src/a.ts"], tokens });
    expect(check).toMatchObject({ parse_error: null, error_type: null });
    expect(checkHandoff(source)).toEqual(check);
    expect(checkHandoff(new TextEncoder().encode(source))).toEqual(check);
  });

  test("the last document with a response wins", () => {
    const failure = compact.replace("success", "failure");
    expect(checkHandoff(`${compact}\n${failure}`).status).toBe("failure");
    expect(checkHandoff(`${compact}\n{"session_id":"s","stats":{}}`).status).toBe("success");
  });

  test("escapes inside the response are stripped, raw and as JSON (T7)", () => {
    const response = report.replace("src/a.ts", "src/\u001b[31ma.ts\u0007").replace("success", "suc\u001b[0mcess");
    expect(checkHandoff(JSON.stringify({ response }))).toMatchObject({ valid: true, files_created: ["src/a.ts"] });
    const c1 = JSON.stringify({ response: `\u009b31m${report}` });
    expect(checkHandoff(c1, { format: "gemini-json" })).toMatchObject({ valid: true });
  });
});

describe("unreadable output is classified, and is not valid (F18)", () => {
  test.each([
    ["", "empty_output", "runtime"],
    [" \r\n\t\n", "empty_output", "runtime"],
    ["\uFEFF", "empty_output", "runtime"],
    ["Error: something", "not_json", "runtime"],
    ["[WARN] {something}", "not_json", "runtime"],
    ["{something}", "not_json", "runtime"],
    ["{'response': 'x'}", "not_json", "runtime"],
    [`{"response": "x",}`, "not_json", "runtime"],
    [report, "not_json", "runtime"],
    ["{", "truncated_json", "runtime"],
    [`{"response"`, "truncated_json", "runtime"],
    [`{"response": "half a`, "truncated_json", "runtime"],
    [`{"response": "half a\nKilled`, "truncated_json", "runtime"],
    [`{"response": "x", "stats": {`, "truncated_json", "runtime"],
    [pretty.slice(0, -1), "truncated_json", "runtime"],
    [pretty.slice(0, 200), "truncated_json", "runtime"],
    [`noise\n${pretty.slice(0, 300)}`, "truncated_json", "runtime"],
    [`{"level":"info"}\n${compact.slice(0, 99)}`, "truncated_json", "runtime"],
    ["null", "no_response", "runtime"],
    ["[]", "no_response", "runtime"],
    [`[${compact}]`, "no_response", "runtime"],
    [`"text"`, "no_response", "runtime"],
    [JSON.stringify(report), "no_response", "runtime"],
    ["42", "no_response", "runtime"],
    ["true", "no_response", "runtime"],
    ["{}", "no_response", "runtime"],
    [`{"session_id":"s"}`, "no_response", "runtime"],
    [`{"response":null}`, "no_response", "runtime"],
    [`{"response":{"text":"x"}}`, "no_response", "runtime"],
    [`{"response":["x"]}`, "no_response", "runtime"],
    [`{"response":""}`, "empty_response", "runtime"],
    [`{"response":" \\n "}`, "empty_response", "runtime"],
    [`{"session_id":"s","error":{"type":"Error","message":"boom","code":1}}`, "no_response", "runtime"],
    [`{"session_id":"s","error":{"type":"Error","message":"x","code":429}}`, "no_response", "quota"],
    [
      `{"session_id":"s","error":{"type":"FatalAuthenticationError","message":"x","code":41}}`,
      "no_response",
      "runtime",
    ],
    [`{"error":"Request timed out"}`, "no_response", "timeout"],
    [`{"response":"","error":{"message":"Quota exceeded"}}`, "empty_response", "quota"],
    [`warning\n{\n  "session_id": "s",\n  "error": {\n    "code": 401\n  }\n}\n`, "no_response", "runtime"],
  ] as const)("%j: %s, %s", (source, parse_error, error_type) => {
    const check = checkHandoff(source, { format: "gemini-json" });
    expect(check).toMatchObject({
      valid: false,
      parse_error,
      error_type,
      status: null,
      tokens: null,
      files_created: [],
    });
    expect(check.missing[0]).toBe("task_report");
  });

  test("an answer next to an error is kept but not valid", () => {
    const check = checkHandoff(JSON.stringify({ response: report, error: { type: "INVALID_STREAM", message: "cut" } }));
    expect(check).toMatchObject({
      valid: false,
      missing: [],
      status: "success",
      parse_error: null,
      error_type: "runtime",
    });
  });

  test("`error: null` is not an error", () => {
    expect(checkHandoff(JSON.stringify({ response: report, error: null }))).toMatchObject({
      valid: true,
      error_type: null,
    });
  });

  test("tokens count even if the answer is empty", () => {
    expect(checkHandoff(JSON.stringify({ session_id: "s", response: "", stats })).tokens).toEqual(tokens);
  });
});

describe("is detected without a format option", () => {
  test.each([
    ["a report that shows JSON", `\`\`\`\n{\n  "error": "not found"\n}\n\`\`\`\n\n${report}`, null, true],
    ["a report that shows an event", `{"type":"message","role":"user","content":"x"}\n\n${report}`, null, true],
    ["a truncated answer", pretty.slice(0, 100), "truncated_json", false],
    ["an answer that ends with a title", JSON.stringify({ response: "~~~\nA\n## Task Report" }, null, 2), null, false],
    ["an answer cut after a title", '{"response": "A\\n## Task Report', "truncated_json", false],
    ["a title before an escape", JSON.stringify({ response: "~~~\nA## Task Report\u009d\n" }), null, false],
    ["an error", `{"session_id":"s","error":{"message":"x","code":500}}`, "no_response", false],
    ["an unknown object", `{"a":1}`, null, false],
    ["a scalar", "null", null, false],
    ["nothing", " \n", "empty_output", false],
    ["nothing to see", "\u001b[31m\u001b[0m\n", "empty_output", false],
  ] as const)("%s", (_, source, parse_error, valid) => {
    expect(checkHandoff(source)).toMatchObject({ parse_error, valid, has_task_report: valid });
  });
});
