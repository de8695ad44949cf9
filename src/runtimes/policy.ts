// A tier as a policy file of Gemini CLI: handed to a process by `--policy`, it holds even when every call is approved (yolo).
// The CLI reads it only when its name ends in `.toml`; one that it cannot read or parse denies nothing.
import { deniedTools, type Tier } from "../agents/tiers.ts";

/** The highest the CLI takes: above what its user allowed by hand, by flag or in a policy of his own. */
const PRIORITY = 999;

/** The file's text; null when the tier denies nothing. */
export function tierPolicy(tier: Tier): string | null {
  const denied = deniedTools[tier];
  if (denied.length === 0) return null;
  return `# Written by Maestro for one attempt: what a ${tier} agent must not have.
[[rule]]
toolName = [${denied.map((tool) => `"${tool}"`).join(", ")}]
decision = "deny"
priority = ${PRIORITY}
denyMessage = "A ${tier} agent has no such tool. Say in your report what should be done instead."
`;
}
