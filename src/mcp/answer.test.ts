import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Answer, answerText, fitting, MAX_ANSWER_BYTES } from "./answer.ts";

const bytes = (text: string) => Buffer.byteLength(text);
const listed = (items: readonly unknown[], over: Partial<NonNullable<Answer["page"]>> = {}): Answer => ({
  body: { exists: true },
  page: { key: "items", total: items.length, item: (index) => items[index], ...over },
});

describe("an answer", () => {
  test("is its body as compact JSON", () => {
    expect(answerText({ body: { a: [1, { b: "c" }] } })).toBe('{"a":[1,{"b":"c"}]}');
  });

  test("pages a list, and the pages together are the whole list", () => {
    const items = Array.from({ length: 5000 }, (_, id) => ({ id, name: `Phase ${id} ä` }));
    const found: unknown[] = [];
    let pages = 0;
    for (let offset: number | null = 0; offset !== null; pages++) {
      const text = answerText(listed(items, { offset }));
      expect(bytes(text)).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
      const page: { items: unknown[]; total: number; next_offset: number | null } = JSON.parse(text);
      expect(page.total).toBe(5000);
      found.push(...page.items);
      offset = page.next_offset;
    }
    expect(found).toEqual(items);
    expect(pages).toBeGreaterThan(50);
    expect(pages).toBeLessThan(300);
  });

  test.each([
    [{ limit: 2 }, ["a", "b"], 2],
    [{ offset: 2 }, ["c"], null],
    [{ offset: 9 }, [], null],
    [{ limit: 0 }, [], 0],
    [{ offset: 1, limit: 9 }, ["b", "c"], null],
  ])("respects %j", (wanted, items, next_offset) => {
    expect(JSON.parse(answerText(listed(["a", "b", "c"], wanted)))).toEqual({
      exists: true,
      items,
      total: 3,
      next_offset,
    });
  });

  test("cuts an entry that does not fit on a page, and says so", () => {
    const text = answerText(listed([{ text: "x".repeat(50_000) }, { text: "y" }]));
    expect(bytes(text)).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
    const { items, next_offset, cut } = JSON.parse(text);
    expect(items[0].text).toMatch(/^x{500,} \.\.\.$/);
    expect(next_offset).toBe(1);
    expect(cut).toEqual({ "items[].text": { kept: 1000, of: 50_000 }, hint: expect.stringContaining("full: true") });
  });

  test("cuts long lists and texts that are not paged, and names them", () => {
    const text = answerText({ body: { ids: Array.from({ length: 9000 }, (_, id) => `id-${id}`), valid: true } });
    const { ids, cut, valid } = JSON.parse(text);
    expect(valid).toBe(true);
    expect(cut.ids).toEqual({ kept: ids.length, of: 9000 });
  });

  test("is complete, whatever its length, when full is set", () => {
    const items = Array.from({ length: 5000 }, (_, id) => ({ id }));
    const { items: found, next_offset } = JSON.parse(answerText({ ...listed(items), full: true }));
    expect([found.length, next_offset]).toEqual([5000, null]);
    expect(JSON.parse(answerText({ body: { a: "x".repeat(99_999) }, full: true })).a).toHaveLength(99_999);
  });

  test("of many small parts keeps those that fit, and says how many there are", () => {
    const body = Object.fromEntries(
      Array.from({ length: 400 }, (_, id) => [`part-${id}`, { a: [id, id], b: [id, id], c: { d: id } }]),
    );
    const { cut, ...kept } = JSON.parse(answerText({ body }));
    expect(Object.keys(kept).length).toBeGreaterThan(15);
    expect(cut).toEqual({ parts: { kept: Object.keys(kept).length, of: 32 }, hint: "full: true for all" });
  });

  test("has at most 1,500 characters unless the caller asks for all of it (C43)", () => {
    expect(MAX_ANSWER_BYTES).toBe(1_500);
    expect(fitting(["aaaa", "bbbb", "cccc"], 15)).toEqual(["aaaa", "bbbb"]);
    expect(fitting(["x".repeat(50), "y"], 15)).toEqual(["x".repeat(50)]);
  });

  test("never exceeds the limit, whatever it contains", () => {
    const body = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 60 });
    const long = fc.record({
      texts: fc.array(fc.string({ unit: "grapheme", minLength: 100, maxLength: 3000 }), { maxLength: 40 }),
      map: fc.dictionary(fc.string({ maxLength: 60 }), fc.string({ maxLength: 300 }), { maxKeys: 300 }),
    });
    fc.assert(
      fc.property(body, long, fc.array(fc.jsonValue()), (small, big, items) => {
        const text = answerText({ ...listed(items), body: { ...small, ...big } });
        expect(bytes(text)).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
        JSON.parse(text);
      }),
      { numRuns: 60 },
    );
  });
});
