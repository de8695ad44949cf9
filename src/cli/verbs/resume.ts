// maestro resume: runs the active session from its current state.

import { dashboardBeside, detach, engineOptions } from "../options.ts";
import type { Verb } from "../verb.ts";

export const resume: Verb = {
  usage: "resume",
  summary: "resume the active session",
  options: [
    ...engineOptions,
    detach,
    dashboardBeside,
    { flags: "--accept-session", meaning: "run a session that you did not start on this machine" },
    { flags: "--accept-plan-change", meaning: "continue with a plan file that was changed after the start" },
  ],
  examples: ["maestro resume", "maestro resume --yes", "maestro resume --max-concurrent 2"],
  run: async () => (await import("../run/resume.ts")).resume,
};
