// maestro state ...: the files of a project, for the documented scripts.

import type { Verb } from "../../verb.ts";

export const state: Verb = {
  usage: "state",
  summary: "read and write state files",
  examples: ["maestro state read .gemini/state/active-session.md"],
  verbs: [
    {
      usage: "read <path>",
      summary: "print a file of the project, byte for byte",
      examples: ["maestro state read .gemini/state/active-session.md"],
      run: async () => (await import("../../session/state.ts")).readState,
    },
    {
      usage: "write <path>",
      summary: "replace a file of the project with standard input, atomically",
      examples: ["maestro state write notes.md < draft.md"],
      run: async () => (await import("../../session/state.ts")).writeState,
    },
    {
      usage: "active",
      summary: "print the active session, or 'No active session'",
      examples: ["maestro state active"],
      run: async () => (await import("../../session/state.ts")).activeState,
    },
  ],
};
