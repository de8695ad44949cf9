// Which runtime the user chose for which agent: `--runtime`, MAESTRO_RUNTIMES by agent, and the list of `--fallback`. Pure.

import { normalizeAgentName } from "../agents/names.ts";
import { MaestroError } from "../errors.ts";
import { builtIn, DEFAULT_RUNTIME, type Repertoire, runtimeNamed } from "./runtime-table.ts";

export interface Selection {
  /** The name of the runtime of an agent. */
  byAgent: (agent: string) => string;
  /** Whether the setting names a runtime for an agent, so that `--runtime` does not count for it. */
  isMapped: (agent: string) => boolean;
  /** The agents that the setting names. */
  agents: readonly string[];
  /** The runtime of every agent that has none of its own: `--model` names a model of it. */
  main: string;
  /** Those that take over, in order. */
  fallback: readonly string[];
}

/** `setting`: `*=gemini, coder=claude`; `flag`: the run's default, which `*` of the setting overrides. An unknown name throws. */
export function selectionOf(
  flag: string | undefined,
  setting: string,
  fallback: string | undefined,
  known: Repertoire = builtIn,
): Selection {
  const named = namedAgents(setting, known);
  const whole = runtimeNamed(flag ?? DEFAULT_RUNTIME, "--runtime", known).name;
  const main = named.get("*") ?? whole;
  return {
    byAgent: (agent) => named.get(normalizeAgentName(agent)) ?? main,
    isMapped: (agent) => named.has(normalizeAgentName(agent)) || named.has("*"),
    agents: [...named.keys()].filter((agent) => agent !== "*"),
    main,
    fallback: listed(fallback ?? "").map((name) => runtimeNamed(name, "--fallback", known).name),
  };
}

function namedAgents(setting: string, known: Repertoire): Map<string, string> {
  const named = new Map<string, string>();
  for (const entry of listed(setting)) {
    const [, agent, runtime] = /^(\*|[A-Za-z0-9][\w-]*)=(acp:.+|[\w.:-]+)$/.exec(entry) ?? [];
    if (agent === undefined || runtime === undefined) {
      throw new MaestroError("usage", `MAESTRO_RUNTIMES: ${JSON.stringify(entry)} is not agent=runtime`, {
        hint: 'Write it as "*=gemini, coder=claude".',
      });
    }
    named.set(agent === "*" ? agent : normalizeAgentName(agent), runtimeNamed(runtime, "MAESTRO_RUNTIMES", known).name);
  }
  return named;
}

/** The command of an ACP agent has blanks, so a list with one is separated by commas alone. */
function listed(text: string): string[] {
  const parts = text.split(text.includes("acp:") ? "," : /[\s,]+/);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
