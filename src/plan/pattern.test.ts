import fc from "fast-check";
import picomatch from "picomatch";
import { expect, test } from "vitest";
import { processorMs } from "../../test/support/timed.ts";
import { covers, expandPatternBraces, MAX_ALTERNATIVES, overlap, patternOf, segmentsOf } from "./pattern.ts";

function patternFor(path: string) {
  return patternOf(segmentsOf(path) ?? [], path.endsWith("/"));
}

test.each([
  ["src/a.ts", "src/a.ts", true],
  ["src/a.ts", "./src//x/../a.ts", true],
  ["src/a.ts", "src/b.ts", false],
  ["src/", "src/a/b.ts", true],
  ["src", "src/a/b.ts", true],
  ["src", "srcs/a.ts", false],
  ["src/**", "src/a/b.ts", true],
  ["src/**", "lib/a.ts", false],
  ["src/*.ts", "src/*.md", false],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/a/b.ts", false],
  ["src/a*/x.ts", "src/*b/x.ts", true],
  ["src/**/x.ts", "src/**/y.ts", false],
  ["src/**/x.ts", "src/a/**", true],
  ["**/*.test.ts", "src/a.test.ts", true],
  ["**/*.test.ts", "src/a.ts", false],
  ["**/*.test.ts", "src/", true],
  ["**/*.test.ts", "Dockerfile", false],
  ["src", "src/a/*.ts", true],
  ["src/?.ts", "src/ab.ts", false],
  ["src/[ab].ts", "src/a.ts", true],
  ["src/[ab].ts", "src/c.ts", false],
  ["src/[a-f]x", "src/cx", true],
  ["src/[!a-f]x", "src/cx", false],
  ["app/[slug]/page.tsx", "app/[id]/page.tsx", false],
  ["app/[slug]", "app/[slug]/page.tsx", true],
  ["app/(group)/x", "app/(other)/x", false],
  ["src/@(a|b).ts", "src/a.ts", true],
  [".", "anything", true],
])("%s and %s overlap: %s", (a, b, expected) => {
  expect(overlap(patternFor(a), patternFor(b))).toBe(expected);
  expect(overlap(patternFor(b), patternFor(a))).toBe(expected);
});

const names = ["a", "b", "aa", "ab"];
/** Deep enough for two globs of three segments with a "**" in each. */
const universe = Array.from({ length: 4 })
  .reduce<string[][]>(
    (levels) => [...levels, (levels.at(-1) ?? []).flatMap((path) => names.map((name) => `${path}/${name}`))],
    [names],
  )
  .flat();
const globs = fc
  .array(fc.constantFrom("a", "b", "ab", "a*", "*b", "*", "?", "**", "[ab]", "a?"), { minLength: 1, maxLength: 3 })
  .map((segments) => segments.join("/"));

