import { describe, expect, test } from "vitest";
import { noProgress, type Shown } from "../runtime.ts";
import { geminiProgress, shownStream } from "./stream.ts";

/** What Gemini CLI 0.61 printed in a run with three turns, without its time stamps. */
const events: object[] = [
  { type: "init", session_id: "7911afbe", model: "gemini-2.5-flash" },
  { type: "message", role: "user", content: "TASK: write x.txt\n## Task Report\n- Status: success" },
  { type: "message", role: "assistant", content: "I look ", delta: true },
  { type: "message", role: "assistant", content: "first.", delta: true },
  { type: "tool_use", tool_name: "write_file", tool_id: "w", parameters: { content: "hello", file_path: "x.txt" } },
  { type: "tool_result", tool_id: "w", status: "success" },
  { type: "tool_use", tool_name: "run_shell_command", tool_id: "s", parameters: { command: "echo hi\n  && ls" } },
  { type: "tool_use", tool_name: "read_file", tool_id: "r", parameters: { file_path: "nope.txt" } },
  { type: "tool_result", tool_id: "s", status: "success", output: "hi\nx.txt" },
  {
    type: "tool_result",
    tool_id: "r",
    status: "error",
    output: "No.",
    error: { type: "x", message: "File not found" },
  },
  { type: "message", role: "assistant", content: "## Task Report\n- Status: success", delta: true },
  {
    type: "result",
    status: "success",
    stats: { total_tokens: 367, input_tokens: 300, output_tokens: 60, cached: 120, input: 180, models: {} },
  },
];
const line = (event: object) => `${JSON.stringify(event)}\n`;
const stream = events.map(line);
const progressOf = (...lines: string[]) => lines.reduce(geminiProgress, noProgress);

describe("the progress of a running attempt (C57)", () => {
  test("is its last tool call with the main argument, or the last line that it wrote; never the prompt", () => {
    const seen = stream.map((_, at) => progressOf(...stream.slice(0, at + 1)).activity);
    expect(seen).toEqual([
      "",
      "",
      "I look",
      "I look first.",
      ...["write_file x.txt", "write_file x.txt"],
      "run_shell_command echo hi && ls",
      ...["read_file nope.txt", "read_file nope.txt", "read_file nope.txt"],
      ...["- Status: success", "- Status: success"],
    ]);
  });

  test("keeps the text being written, of one message", () => {
    expect(progressOf(...stream.slice(0, 4)).text).toBe("I look first.");
    expect(progressOf(stream.join("")).text).toBe("## Task Report\n- Status: success");
  });

  test("is the same however the lines arrive, and whatever is between them", () => {
    const noisy = ["YOLO\n", '{"type":"tool_use","tool_name":"half\n', "\u001b[2J{}\n", "null\n", '{"type":7}\n'];
    expect(progressOf(...stream.flatMap((one) => [...noisy, one]))).toEqual(progressOf(stream.join("")));
  });

  test.each([
    ["a tool without arguments", { tool_name: "list" }, "list"],
    ["arguments that are not text", { tool_name: "list", parameters: { depth: 3 } }, "list"],
    ["an unknown argument", { tool_name: "mcp_db_find", parameters: { table: "users" } }, "mcp_db_find users"],
    ["control characters", { tool_name: "a\u001b[31mb", parameters: { path: "x\u0007\ny" } }, "ab x y"],
    [
      "a long absolute path",
      { tool_name: "write_file", parameters: { file_path: "/home/u/p/.git/maestro/w/src/routes/a.ts" } },
      "write_file …/src/routes/a.ts",
    ],
    ["no name", { parameters: { path: "x" } }, " x"],
  ])("of %s is one plain line", (_, call, activity) => {
    expect(progressOf(line({ type: "tool_use", ...call })).activity).toBe(activity);
  });

  test("of a huge text or argument stays small, and costs little", () => {
    const huge = "word ".repeat(1_000_000);
    const started = process.cpuUsage();
    const { activity, text } = progressOf(
      line({ type: "tool_use", tool_name: "write_file", parameters: { file_path: huge } }),
      line({ type: "message", role: "assistant", content: huge, delta: true }),
    );
    expect(process.cpuUsage(started).user).toBeLessThan(3_000_000);
    expect([activity.length <= 1_200, text.length <= 4_000]).toEqual([true, true]);
  });
});

describe("a stream as a person reads it (C57)", () => {
  test("has the agent's text, its tool calls and what failed, and not the prompt", () => {
    expect(shownStream(stream.join(""), false)).toEqual({
      text: [
        "I look first.",
        "> write_file x.txt",
        "> run_shell_command echo hi && ls",
        "> read_file nope.txt",
        "  failed: File not found",
        "## Task Report",
        "- Status: success",
      ].join("\n"),
      isMidLine: true,
    });
  });

  test("is the same in pieces", () => {
    let text = "";
    let isMidLine = false;
    for (const one of stream) {
      const shown: Shown = shownStream(one, isMidLine) ?? { text: "", isMidLine };
      text += shown.text;
      isMidLine = shown.isMidLine;
    }
    expect(text).toBe(shownStream(stream.join(""), false)?.text);
  });

  test("has the error of a result, and is null for output that is not a stream", () => {
    const failed = line({ type: "result", status: "error", error: { message: "[API Error: quota]" } });
    expect(shownStream(failed, false)?.text).toBe("error: [API Error: quota]\n");
    expect(shownStream(line({ type: "error", severity: "error", message: "Loop" }), true)?.text).toBe(
      "\nerror: Loop\n",
    );
    for (const other of ["", "garbage\n", '{\n  "response": "done"\n}\n']) expect(shownStream(other, false)).toBeNull();
  });
});
