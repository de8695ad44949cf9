import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineReader, type ProtocolLine } from "./lines.ts";

const text = (line: ProtocolLine) => ("bytes" in line ? line.bytes.toString("utf8") : `long ${line.length}`);

describe("lines read from chunks", () => {
  test("are the same for any split of the bytes (F23)", () => {
    const lines = fc.array(fc.string({ maxLength: 30 }).map((line) => line.replaceAll("\n", "")));
    fc.assert(
      fc.property(lines, fc.array(fc.nat(40), { maxLength: 40 }), (wanted, cuts) => {
        const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(""));
        const reader = new LineReader(1000);
        const found: ProtocolLine[] = [];
        let at = 0;
        for (const cut of cuts) {
          found.push(...reader.push(bytes.subarray(at, at + cut)));
          at = Math.min(bytes.length, at + cut);
        }
        found.push(...reader.push(bytes.subarray(at)), ...reader.end());
        expect(found.map(text)).toEqual(wanted);
      }),
    );
  });

  test("that are too long are skipped up to their newline, keeping their beginning and end", () => {
    const reader = new LineReader(1000);
    const body = `head${"x".repeat(5000)}tail`;
    const pieces = `${body}\nnext\n`.match(/.{1,97}|\n/gs) ?? [];
    const found = pieces.flatMap((piece) => reader.push(Buffer.from(piece)));
    expect(found.map(text)).toEqual([`long ${body.length}`, "next"]);
    const [long] = found;
    if (long === undefined || !("length" in long)) throw new Error("the long line is missing");
    expect([long.head.length, long.tail.length]).toEqual([256, 256]);
    expect(long.head.toString().startsWith("head")).toBe(true);
    expect(long.tail.toString().endsWith("tail")).toBe(true);
  });

  test("are too long only beyond the limit", () => {
    const reader = new LineReader(10);
    expect([...reader.push(Buffer.from("0123456789\n0123456789a\n")), ...reader.end()].map(text)).toEqual([
      "0123456789",
      "long 11",
    ]);
  });

  test("include the text after the last newline when the input ends", () => {
    const reader = new LineReader(10);
    expect(reader.push(Buffer.from("a\nb")).map(text)).toEqual(["a"]);
    expect(reader.end().map(text)).toEqual(["b"]);
  });
});
