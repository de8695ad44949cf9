import { describe, expect, test } from "vitest";
import { readTranscript } from "./transcript.ts";

const header = "Agent: coder\nPhase: 1\nSession: s\n";
const at = (second: number) => `2026-02-14T10:00:0${second}.000Z`;
const head = { sessionId: "x", startTime: at(0), kind: "subagent" };
const prompt = {
  id: "p",
  timestamp: at(1),
  type: "user",
  content: [{ text: "<loaded_context>" }, { text: `${header}\nDo it.` }],
};
const answer = (id: string, tokens: unknown, second = 2) => ({
  id,
  timestamp: at(second),
  type: "gemini",
  tokens,
  model: "m",
});
const text = (...lines: unknown[]) =>
  lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");

describe("a transcript of a delegated agent", () => {
  test("gives the tokens of every answer once, although each is written again with its tool calls", () => {
    const one = answer("a", { input: 100, output: 5, cached: 40, thoughts: 2 });
    const two = answer("b", { input: 200, output: 6, cached: 0, thoughts: 0 }, 3);
    const read = readTranscript(
      text(head, prompt, one, { $set: { lastUpdated: at(2) } }, { ...one, toolCalls: [] }, two),
      header,
    );
    expect(read).toEqual({
      started: at(0),
      ended: at(3),
      usage: [{ model: "m", input: 300, output: 11, cached: 40, thoughts: 2 }],
    });
  });

  test.each([
    ["another header", text(head, { ...prompt, content: [{ text: "Agent: tester\nPhase: 1\nSession: s\n" }] })],
    ["a header that is only quoted", text(head, { ...prompt, content: [{ text: `> ${header}` }] })],
    ["a main conversation", text({ ...head, kind: "main" }, prompt)],
    ["no prompt", text(head)],
    ["noise", "{\n\u0000"],
    ["nothing", ""],
  ])("is not one with %s", (_, given) => {
    expect(readTranscript(given, header)).toBeUndefined();
  });

  test.each([
    ["no answer", []],
    ["an answer without tokens", [answer("a", undefined)]],
    ["tokens that are not numbers", [answer("a", { input: "many", output: -1, cached: null })]],
    ["a line that was cut off", ['{"id":"a","type":"gemini","timestamp":"x","tokens":{"inp']],
  ])("has unknown tokens, not 0, with %s (K156)", (_, lines) => {
    expect(readTranscript(text(head, prompt, ...lines), header)?.usage).toBeNull();
  });
});
