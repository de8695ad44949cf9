import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { processorMs } from "../../../test/support/timed.ts";
import type { Ending } from "../runtime.ts";
import { judgeGemini } from "./outcome.ts";

const errorJson = (code: number, message: string) =>
  `${JSON.stringify({ session_id: "b8507a54", error: { type: "Error", message, code } }, null, 2)}\n`;
const answer = (response: string) =>
  JSON.stringify({ session_id: "s", response, stats: { models: { m: { tokens: { prompt: 1 } } } } }, null, 2);

describe("any output", () => {
  const pieces = [
    ...[
      answer("done"),
      answer(""),
      '{"response":"x"}',
      '{"error":{"code":429}}',
      '{"error":null}',
      errorJson(500, "x"),
    ],
    ...[
      '{"response":',
      "[ERROR] {",
      '"error":',
      "\n{",
      "}",
      "429",
      "retryDelay: 9s",
      "\u001b[",
      "\u009d",
      "\uD800",
      "Usage: gemini",
      "\n",
    ],
  ];
  const soup = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary", maxLength: 20 })), { maxLength: 12 })
    .map((parts) => parts.join(""));
  const ending = fc.record<Ending>({
    exitCode: fc.oneof(fc.constant(0), fc.constantFrom(null, 1, 41, 124, 137, 173, 244), fc.integer()),
    killed: fc.constantFrom(null, null, "timeout", "stopped", "output_too_large"),
    stdout: soup,
    stderr: soup,
  });

  test("judging never throws, and success always has a response, exit code 0 and no kill (F15)", () => {
    fc.assert(
      fc.property(ending, (given) => {
        const outcome = judgeGemini(given);
        if (outcome.kind === "success") {
          expect(outcome.text.trim()).not.toBe("");
          expect(given).toMatchObject({ exitCode: 0, killed: null });
          expect(given.stdout).toContain('"response"');
          expect(outcome.message ?? outcome.reason ?? outcome.errorType).toBeUndefined();
        } else {
          expect(outcome.reason).toMatch(/^[a-z_0-9-]{1,64}$/);
          expect(outcome.message?.length).toBeGreaterThan(10);
          expect(outcome.message?.length).toBeLessThanOrEqual(2_000);
        }
        expect(`${outcome.text}${outcome.message}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        expect(outcome.usage).not.toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });

  test("a truncated answer is never a success", () => {
    const whole = answer("## Task Report\nStatus: success");
    for (let length = 0; length < whole.length; length++) {
      const stdout = whole.slice(0, length);
      expect(judgeGemini({ exitCode: 0, killed: null, stdout, stderr: "" }).kind).toBe("failure");
    }
  });

  test("a megabyte of anything is judged at once", () => {
    for (const piece of [
      "{",
      '{"error":',
      "retryDelay",
      "retry in 1h ",
      "\n    at ",
      "a,",
      "\u001b]",
      "[ERROR] ",
      "Attempt 1 ",
    ]) {
      const text = piece.repeat(1_000_000 / piece.length);
      const started = processorMs();
      judgeGemini({ exitCode: 1, killed: null, stdout: text, stderr: text });
      expect(processorMs() - started, piece).toBeLessThan(2_000);
    }
  });
});
