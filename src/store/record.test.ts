import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../session/events.ts";
import { crc32, hex } from "./crc32.ts";
import { decodeRecords, encodeRecord, type JournalRecord, journalStart } from "./record.ts";

const note = (text: string): SessionEvent => ({ type: "session.noted", text });
const lines = (...texts: string[]) =>
  texts.map((text, index) => encodeRecord(index + 1, "2026-02-14T22:58:00.000Z", note(text)));
const decode = (bytes: Buffer) => {
  const records: JournalRecord[] = [];
  const decoded = decodeRecords(bytes, journalStart, (record) => void records.push(record));
  return "fault" in decoded ? decoded : { ...decoded, records };
};
const texts = (bytes: Buffer) => {
  const decoded = decode(bytes);
  return "fault" in decoded ? decoded.fault : decoded.records.map((record) => (record as { text?: string }).text);
};

describe("crc32", () => {
  it("is the IEEE checksum", () => {
    expect(hex(crc32(Buffer.from("123456789")))).toBe("cbf43926");
    expect(hex(crc32(Buffer.alloc(0)))).toBe("00000000");
  });
});

describe("the journal's lines", () => {
  it("read back as they were written, whatever the text", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (given) => {
        expect(texts(Buffer.concat(lines(...given)))).toEqual(given.map((text) => Buffer.from(text).toString()));
      }),
    );
  });

  it("have the shape {v, seq, ts, type, ..., crc}, one per line (X269)", () => {
    const [line] = lines("x");
    expect(Object.keys(JSON.parse(String(line)))).toEqual(["v", "seq", "ts", "type", "text", "crc"]);
    expect(String(line).indexOf("\n")).toBe(String(line).length - 1);
  });
});

describe("a journal cut short (F11)", () => {
  const whole = Buffer.concat(lines("one", "two", "three – ü"));
  const [one = Buffer.alloc(0), two = Buffer.alloc(0), three = Buffer.alloc(0)] = lines("one", "two", "three – ü");

  it("keeps every record before the cut, at every byte", () => {
    for (let length = 0; length <= whole.length; length++) {
      const decoded = decode(whole.subarray(0, length));
      if ("fault" in decoded) throw new Error(`cut at ${length}: ${decoded.fault.reason}`);
      const ends = [one.length, one.length + two.length, whole.length];
      // A record is whole with or without its newline.
      expect(decoded.records.length, `cut at ${length}`).toBe(ends.filter((end) => length >= end - 1).length);
      const torn = length > 0 && !ends.some((end) => length === end || length === end - 1);
      expect(decoded.tail.kind, `cut at ${length}`).toBe(torn ? "torn" : "none");
    }
  });

  it("keeps a change of several records as a whole or not at all, at every byte (P1)", () => {
    const [first = Buffer.alloc(0)] = lines("one");
    const group = [2, 3, 4].map((seq) => encodeRecord(seq, "2026-02-14T22:58:00.000Z", note(`part ${seq}`), seq < 4));
    const all = Buffer.concat([first, ...group]);
    for (let length = first.length; length <= all.length; length++) {
      const decoded = decode(all.subarray(0, length));
      if ("fault" in decoded) throw new Error(`cut at ${length}: ${decoded.fault.reason}`);
      const whole = length >= all.length - 1;
      expect(decoded.records.length, `cut at ${length}`).toBe(whole ? 4 : 1);
      expect(decoded.end, `cut at ${length}`).toBe(whole ? length : first.length);
      expect(decoded.tail.kind, `cut at ${length}`).toBe(whole || length === first.length ? "none" : "torn");
    }
  });

  it("calls a last line that is complete but not ours garbage", () => {
    for (const garbage of ["garbage\n", "{}\n", '{"v":1,"seq":4}\n', "\0\0\0\n"]) {
      const decoded = decode(Buffer.concat([whole, Buffer.from(garbage)]));
      expect(decoded).toMatchObject({ tail: { kind: "garbage", line: 4 }, end: whole.length });
    }
  });

  it("stops at a bad line in the middle and names it", () => {
    expect(texts(Buffer.concat([one, Buffer.from("garbage\n"), two]))).toEqual({ line: 2, reason: "no checksum" });
  });

  it("finds every flipped byte", () => {
    for (let position = 0; position < one.length - 1; position++) {
      const damaged = Buffer.from(Buffer.concat([one, two]));
      damaged[position] = (damaged[position] as number) ^ 0x01;
      const decoded = decode(damaged);
      expect("fault" in decoded, `byte ${position}`).toBe(true);
    }
  });

  it("ignores a record that is there twice, and refuses one that contradicts it", () => {
    expect(texts(Buffer.concat([one, one, two]))).toEqual(["one", "two"]);
    const other = encodeRecord(1, "2026-02-14T22:58:00.000Z", note("other"));
    expect(texts(Buffer.concat([one, other]))).toMatchObject({ line: 2, reason: "record 1 follows record 1" });
  });

  it("refuses a gap", () => {
    expect(texts(Buffer.concat([one, three]))).toMatchObject({ line: 2, reason: "record 3 follows record 1" });
  });

  it("refuses a newer version rather than dropping it", () => {
    const body = '{"v":2,"seq":1,"ts":"","type":"session.noted","text":"x"';
    const line = Buffer.from(`${body},"crc":"${hex(crc32(Buffer.from(body)))}"}\n`);
    expect(texts(line)).toMatchObject({ line: 1, reason: expect.stringContaining("newer") });
  });

  it("takes blank lines and missing last newlines as they come", () => {
    expect(texts(Buffer.concat([one, Buffer.from("\n\r\n"), two]))).toEqual(["one", "two"]);
    expect(decode(Buffer.concat([one, two.subarray(0, -1)]))).toMatchObject({ open: true, tail: { kind: "none" } });
  });
});
