// maestro handoff ...: what agents hand over.

import { handoffFormats } from "../../../handoff/output/formats.ts";
import { json } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const handoff: Verb = {
  usage: "handoff",
  summary: "check the hand-offs of agents",
  examples: ["maestro handoff check report.md"],
  verbs: [
    {
      usage: "check <file>",
      summary: "check a hand-off ('-' for standard input)",
      options: [
        { flags: "--format <format>", meaning: "format of the file (default: detected)", choices: handoffFormats },
        { flags: "--no-dependents", meaning: "do not require a Downstream Context: no phase waits for this one" },
        json,
      ],
      examples: ["maestro handoff check report.md", "gemini -o json < prompt | maestro handoff check - --json"],
      run: async () => (await import("../../check/handoff.ts")).handoffCheck,
    },
  ],
};
