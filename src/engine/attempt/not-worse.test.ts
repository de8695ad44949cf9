import { expect, test } from "vitest";
import type { BaselineCommand } from "../../plan/baseline.ts";
import { whyWorse } from "./not-worse.ts";

const red: BaselineCommand = { command: "npx tsd", result: "fails_now", exit_code: 1, failing: ["error a"] };

test.each<
  [
    what: string,
    before: BaselineCommand | undefined,
    now: { code: number | null; failing: string[] | null },
    RegExp | null,
  ]
>([
  ["fails as before", red, { code: 1, failing: ["error a"] }, null],
  ["fails with less", red, { code: 1, failing: [] }, null],
  ["cannot run, as before", { ...red, result: "cannot_run", exit_code: 127 }, { code: 127, failing: [] }, null],
  [
    "fails with a new line",
    red,
    { code: 1, failing: ["error a", "error b"] },
    /did not have before the work:\n {2}error b$/,
  ],
  ["has another exit code", red, { code: 2, failing: ["error a"] }, /exit code was 1/],
  ["passed before", { ...red, result: "passes_already", exit_code: 0 }, { code: 1, failing: [] }, /it passed before/],
  ["timed out before", { ...red, result: "timed_out", exit_code: null }, { code: 1, failing: [] }, /no exit code/],
  ["has too many lines", red, { code: 1, failing: null }, /too many failing lines/],
  ["had too many lines", { ...red, failing: null }, { code: 1, failing: [] }, /too many failing lines/],
  ["has no baseline", undefined, { code: 1, failing: [] }, /no baseline is recorded/],
])("a command that %s (C55)", (_, before, now, reason) => {
  const why = whyWorse(before, now);
  if (reason === null) expect(why).toBeNull();
  else expect(why).toMatch(reason);
});
