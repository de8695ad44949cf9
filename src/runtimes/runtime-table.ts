// Every runtime that calls a model, by name. The engine and the entry points use them only through this table.

import { MaestroError } from "../errors.ts";
import { acpRuntime, isAcpName } from "./acp/acp.ts";
import { claudeRuntime } from "./claude/claude.ts";
import { codexRuntime } from "./codex/codex.ts";
import { copilotRuntime } from "./copilot/copilot.ts";
import { geminiRuntime } from "./gemini/gemini.ts";
import { gooseRuntime } from "./goose/goose.ts";
import { opencodeRuntime } from "./opencode/opencode.ts";
import { piRuntime } from "./pi/pi.ts";
import { qwenRuntime } from "./qwen/qwen.ts";
import type { Runtime } from "./runtime.ts";

export const DEFAULT_RUNTIME = geminiRuntime.name;

export const runtimes: readonly Runtime[] = [
  geminiRuntime,
  claudeRuntime,
  codexRuntime,
  qwenRuntime,
  opencodeRuntime,
  copilotRuntime,
  gooseRuntime,
  piRuntime,
];

/** What a name can mean. */
export interface Repertoire {
  all: readonly Runtime[];
  /** Why files that describe runtimes are left out. */
  problems: readonly string[];
  /** Makes a runtime of a name that says all, such as `acp:agent`; undefined for other names. */
  make?: (name: string) => Runtime | undefined;
}

export const builtIn: Repertoire = { all: runtimes, problems: [] };

/** `where`: what named it, for the message. */
export function runtimeNamed(
  name: string,
  where = "--runtime",
  { all, problems, make }: Repertoire = builtIn,
): Runtime {
  const found = all.find((one) => one.name === name) ?? make?.(name);
  if (found !== undefined) return found;
  const names = all.map((one) => one.name).join(", ");
  const broken = problems.map((problem) => `\n  ${problem}`).join("");
  throw new MaestroError("usage", `Unknown runtime ${JSON.stringify(name)} (${where})`, {
    hint: `The runtimes are ${names}, and acp:<command>. To run a plan without a model, use "maestro rehearse <plan>".${broken}`,
  });
}

/** The runtime that reads the output of a recorded attempt; attempts of a conversation and rehearsals print what Gemini CLI prints. */
export function readerOf({ runtime }: { runtime: string }): Runtime {
  if (isAcpName(runtime)) return acpRuntime(runtime, [], []);
  return runtimes.find(({ name }) => name === runtime) ?? geminiRuntime;
}
