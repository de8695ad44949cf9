import * as zlib from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { crc32, hex } from "../../disk/crc32.ts";
import type { SessionEvent } from "../../session/events.ts";
import { decodeRecords, encodeChange, type JournalRecord, journalStart } from "./record.ts";

const ts = "2026-02-14T22:58:00.000Z";
const note = (text: string): SessionEvent => ({ type: "session.noted", text });
/** The lines of a journal; each group of texts is one change. */
const changes = (...groups: string[][]): Buffer[] => {
  let last: { seq: number; crc: string } = journalStart;
  return groups.map((group) => {
    const change = encodeChange(last, ts, group.map(note));
    last = change;
    return change.bytes;
  });
};
const lines = (...texts: string[]) => changes(...texts.map((text) => [text]));
const decode = (bytes: Buffer, start = journalStart) => {
  const records: JournalRecord[] = [];
  const decoded = decodeRecords(bytes, start, (record) => void records.push(record));
  return "fault" in decoded ? decoded : { ...decoded, records };
};
const textsOf = (records: readonly JournalRecord[]) => records.map((record) => (record as { text?: string }).text);
const texts = (bytes: Buffer) => {
  const decoded = decode(bytes);
  return "fault" in decoded ? decoded.fault : textsOf(decoded.records);
};
const sound = (bytes: Buffer, start = journalStart) => {
  const decoded = decode(bytes, start);
  if ("fault" in decoded) throw new Error(`line ${decoded.fault.line}: ${decoded.fault.reason}`);
  return decoded;
};

const { getBuiltinModule } = process;
const useZlib = (use: boolean) => {
  process.getBuiltinModule = use ? getBuiltinModule : (undefined as never);
};

/** Texts of every kind, some so long that the journal is decoded in several chunks. */
const someText = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "binary" }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme" }).map((text) => text.padEnd(30_000, "ü")) },
);
const someChanges = fc.array(fc.array(someText, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 });
const wellFormed = (text: string) => Buffer.from(text).toString();

describe("crc32", () => {
  afterEach(() => useZlib(true));

  test("is the IEEE checksum", () => {
    expect(hex(crc32(Buffer.from("123456789")))).toBe("cbf43926");
    expect(hex(crc32(Buffer.alloc(0)))).toBe("00000000");
  });

  test("is the same with and without zlib, for any slice and any seed", () => {
    const part = fc.record({ length: fc.nat(40_000), start: fc.nat(40_000), before: fc.nat(0xffffffff) });
    fc.assert(
      fc.property(part, fc.uint8Array({ minLength: 1 }), ({ length, start, before }, pattern) => {
        const bytes = Buffer.alloc(80_000, pattern);
        const expected = zlib.crc32(bytes.subarray(start, start + length), before);
        for (const use of [true, false]) {
          useZlib(use);
          expect(crc32(bytes, start, start + length, before)).toBe(expected);
        }
      }),
    );
  });
});

