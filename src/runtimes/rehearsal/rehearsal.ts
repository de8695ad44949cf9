// The built-in runtime that plays every agent without a model. answer.ts builds its answers.

import { judgeGemini } from "../gemini/outcome.ts";
import type { Runtime } from "../runtime.ts";

/** `program` and `args` start a process that prints `rehearsedAnswer`. */
export function rehearsalRuntime(program: string, args: readonly string[]): Runtime {
  return {
    name: "rehearsal",
    program,
    callsModel: false,
    install: "It is built into Maestro.",
    unattended: "",
    argv: () => [...args],
    payload: (prompt) => prompt,
    environment: {},
    vendor: /^(?:GEMINI_|GOOGLE_)/,
    capabilities: {
      tiers: ["read-only", "read-shell", "read-write", "full"],
      heldBy: "working only in its copy of the project",
      turnLimit: null,
      budget: null,
      streams: "words and calls",
      tokens: "none",
      atOnce: null,
      limits: [],
    },
    envFiles: [],
    pinned: [],
    distrust: {},
    judge: judgeGemini,
    progress: (known) => known,
    shown: () => null,
    quotaSign: () => null,
  };
}
