// Every runtime that a name can stand for here: built in, described by a file of the user or of the project, or an agent of the Agent Client
// Protocol by its command.

import { fileURLToPath } from "node:url";
import { type Described, describedRuntimes } from "../../engine/runtimes/described.ts";
import { acpRuntime, isAcpName } from "../../runtimes/acp/acp.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { type Repertoire, runtimes } from "../../runtimes/runtime-table.ts";
import type { Io } from "../io.ts";

/** Beside this program, in dist/. */
const bridge = [process.execPath, fileURLToPath(new URL("./acp.js", import.meta.url))];

interface WholeRepertoire extends Repertoire {
  make: (name: string) => Runtime | undefined;
  /** Those that files describe; the project's may start nothing without consent. */
  described: readonly Described[];
  /** Those that `make` has made. */
  made: ReadonlyMap<string, Runtime>;
}

export function repertoireOf(io: Pick<Io, "env" | "cwd">): WholeRepertoire {
  const { found: described, problems } = describedRuntimes(io.env, io.cwd);
  const made = new Map<string, Runtime>();
  const make = (name: string) => {
    if (isAcpName(name) && !made.has(name)) made.set(name, acpRuntime(name, bridge, runtimes));
    return made.get(name);
  };
  return { all: [...runtimes, ...described.map(({ runtime }) => runtime)], problems, make, described, made };
}
