import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Batch } from "../files/batch.ts";
import { NewLines } from "./new-lines.ts";

let batch: Batch;
beforeEach(() => {
  const path = mkdtempSync(join(tmpdir(), "maestro-lines-"));
  for (const part of ["prompts", "results"]) mkdirSync(join(path, part));
  batch = new Batch(path, "batch");
});
afterEach(() => {
  batch.close();
  rmSync(batch.path, { recursive: true });
});

const write = (text: string | Buffer) => appendFileSync(batch.resultPath("a", "json"), text);

test("returns each whole line once, and half a line when the rest of it is there (C57)", () => {
  const lines = new NewLines("a", "json", 100);
  expect(lines.next(batch)).toBe("");
  write("one\ntw");
  expect(lines.next(batch)).toBe("one\n");
  expect(lines.next(batch)).toBe("");
  write("o\nthree\nfo");
  expect(lines.next(batch)).toBe("two\nthree\n");
  expect(lines.next(batch, true)).toBe("fo");
  expect(lines.next(batch, true)).toBe("");
});

test("does not split a character, and survives bytes that are not text", () => {
  const lines = new NewLines("a", "json", 100);
  const [first, ...rest] = Buffer.from("é\n");
  write(Buffer.from([0xff, 0xfe, first ?? 0]));
  expect(lines.next(batch)).toBe("");
  write(Buffer.from([...rest, 0x78, 0x0a]));
  expect(lines.next(batch)).toBe("\ufffd\ufffdé\nx\n");
  write("y\n");
  expect(lines.next(batch)).toBe("y\n");
});

test("skips what is more than the limit, and a line that is longer, up to the next line", () => {
  const lines = new NewLines("a", "json", 10);
  write(`${"x".repeat(50)}`);
  expect(lines.next(batch)).toBe("");
  write(`${"x".repeat(5)}\nok\n`);
  expect(lines.next(batch)).toBe("ok\n");
  write(`lost\nlost too\n${"z".repeat(3)}\nkept\n`);
  expect(lines.next(batch)).toBe("zzz\nkept\n");
  write("next\n");
  expect(lines.next(batch)).toBe("next\n");
});

test("continues at the same line when the file is replaced by one whose secrets are redacted", () => {
  const lines = new NewLines("a", "json", 100);
  write("a long secret\nsecond\nthi");
  expect(lines.next(batch)).toBe("a long secret\nsecond\n");
  writeFileSync(batch.resultPath("a", "log"), "a [redacted]\nsecond\nthird [redacted]\n");
  renameSync(batch.resultPath("a", "log"), batch.resultPath("a", "json"));
  expect(lines.next(batch, true)).toBe("third [redacted]\n");
});

test("takes a file that was cut as read", () => {
  const lines = new NewLines("a", "json", 100);
  write("a secret\n");
  expect(lines.next(batch)).toBe("a secret\n");
  writeFileSync(batch.resultPath("a", "json"), "[...]\n");
  expect(lines.next(batch)).toBe("");
  write("more\n");
  expect(lines.next(batch)).toBe("more\n");
});
