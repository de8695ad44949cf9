// Every runtime that a name can mean here: built in, described by a file of the user or of the project, or an agent of the Agent Client
// Protocol by its command.

import { fileURLToPath } from "node:url";
import { acpRuntime, isAcpName } from "../../runtimes/acp/acp.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { type Repertoire, runtimeNamed, runtimes } from "../../runtimes/runtime-table.ts";
import { type Described, describedRuntimes } from "./described.ts";

/** Beside this program, in dist/. */
const bridge = [process.execPath, fileURLToPath(new URL("./acp.js", import.meta.url))];

interface WholeRepertoire extends Repertoire {
  make: (name: string) => Runtime | undefined;
  /** Those that files describe; the project's may start nothing without consent. */
  described: readonly Described[];
  /** Those that `make` has made. */
  made: ReadonlyMap<string, Runtime>;
}

/** What decides which runtimes exist: the user's environment and the project's directory. */
interface Place {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

export function repertoireOf({ env, cwd }: Place): WholeRepertoire {
  const { found: described, problems } = describedRuntimes(env, cwd);
  const made = new Map<string, Runtime>();
  const make = (name: string) => {
    if (isAcpName(name) && !made.has(name)) made.set(name, acpRuntime(name, bridge, runtimes));
    return made.get(name);
  };
  return { all: [...runtimes, ...described.map(({ runtime }) => runtime)], problems, make, described, made };
}

interface RuntimePhase {
  id: string;
  runtime?: string | undefined;
}

/** Throws for a phase with a runtime that does not exist here; a plan's own text says nothing about it. */
export function requireKnownRuntimes(place: Place, phases: readonly RuntimePhase[]): void {
  const known = repertoireOf(place);
  for (const { id, runtime } of phases) {
    if (runtime !== undefined) runtimeOfPhase(id, runtime, known);
  }
}

export function runtimeOfPhase(id: string, runtime: string, known: Repertoire): Runtime {
  return runtimeNamed(runtime, `phase ${id} of the plan`, known);
}
