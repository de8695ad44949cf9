// Resolves a name that the user wrote to an agent of the roster, or to the lines that say why it cannot. Pure.
import { normalizeAgentName } from "./names.ts";
import { nearest } from "./nearest.ts";

export type Resolution =
  | { kind: "found"; name: string }
  | { kind: "unknown"; lines: string[] }
  | { kind: "disabled" | "broken"; name: string; lines: string[] };

/** An agent file that exists and cannot be used. */
export interface BrokenAgent {
  agent: string;
  file: string;
  reason: string;
}

export function brokenText({ agent, file, reason }: BrokenAgent): string {
  return `the agent "${agent}" cannot be used: ${file} is broken (${reason})`;
}

/** `names` and `disabled` hold canonical names; `name` may have any spelling. */
export function resolveAgent(
  name: string,
  names: readonly string[],
  disabled: readonly string[] = [],
  broken: readonly BrokenAgent[] = [],
): Resolution {
  const wanted = normalizeAgentName(name);
  const available = names.filter((candidate) => !disabled.includes(candidate));
  if (available.includes(wanted)) return { kind: "found", name: wanted };

  const list = `  Available agents: ${available.join(", ") || "(none)"}`;
  if (names.includes(wanted)) {
    const lines = [`ERROR: Agent '${wanted}' is disabled by MAESTRO_DISABLED_AGENTS`, list];
    return { kind: "disabled", name: wanted, lines };
  }
  const fault = broken.find(({ agent }) => agent === wanted);
  if (fault !== undefined) {
    const lines = [`ERROR: Agent '${wanted}' is broken: ${fault.file}: ${fault.reason}`, list];
    return { kind: "broken", name: wanted, lines };
  }
  const closest = nearest(wanted, available);
  const suggestion = closest === undefined ? [] : [`  Did you mean: ${closest}?`];
  return { kind: "unknown", lines: [`ERROR: Agent '${name}' not found in agents/`, ...suggestion, list] };
}

/** Parses MAESTRO_DISABLED_AGENTS: names separated by commas or spaces. A name that is not an agent disables nothing and is reported. */
export function parseDisabled(
  value: string | undefined,
  names: readonly string[],
): { disabled: string[]; warnings: string[] } {
  const written = (value ?? "").split(/[\s,]+/).filter((name) => name !== "");
  const wanted = [...new Set(written.map(normalizeAgentName))];
  return {
    disabled: wanted.filter((name) => names.includes(name)),
    warnings: wanted
      .filter((name) => !names.includes(name))
      .map((name) => notAnAgent("MAESTRO_DISABLED_AGENTS", name, names)),
  };
}

/** A warning about a setting that names an agent that does not exist. */
export function notAnAgent(setting: string, name: string, names: readonly string[]): string {
  const closest = nearest(name, names);
  const suggestion = closest === undefined ? "" : ` (did you mean "${closest}"?)`;
  return `${setting} names "${name}", which is not in agents/ and is ignored${suggestion}`;
}
