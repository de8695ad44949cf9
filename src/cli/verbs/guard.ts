// maestro guard ...: the guard, on the command line.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const guard: Verb = {
  usage: "guard",
  summary: "check shell commands and file writes",
  examples: ['maestro guard check "rm -rf node_modules"'],
  verbs: [
    {
      usage: "check [command]",
      summary: "show whether agents may run a command (default or '-': standard input)",
      options: [
        { flags: "--jsonl", meaning: "check JSON Lines, each with id and either command, or tool_name and tool_input" },
        json,
      ],
      examples: [
        'maestro guard check "npm test > test.log"',
        'maestro guard check "echo x > notes.md" --json',
        "maestro guard check --jsonl < calls.jsonl",
      ],
      run: async () => (await import("../check/guard.ts")).guardCheck,
    },
  ],
};
