import { expect, test } from "vitest";
import { clause, headline } from "./headline.ts";

test.each([
  ["one line", "one line"],
  ["\n first \nsecond", "first "],
  ["Changed outside of its files:\n- a.ts\n- b.ts", "Changed outside of its files: a.ts, b.ts"],
  ["Conflicts: \n\n  a.ts (modified by coder)\n", "Conflicts: a.ts (modified by coder)"],
  ["Build failed:\nerror TS1\nerror TS2", "Build failed: error TS1"],
  ["Changed:\n- a.ts\n- b.ts\nThey are in the project.", "Changed: a.ts, b.ts"],
  ["nothing follows:", "nothing follows:"],
  ["", ""],
])("%j has the headline %j", (message, line) => {
  expect(headline(message)).toBe(line);
});

test("takes no more of a long list than fits on a line", () => {
  expect(headline(`Files:\n${"- a\n".repeat(100_000)}`).length).toBeLessThan(100);
});

test.each([
  ["The model gave an empty response.\nsee below", "The model gave an empty response"],
  ["No such module", "No such module"],
  ["Reading ...", "Reading ..."],
])("%j is the clause %j", (message, part) => {
  expect(clause(message)).toBe(part);
});
