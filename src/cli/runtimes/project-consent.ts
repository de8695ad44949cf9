// Asks before a runtime of the project is used: its file came with the repository and names a program to start. The answer applies to this
// text of the file in this project.

import { relative } from "node:path";
import type { Described } from "../../engine/runtimes/described.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { isForgettable, UserRecord } from "../../store/files/user-record.ts";
import { oneLine } from "../../views/text/cell.ts";
import type { Io } from "../io.ts";

const everyTier = {
  agent: "<agent>",
  tier: "full",
  model: null,
  policyFile: null,
  isStreamed: true,
  extraArgs: [],
} as const;

/** Returns false, after showing what would be started, when the user declines or no terminal is attached. */
export async function mayUseRuntimes(
  io: Io,
  described: readonly Described[],
  { acceptRuntimes }: { acceptRuntimes?: boolean },
): Promise<boolean> {
  const record = new UserRecord(io.env);
  const asked = described.filter((one) => !record.knowsCommands(io.cwd, agreedTo(one)));
  if (asked.length === 0 || acceptRuntimes) return true;
  io.err("Runtimes of this project start these programs for agents, with your permissions:\n");
  for (const { path, runtime } of asked) {
    const command = runtime.host === undefined ? [runtime.program, ...runtime.argv(everyTier)].join(" ") : runtime.name;
    io.err(`  ${oneLine(`${runtime.name} (${relative(io.cwd, path)}): ${command}`)}\n`);
    for (const line of variablesOf(runtime)) io.err(`    ${oneLine(line)}\n`);
  }
  if (!io.interactive) {
    io.err(
      "ERROR: You have not agreed to these runtimes, and no terminal is attached to ask you\n" +
        "  If you trust them, pass --accept-runtimes.\n",
    );
    return false;
  }
  if (!/^\s*y(?:es)?\s*$/i.test((await io.ask("Use them? [y/N] ")) ?? "n")) return false;
  try {
    for (const one of asked) record.rememberCommands(io.cwd, agreedTo(one), io.now());
  } catch (error) {
    if (!isForgettable(error)) throw error;
    io.err(`WARNING: ${error.message}\n`);
  }
  return true;
}

/** What it gets of the user's and what it sets: a variable can be a secret, or name code that every program loads. */
function variablesOf({ credentials = [], environment, host }: Runtime): string[] {
  // An agent behind the protocol gets what its vendor's runtime gets.
  if (host !== undefined) return [];
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return [
    ...(credentials.length === 0 ? [] : [`gets your ${credentials.join(", ")}`]),
    ...(set.length === 0 ? [] : [`sets ${set.join(", ")}`]),
  ];
}

function agreedTo({ text, runtime }: Described): string[] {
  return [`runtime ${runtime.name}`, text];
}
