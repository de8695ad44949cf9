// maestro workspace: creates the directories that Maestro needs in a project.

import type { Verb } from "../../verb.ts";

export const workspace: Verb = {
  usage: "workspace [state-dir]",
  summary: "create the state directory (default: MAESTRO_STATE_DIR)",
  examples: ["maestro workspace", "maestro workspace .gemini"],
  run: async () => (await import("../../session/state.ts")).workspace,
};
