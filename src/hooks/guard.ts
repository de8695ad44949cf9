// The complete command guard, as one bundle that is loaded only when the quick check cannot decide (tools/build.js).

import { isOwnScratch } from "../disk/own-scratch.ts";
import { judgeShellCall } from "../guard/judge.ts";
import type { Machine } from "../guard/machine.ts";
import type { Verdict } from "../guard/verdict.ts";

export function judgeOnMachine(input: Readonly<Record<string, unknown>>, ground: Machine): Verdict {
  return judgeShellCall(input, { ...ground, isOwnScratch });
}
