// Checks the agents that phases name: spelled in canonical form, known, loadable, enabled, and able to do what the phase asks for.
import { normalizeAgentName } from "../../agents/names.ts";
import { nearest } from "../../agents/nearest.ts";
import { type BrokenAgent, brokenText } from "../../agents/resolve.ts";
import type { Tier } from "../../agents/tiers.ts";
import { addWarning, inOneLine, quotedValue, reportError } from "../issue.ts";
import { type Findings, fileFields, type PlanPhase } from "../plan.ts";
import type { DraftPhase } from "../read-phase.ts";

export interface AgentContext {
  /** All known agents; when empty, names are checked only for their form. */
  agents: readonly { name: string; tier: Tier }[];
  disabled: readonly string[];
  /** Agent files that cannot be used, and why. */
  broken?: readonly BrokenAgent[];
}

const FILE_FIELDS = `${fileFields.slice(0, -1).join(", ")} or ${fileFields.at(-1)}`;

/** An agent's name also becomes part of file names. */
const nameForm = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Also rewrites the name of each phase's owner into its canonical form. */
export function checkAgents(drafts: readonly DraftPhase[], context: AgentContext, findings: Findings): void {
  const tiers = new Map(context.agents.map(({ name, tier }) => [normalizeAgentName(name), tier]));
  const disabled = new Set(context.disabled.map(normalizeAgentName));
  const enabled = [...tiers.keys()].filter((name) => !disabled.has(name));
  const broken = new Map((context.broken ?? []).map((one) => [one.agent, one]));
  const writers = enabled.filter((name) => canWrite(tiers.get(name)));
  for (const draft of drafts) {
    const { phase, agents } = draft;
    for (const given of agents) {
      const name = normalizeAgentName(given);
      if (given === phase.agent) phase.agent = name;
      const fault = tiers.has(name) ? undefined : broken.get(name);
      if (disabled.has(name)) {
        const message = `Phase ${phase.id}: the agent ${quotedValue(name)} is disabled; enable it or choose ${choice(enabled)}`;
        reportError(findings, "disabled_agent", phase.id, message);
      } else if (fault !== undefined) {
        const message = `Phase ${phase.id}: ${brokenText(fault)}; fix the file or choose ${choice(enabled)}`;
        reportError(findings, "broken_agent", phase.id, inOneLine(message));
      } else if (!nameForm.test(name) || (tiers.size > 0 && !tiers.has(name))) {
        const near = nearest(given.slice(0, 64), enabled);
        const advice = near === undefined ? "" : ` (did you mean "${near}"?)`;
        const message = `Phase ${phase.id}: the agent ${quotedValue(given)} does not exist${advice}; choose ${choice(enabled)}`;
        reportError(findings, "unknown_agent", phase.id, message, near);
      } else if (name !== given) {
        const message = `Phase ${phase.id}: the agent ${quotedValue(given)} is read as "${name}"; write it that way`;
        addWarning(findings, "agent_name_normalized", phase.id, message, name);
      }
    }
    const tier = tiers.get(phase.agent);
    if (tier === undefined) continue;
    if (canWrite(tier)) checkDeclaration(draft, findings);
    else checkCapability(phase, tier, writers, findings);
  }
}

/** Under strict ownership, a phase that owns no files may not change any. */
function checkDeclaration({ phase, declaresFiles }: DraftPhase, findings: Findings): void {
  if (declaresFiles) return;
  const what = `Phase ${phase.id} declares no files: under strict ownership every change it makes is rejected`;
  addWarning(findings, "no_files_declared", phase.id, `${what}; name them in ${FILE_FIELDS}`);
}

function checkCapability(phase: PlanPhase, tier: Tier, writers: readonly string[], findings: Findings): void {
  const owns = fileFields.flatMap((field) => phase[field]);
  if (owns.length === 0) return;
  const writer = writers.includes("coder") ? "coder" : writers[0];
  const what = `the agent "${phase.agent}" is ${tier} and cannot write ${quotedValue(owns[0] ?? "")}`;
  const advice = `give the phase to ${choice(writers)}, or remove its files`;
  reportError(findings, "agent_capability", phase.id, `Phase ${phase.id}: ${what}; ${advice}`, writer);
}

function canWrite(tier: Tier | undefined): boolean {
  return tier === "read-write" || tier === "full";
}

function choice(names: readonly string[]): string {
  return names.length === 0 ? "another agent" : `one of ${names.join(", ")}`;
}
