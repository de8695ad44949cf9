import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LiveTokens } from "./live-tokens.ts";

const conversation = "66f0a300-3b11-41ce-bd1a-daa7c6db5849";
const answer = (id: string, input: number, more: object = {}) =>
  `${JSON.stringify({ id, type: "gemini", content: "x", tokens: { input, output: 20, cached: 40, thoughts: 3 }, ...more })}\n`;

let home: string;
let now = 0;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "maestro-tokens-"));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

function write(text: string, id = conversation.slice(0, 8)): void {
  const chats = join(home, ".gemini/tmp/project/chats");
  mkdirSync(chats, { recursive: true });
  appendFileSync(join(chats, `session-2026-11-18T03-53-${id}.jsonl`), text);
}

function later(meter: LiveTokens): number | null {
  now += 2_000;
  return meter.read(conversation, now);
}

test("are the sum of the answers in the transcript of that conversation, each once, as it grows (C57)", () => {
  const meter = new LiveTokens(home);
  expect(later(meter)).toBeNull();
  write(answer("a", 5_000), "00000000");
  expect(later(meter)).toBeNull();
  write(
    `{"sessionId":"${conversation}","kind":"main"}\n{"id":"u","type":"user","content":"tokens"}\n${answer("a", 100)}`,
  );
  expect(later(meter)).toBe(123);
  const again = answer("a", 100, { toolCalls: [{ result: "y".repeat(2_000_000) }] });
  write(`${again}garbage\n${answer("b", 200).slice(0, 30)}`);
  expect(later(meter)).toBe(123);
  write(answer("b", 200).slice(30));
  expect(meter.read(conversation, now)).toBe(123);
  expect(later(meter)).toBe(123 + 223);
});
