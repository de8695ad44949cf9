// Generates Gemini CLI policy files for the tiers and the safety baseline. Rules in policies/ name their agent, because they apply to every
// agent in the conversation; an attempt's own file needs no name. Pure.

import { createHash } from "node:crypto";
import { baselineRules, contentRules, damageRules } from "./baseline.ts";
import { type DenyRule, MAX_PRIORITY, policyText, ruleText } from "./policy-file.ts";
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

/** Tools of a conversation with a user. An attempt does one phase by itself, and each of them costs it tokens in every request. */
export const conversationTools: readonly string[] = [
  "invoke_agent",
  "activate_skill",
  "enter_plan_mode",
  "exit_plan_mode",
];

/** The complete policy of one attempt: its tier, no tools of a conversation, and the baseline, above whatever the user's own policies allow. */
export function attemptPolicy(tier: Tier): string {
  const alone = ruleText({
    why: "Written by Maestro for one attempt: it does its phase by itself.",
    toolName: conversationTools,
    priority: MAX_PRIORITY,
    denyMessage:
      "An attempt does its phase by itself, without other agents, skills and plan mode. Say in your report what is missing.",
  });
  const baseline = policyText(
    ["Written by Maestro for one attempt: the safety baseline, which applies even where no hook runs."],
    baselineRules.map((rule) => ({ ...rule, priority: MAX_PRIORITY })),
  );
  const own = tierPolicy(tier);
  return [...(own === null ? [] : [own]), alone, baseline].join("\n");
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
    ["safety-baseline.toml", policyText(baselineHead, damageRules)],
    ...tiers.map((tier) => [tierFiles[tier].name, tierText(tier)] as const),
  ]);
}

const baselineHead = [
  "The safety baseline: a coarse but certain backstop for a hook that fails. Everything it denies, the guard denies too; the guard detects more.",
  "It holds in every conversation, so it denies only damage. The files of the tiers deny agents to write file content through the shell.",
  'A commandRegex is matched on JSON text, from the start of each simple command: a quote in the command is \\" here, its end is a bare quote.',
  "Generated from src/agents/baseline.ts: change it there.",
];

function tierText(tier: Tier): string {
  const agents = [...agentTiers].filter(([, its]) => its === tier).map(([agent]) => agent);
  const { does } = tierFiles[tier];
  const head = [
    `The ${tier} tier: each of its agents ${does}.`,
    "Generated from src/agents/policies.ts: change it there.",
    ...(deniedTools[tier].length === 0
      ? [`Only file content through the shell is denied to ${agents.join(", ")} beyond safety-baseline.toml.`]
      : []),
  ];
  const hasShell = !deniedTools[tier].includes("run_shell_command");
  const content = agents.flatMap((agent) =>
    contentRules.map((rule) => ({ ...rule, why: `${agent}: ${rule.why}`, subagent: agent, priority: MAX_PRIORITY })),
  );
  return policyText(head, [...rulesOf(tier), ...(hasShell ? content : [])]);
}

/** The tools that every agent of a tier is denied; none for the tier that has every tool. */
function rulesOf(tier: Tier): DenyRule[] {
  if (deniedTools[tier].length === 0) return [];
  const { does, instead } = tierFiles[tier];
  const agents = [...agentTiers].filter(([, its]) => its === tier).map(([agent]) => agent);
  return agents.map((agent) => ({
    subagent: agent,
    toolName: deniedTools[tier],
    priority: MAX_PRIORITY,
    denyMessage: `${agent} has no such tool: it ${does}. ${instead}`,
  }));
}

/** The denied tools of all tiers, each rule for one agent. */
export function tierRules(): DenyRule[] {
  return (Object.keys(tierFiles) as Tier[]).flatMap(rulesOf);
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
