// maestro agents ...: the agents and what they may touch.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const agents: Verb = {
  usage: "agents",
  summary: "check the agents and install their policies",
  examples: ["maestro agents check"],
  verbs: [
    {
      usage: "check",
      summary: "check that every agent has only the tools of its tier",
      options: [{ flags: "--quiet", meaning: "print nothing when every agent passes" }, json],
      examples: ["maestro agents check", "maestro agents check --json"],
      run: async () => (await import("../check/agents.ts")).agentsCheck,
    },
    {
      usage: "install-policies",
      summary: "install the tiers as your own Gemini CLI policies, which no project can override",
      options: [
        { flags: "--remove", meaning: "remove the installed policies, except files that were edited" },
        { flags: "--dry-run", meaning: "show what would change, and change nothing" },
        json,
      ],
      examples: ["maestro agents install-policies --dry-run", "maestro agents install-policies --remove"],
      isDecision: true,
      run: async () => (await import("../check/install-policies.ts")).installPolicies,
    },
  ],
};