describe.each([
  ["with zlib", true],
  ["without zlib", false],
])("the journal's lines, %s,", (_, use) => {
  beforeEach(() => useZlib(use));
  afterEach(() => useZlib(true));

  test("decode to what was encoded, for any text", () => {
    fc.assert(
      fc.property(someChanges, (groups) => {
        const bytes = Buffer.concat(changes(...groups));
        const decoded = sound(bytes);
        expect(textsOf(decoded.records)).toEqual(groups.flat().map(wellFormed));
        expect(decoded).toMatchObject({ end: bytes.length, tail: { kind: "none" }, position: { open: false } });
      }),
    );
  });

  test("reveal every flipped byte, and the line it is in", () => {
    const flip = fc.record({ at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) });
    fc.assert(
      fc.property(someChanges, flip, (groups, { at, by }) => {
        const bytes = Buffer.concat(changes(...groups));
        const position = at % bytes.length;
        bytes[position] = (bytes[position] as number) ^ by;
        const above = bytes.subarray(0, position);
        const before = above.filter((byte) => byte === 0x0a).length;
        // A newline at the start of a line makes it blank, so the next line is the bad one.
        const isBlanked = bytes[position] === 0x0a && (position === 0 || above.at(-1) === 0x0a);
        const line = before + (isBlanked ? 2 : 1);
        const decoded = decode(bytes);
        if ("fault" in decoded) return void expect(decoded.fault.line).toBe(line);
        expect(decoded.tail).toMatchObject({ line, kind: expect.stringMatching("torn|garbage") });
        const kept = groups.filter((_, index) => groups.slice(0, index + 1).flat().length <= before);
        expect(textsOf(decoded.records)).toEqual(kept.flat().map(wellFormed));
      }),
      { numRuns: 300 },
    );
  });

  test("keep every complete change before a cut, at any position", () => {
    fc.assert(
      fc.property(someChanges, fc.nat(), (groups, cut) => {
        const written = changes(...groups);
        const whole = Buffer.concat(written);
        const length = cut % (whole.length + 1);
        const ends = written.map((_, index) => Buffer.concat(written.slice(0, index + 1)).length);
        // A record is complete with or without its newline.
        const kept = ends.filter((end) => length >= end - 1).length;
        const decoded = sound(whole.subarray(0, length));
        expect(textsOf(decoded.records)).toEqual(groups.slice(0, kept).flat().map(wellFormed));
        const end = Math.min(length, ends[kept - 1] ?? 0);
        expect(decoded).toMatchObject({ end, tail: { kind: end === length ? "none" : "torn" } });
      }),
    );
  });

  test("decode the same at once and in pieces, with repeated and blank lines between them", () => {
    const noise = fc.array(fc.constantFrom("repeat", "\n", " \t\r\n"), { maxLength: 2 });
    const journal = fc.array(fc.tuple(fc.array(someText, { minLength: 1, maxLength: 3 }), noise), { maxLength: 8 });
    fc.assert(
      fc.property(journal, fc.array(fc.nat(), { maxLength: 8 }), (parts, cuts) => {
        const bytes = Buffer.concat(
          changes(...parts.map(([group]) => group)).flatMap((change, index) => {
            const last = change.subarray(change.lastIndexOf("\n", -2) + 1);
            const between = (parts[index]?.[1] ?? []).map((what) => (what === "repeat" ? last : Buffer.from(what)));
            return [change, ...between];
          }),
        );
        const once = sound(bytes);
        expect(textsOf(once.records)).toEqual(parts.flatMap(([group]) => group).map(wellFormed));
        let [end, position] = [0, journalStart];
        const records: JournalRecord[] = [];
        const stops = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
        for (const stop of [...stops, bytes.length]) {
          const piece = sound(bytes.subarray(end, Math.max(end, stop)), position);
          records.push(...piece.records);
          end += piece.end;
          position = piece.position;
        }
        expect({ end, position, records }).toEqual({ end: once.end, position: once.position, records: once.records });
      }),
      { numRuns: 200 },
    );
  });
});

describe("a line of the journal", () => {
  test("has the shape {v, seq, ts, type, ..., crc}, one per line (X269)", () => {
    const [line] = lines("x");
    expect(Object.keys(JSON.parse(String(line)))).toEqual(["v", "seq", "ts", "type", "text", "crc"]);
    expect(String(line).indexOf("\n")).toBe(String(line).length - 1);
  });
});

