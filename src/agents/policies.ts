// Tiers and the safety baseline as policy files of Gemini CLI, from one table. Pure text; other code writes it to disk. In the extension's
// policies/ each rule names its agent, because it would otherwise apply to all. In an attempt's own process the agent is the only one.
import { createHash } from "node:crypto";
import { baselineRules } from "./baseline.ts";
import { MAX_PRIORITY, policyText, ruleText } from "./policy-file.ts";
import { agentTiers, deniedTools, type Tier } from "./tiers.ts";

/** What a tier denies, for the process of one attempt; it applies even when every call is approved (yolo). Null when nothing is denied. */
export function tierPolicy(tier: Tier): string | null {
  if (deniedTools[tier].length === 0) return null;
  return ruleText({
    why: `Written by Maestro for one attempt: what a ${tier} agent must not have.`,
    toolName: deniedTools[tier],
    priority: MAX_PRIORITY,
    denyMessage: `A ${tier} agent has no such tool. Say in your report what should be done instead.`,
  });
}

/** The complete policy of one attempt: its tier and the baseline, above whatever the user's own policies allow. */
export function attemptPolicy(tier: Tier): string {
  const baseline = policyText(
    ["Written by Maestro for one attempt: the safety baseline, which applies even where no hook runs."],
    baselineRules.map((rule) => ({ ...rule, priority: MAX_PRIORITY })),
  );
  const own = tierPolicy(tier);
  return own === null ? baseline : `${own}\n${baseline}`;
}

const tierFiles: Readonly<Record<Tier, { name: string; does: string; instead: string }>> = {
  "read-only": {
    name: "agent-read-only.toml",
    does: "reads and reasons",
    instead: "Put what should be written or run into your report.",
  },
  "read-shell": {
    name: "agent-read-shell.toml",
    does: "runs commands but does not write files",
    instead: "Put the change to make into your report.",
  },
  "read-write": {
    name: "agent-read-write.toml",
    does: "writes files but does not run commands",
    instead: "Put the command to run into your report.",
  },
  full: { name: "agent-full-access.toml", does: "has every tool", instead: "" },
};

/** What is committed in policies/ and active wherever the extension is installed: name and text of every file. */
export function extensionPolicies(): ReadonlyMap<string, string> {
  const tiers = Object.keys(tierFiles) as Tier[];
  return new Map([
    ["safety-baseline.toml", policyText(baselineHead, baselineRules)],
    ...tiers.map((tier) => [tierFiles[tier].name, tierText(tier)] as const),
  ]);
}

const baselineHead = [
  "The safety baseline: a coarse but certain backstop for a hook that fails. Everything it denies, the guard denies too; the guard detects more.",
  'A commandRegex is matched on JSON text, from the start of each simple command: a quote in the command is \\" here, its end is a bare quote.',
  "Redirections are visible only in the whole command line, so those rules match from its start.",
  "Generated from src/agents/baseline.ts: change it there.",
];

function tierText(tier: Tier): string {
  const agents = [...agentTiers].filter(([, its]) => its === tier).map(([agent]) => agent);
  const { does, instead } = tierFiles[tier];
  const head = [
    `The ${tier} tier: each of its agents ${does}.`,
    "Generated from src/agents/policies.ts: change it there.",
    ...(deniedTools[tier].length === 0
      ? [`Nothing is denied to ${agents.join(", ")} beyond safety-baseline.toml.`]
      : []),
  ];
  const rules = agents.map((agent) => ({
    subagent: agent,
    toolName: deniedTools[tier],
    priority: MAX_PRIORITY,
    denyMessage: `${agent} has no such tool: it ${does}. ${instead}`,
  }));
  return policyText(head, deniedTools[tier].length === 0 ? [] : rules);
}

export interface InstalledPolicy {
  name: string;
  text: string;
}

/** The tier files for the user's own policies folder, where they apply without the extension and override what the user allows by flag. */
export function userPolicies(): InstalledPolicy[] {
  return (Object.keys(tierFiles) as Tier[]).map((tier) => ({
    name: tierFiles[tier].name.replace(/^agent-/, "maestro-"),
    text: sealed(tierText(tier)),
  }));
}

/** `older` is an unedited file of Maestro that another version wrote. */
export type PolicyState = "absent" | "current" | "older" | "edited" | "foreign";

/** Classifies a file found under the name of `policy`. */
export function policyStateOf(policy: InstalledPolicy, found: string | undefined): PolicyState {
  if (found === undefined) return "absent";
  if (found === policy.text) return "current";
  const seal = sealLine.exec(found);
  if (seal === null) return "foreign";
  return found === sealed(found.slice(seal[0].length)) ? "older" : "edited";
}

const sealLine =
  /^# Installed by "maestro agents install-policies"; left alone once it is edited\. sha256 [0-9a-f]{64}\n/;

function sealed(text: string): string {
  const digest = createHash("sha256").update(text).digest("hex");
  return `# Installed by "maestro agents install-policies"; left alone once it is edited. sha256 ${digest}\n${text}`;
}
