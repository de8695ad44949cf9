import { expect, test } from "vitest";
import type { SessionPhase } from "../../session/session.ts";
import { runtimeLines, runtimesOf, runtimeTexts } from "./report-runtimes.ts";

type Played = [runtime: string, insteadOf?: string];
const attempted = (...attempts: Played[]) =>
  ({
    attempts: attempts.map(([runtime, instead_of], at) => ({ attempt: at + 1, runtime, instead_of })),
  }) as unknown as SessionPhase;
const phase = (id: string, ...attempts: Played[]) => ({ id, runtimes: runtimesOf(attempted(...attempts)) });

test("a runtime that took over is named with the one that it replaced", () => {
  const phases = [phase("1", ["gemini"], ["gemini"], ["claude", "gemini"]), phase("2"), phase("3", ["codex"])];
  expect(runtimeLines(phases, 80)).toEqual([
    "Runtimes:",
    "- phase 1: gemini, then claude instead of gemini",
    "- phase 3: codex",
  ]);
});

test("names no runtime when one played all phases, and ignores native delegations", () => {
  expect(runtimeLines([phase("1", ["claude"]), phase("2", ["native"], ["claude"])], 80)).toEqual([]);
});

test("a list of attempts names the runtime of each, unless the session has only one", () => {
  const [one, other] = [attempted(["gemini"], ["claude", "gemini"]), attempted(["native"], ["gemini"])];
  expect([...runtimeTexts([one, other], one)]).toEqual([
    [1, "gemini"],
    [2, "claude instead of gemini"],
  ]);
  expect([...runtimeTexts([one, other], other)]).toEqual([[2, "gemini"]]);
  expect(runtimeTexts([other], other).size).toBe(0);
});