test("overlaps where some path matches both globs or one is below the other, and nowhere else", () => {
  fc.assert(
    fc.property(globs, globs, (a, b) => {
      // Character classes on both sides are treated as names (see symbolsMeet).
      fc.pre(!(a.includes("[") && b.includes("[")));
      const [isA, isB] = [picomatch(a), picomatch(b)];
      const isBelow = [a, b].some((path) => !/[*?]/.test(path) && [a, b].some((other) => other.startsWith(`${path}/`)));
      const expected = isBelow || universe.some((path) => isA(path) && isB(path));
      const found = overlap(patternFor(a), patternFor(b));
      // For picomatch "a/**" includes "a" but "*/**" does not; here both do.
      if (expected || !`${a} ${b}`.includes("*/**")) expect(found).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["src/a.ts", "src/a.ts", true],
  ["src/a.ts", "src/b.ts", false],
  ["src", "src/a/b.ts", true],
  ["src", "srcs/a.ts", false],
  // A directory above the path is not covered.
  ["src/x", "src", false],
  ["src/x/y.ts", "src/x", false],
  ["src/", "src/a/b.ts", true],
  ["src/", "src/.hidden", true],
  ["src/", "src", false],
  ["src/**", "src", false],
  ["src/**", "src/a/b/c.ts", true],
  ["src/**/x.ts", "src/x.ts", true],
  ["src/**/x.ts", "src/a/b/x.ts", true],
  ["src/**/x.ts", "src/a/b/y.ts", false],
  ["src/**/a/**", "src/a", false],
  ["src/**/a/**", "src/a/b", true],
  ["src/**/a/**", "src/x/a/a", true],
  ["**/**", "a", true],
  ["**", "a", true],
  ["**", ".env", true],
  [".", "a/b", true],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/a/b.ts", false],
  ["src/*", "src/a/b.ts", false],
  ["src/*", "src/.env", true],
  ["src/a*b*c.ts", "src/aXbYbZc.ts", true],
  ["src/a*b*c.ts", "src/aXcYb.ts", false],
  ["src/?.ts", "src/a.ts", true],
  ["src/?.ts", "src/ab.ts", false],
  ["src/?.ts", "src/.ts", false],
  ["src/?.ts", "src/😀.ts", true],
  ["src/😀*.ts", "src/😀a.ts", true],
  ["src/[!a].ts", "src/😀.ts", true],
  ["src/[ab].ts", "src/b.ts", true],
  ["src/[ab].ts", "src/c.ts", false],
  ["src/[ab]", "src/b/c.ts", false],
  // Names that look like patterns.
  ["app/[id]/page.tsx", "app/[id]/page.tsx", true],
  ["app/[id]", "app/[id]/page.tsx", true],
  ["app/[id]/", "app/[id]/page.tsx", true],
  ["app/[...slug]/page.tsx", "app/[...slug]/page.tsx", true],
  ["app/[[...slug]]/page.tsx", "app/[[...slug]]/page.tsx", true],
  ["app/[slug]/page.tsx", "app/[id]/page.tsx", false],
  ["app/*/page.tsx", "app/[id]/page.tsx", true],
  ["app/(group)/page.tsx", "app/(group)/page.tsx", true],
  ["app/(group)/page.tsx", "app/group/page.tsx", false],
  ["app/@(modal)/page.tsx", "app/@(modal)/page.tsx", true],
  ["a{b}.ts", "a{b}.ts", true],
  ["src/[.ts", "src/[.ts", true],
  // A wildcard in the name of a real file is an ordinary character.
  ["src/ab.ts", "src/*.ts", false],
  ["src/a?.ts", "src/*", false],
  ["src/a*.ts", "src/*.ts", false],
  ["src/[ab].ts", "src/?.ts", false],
  ["src/a/b.ts", "src/**", false],
  ["src/*.ts", "src/*.ts", true],
])("%s covers the file %s: %s", (pattern, file, expected) => {
  expect(covers(patternFor(pattern), file.split("/"))).toBe(expected);
});

test("covers what picomatch matches, and everything below a path", () => {
  fc.assert(
    fc.property(globs, fc.constantFrom(...universe), (glob, file) => {
      const isBelow = file.startsWith(`${glob}/`);
      // For picomatch "a/**" includes "a"; here it covers only what is below.
      fc.pre(!(glob.endsWith("/**") && picomatch.isMatch(file, glob.replace(/(?:\/\*\*)+$/, ""))));
      expect(covers(patternFor(glob), file.split("/"))).toBe(isBelow || picomatch.isMatch(file, glob));
    }),
    { numRuns: 2_000 },
  );
});

test("overlaps with every file it covers", () => {
  fc.assert(
    fc.property(globs, fc.constantFrom(...universe), (glob, file) => {
      fc.pre(covers(patternFor(glob), file.split("/")));
      expect(overlap(patternFor(glob), patternFor(file))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["a/{b,c}.ts", ["a/b.ts", "a/c.ts"]],
  ["{a,b}/{c,d}", ["a/c", "a/d", "b/c", "b/d"]],
  ["{a,{b,c}}", ["a", "b", "c"]],
  ["a{,.test}.ts", ["a.ts", "a.test.ts"]],
  ["{a}", ["{a}"]],
  ["a{1..3}", ["a*"]],
])("%s expands to %j", (path, expected) => {
  expect(expandPatternBraces(path)?.toSorted()).toEqual(expected.toSorted());
});

test("rejects braces with too many alternatives", () => {
  expect(expandPatternBraces("{a,b}".repeat(6))).toHaveLength(MAX_ALTERNATIVES);
  expect(expandPatternBraces("{a,b}".repeat(7))).toBeUndefined();
  expect(expandPatternBraces("{a,b}".repeat(200))).toBeUndefined();
});

test("no pattern takes long to compare", () => {
  const start = processorMs();
  expect(overlap(patternFor(`${"*a".repeat(500)}b`), patternFor("a".repeat(1_000)))).toBe(false);
  expect(covers(patternFor(`${"*a".repeat(500)}b`), ["a".repeat(1_000)])).toBe(false);
  expect(
    covers(
      patternFor(`${"**/a/".repeat(100)}b`),
      Array.from({ length: 500 }, () => "a"),
    ),
  ).toBe(false);
  expect(processorMs() - start).toBeLessThan(2_000);
});