describe("a journal cut short (F11)", () => {
  const whole = Buffer.concat(lines("one", "two", "three – ü"));
  const [one = Buffer.alloc(0), two = Buffer.alloc(0), three = Buffer.alloc(0)] = lines("one", "two", "three – ü");

  test("keeps a change of several records entirely or not at all, at every byte (P1)", () => {
    const [first = Buffer.alloc(0), group = Buffer.alloc(0)] = changes(["one"], ["part 2", "part 3", "part 4"]);
    const all = Buffer.concat([first, group]);
    for (let length = first.length; length <= all.length; length++) {
      const decoded = sound(all.subarray(0, length));
      const whole = length >= all.length - 1;
      expect(decoded.records.length, `cut at ${length}`).toBe(whole ? 4 : 1);
      expect(decoded.end, `cut at ${length}`).toBe(whole ? length : first.length);
      expect(decoded.tail.kind, `cut at ${length}`).toBe(whole || length === first.length ? "none" : "torn");
    }
  });

  test("classifies a complete but invalid last line as garbage", () => {
    const four = String(lines("one", "two", "three – ü", "four")[3]);
    const damaged = [four.replace("four", "fear"), four.replace('"seq"', '"sea"'), four.replace('"text"', "'text'")];
    for (const garbage of ["garbage\n", "{}\n", '{"v":1,"seq":4}\n', "\0\0\0\n", ...damaged]) {
      const decoded = decode(Buffer.concat([whole, Buffer.from(garbage)]));
      expect(decoded).toMatchObject({ tail: { kind: "garbage", line: 4 }, end: whole.length });
    }
  });

  test("stops at a bad line in the middle and names it", () => {
    expect(texts(Buffer.concat([one, Buffer.from("garbage\n"), two]))).toEqual({ line: 2, reason: "no checksum" });
    const damaged = Buffer.from(String(two).replace("two", "too"));
    expect(texts(Buffer.concat([one, damaged, three]))).toEqual({ line: 2, reason: "checksum does not match" });
  });

  test("names the line of an unusable record, and delivers no record after it", () => {
    for (const between of ["", "\n"]) {
      const taken: number[] = [];
      const [first = Buffer.alloc(0), group = Buffer.alloc(0)] = changes(["one"], ["two", "three", "four"]);
      const bytes = Buffer.concat([first, Buffer.from(between), group]);
      const decoded = decodeRecords(bytes, journalStart, ({ seq }) => {
        taken.push(seq);
        return seq === 3 ? "no use" : undefined;
      });
      expect(decoded).toEqual({ fault: { line: 3 + between.length, reason: "no use" } });
      expect(taken).toEqual([1, 2, 3]);
    }
  });

  test("names the first of two bad lines, whether the record or its use is wrong, and delivers what is before it", () => {
    for (const between of ["", "\n"]) {
      for (const unusable of [2, 3, 4]) {
        const taken: number[] = [];
        let last: { seq: number; crc: string } = journalStart;
        const bytes = ["one", "two", 3, "four"].map((text) => {
          const change = encodeChange(last, ts, [{ type: "session.noted", text } as SessionEvent]);
          last = change;
          return change.bytes;
        });
        const decoded = decodeRecords(Buffer.concat([Buffer.from(between), ...bytes]), journalStart, ({ seq }) => {
          taken.push(seq);
          return seq === unusable ? "no use" : undefined;
        });
        const isEarlier = unusable === 2;
        const reason = isEarlier ? "no use" : "session.noted: text must be text of at most 1000000 characters";
        expect(decoded).toEqual({ fault: { line: (isEarlier ? 2 : 3) + between.length, reason } });
        expect(taken).toEqual([1, 2]);
      }
    }
  });

  test("ignores a repeated record, and rejects one that contradicts it", () => {
    expect(texts(Buffer.concat([one, one, two, two]))).toEqual(["one", "two"]);
    expect(texts(Buffer.concat([one, one.subarray(0, -1)]))).toEqual(["one"]);
    const [other = one] = lines("other");
    const damaged = Buffer.from(String(one).replace("one", "own"));
    for (const line of [other, damaged]) {
      expect(texts(Buffer.concat([one, line]))).toMatchObject({ line: 2, reason: "record 1 follows record 1" });
    }
    expect(texts(Buffer.concat([one, two, one]))).toMatchObject({ line: 3, reason: "record 1 follows record 2" });
  });

  test("rejects a gap, whether a line was lost or a number skipped", () => {
    expect(texts(Buffer.concat([one, three]))).toMatchObject({ line: 2, reason: "record 3 follows record 1" });
    const { bytes } = encodeChange({ seq: 4, crc: "" }, ts, [note("five")]);
    expect(texts(bytes)).toMatchObject({ line: 1, reason: "record 5 follows record 0" });
  });

  test("rejects a record that followed a different record, though its number fits", () => {
    const [, stranger = one] = lines("another one", "two");
    expect(texts(Buffer.concat([one, stranger, three]))).toMatchObject({ line: 2, reason: "checksum does not match" });
  });

  test("rejects a newer version rather than dropping it, whatever its checksum covers", () => {
    const body = '{"v":2,"seq":1,"ts":"","type":"session.noted","text":"x"';
    for (const crc of [hex(crc32(Buffer.from(body))), "00000000"]) {
      const line = Buffer.from(`${body},"crc":"${crc}"}\n`);
      expect(texts(line)).toMatchObject({ line: 1, reason: expect.stringContaining("newer") });
    }
  });

  test("accepts blank lines and a missing last newline", () => {
    expect(texts(Buffer.concat([one, Buffer.from("\n\r\n"), two]))).toEqual(["one", "two"]);
    const open = sound(Buffer.concat([one, two.subarray(0, -1)]));
    expect(open).toMatchObject({ position: { line: 2, open: true }, tail: { kind: "none" } });
    const rest = sound(Buffer.concat([Buffer.from("\n"), three]), open.position);
    expect(rest).toMatchObject({ position: { line: 3, open: false }, tail: { kind: "none" } });
  });
});
