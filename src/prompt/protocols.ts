// Which protocols an agent gets. Pure.

import type { Protocols } from "../agents/protocols.ts";
import { agentTiers, mayWrite } from "../agents/tiers.ts";

/** An agent whose tier writes no files does not get the rules about writing them. */
export function protocolsFor(agent: string, { base, safety }: Protocols): string[] {
  return mayWrite(agentTiers.get(agent)) ? [base, safety] : [base.replace(writingSection, "")];
}

const writingSection = /^## File Writing Protocol\n[\s\S]*?(?=^## )/m;
