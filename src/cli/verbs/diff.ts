// maestro diff: shows the change of an attempt, or of the session.

import { archivedSession, attemptWithChanges, json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const diff: Verb = {
  usage: "diff [phase]",
  summary: "show what an attempt, or the whole session, changed, as a unified diff",
  options: [
    attemptWithChanges,
    archivedSession,
    { flags: "--stat", meaning: "one line per file, with line counts" },
    json,
  ],
  examples: ["maestro diff", "maestro diff 3", "maestro diff 3 --stat", "maestro diff 3 --attempt 1 | git apply"],
  run: async () => (await import("../work/diff.ts")).diff,
};
