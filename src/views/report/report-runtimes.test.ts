import { expect, test } from "vitest";
import type { SessionPhase } from "../../session/session.ts";
import { runtimeLines, runtimesOf } from "./report-runtimes.ts";

const phase = (id: string, ...attempts: [runtime: string, insteadOf?: string][]) => {
  const made = attempts.map(([runtime, instead_of], at) => ({ attempt: at + 1, runtime, instead_of }));
  return { id, runtimes: runtimesOf({ attempts: made } as unknown as SessionPhase) };
};

test("a runtime that took over is named with the one that it replaced", () => {
  const phases = [phase("1", ["gemini"], ["gemini"], ["claude", "gemini"]), phase("2"), phase("3", ["codex"])];
  expect(runtimeLines(phases, 80)).toEqual([
    "Runtimes:",
    "- phase 1: gemini, then claude instead of gemini",
    "- phase 3: codex",
  ]);
});

test("nothing is told when one runtime played all, and native delegations do not count", () => {
  expect(runtimeLines([phase("1", ["claude"]), phase("2", ["native"], ["claude"])], 80)).toEqual([]);
});
