// Asks before the commands of a plan run: the plan may have come with a repository. The answer applies to these commands in this project.

import { isForgettable, UserRecord } from "../../store/files/user-record.ts";
import { oneLine } from "../../views/text/cell.ts";
import type { Io } from "../io.ts";

/** Returns false, after showing the commands, when the user declines or no terminal is attached. */
export async function mayRunCommands(
  io: Io,
  commands: readonly string[],
  setup: string,
  { yes }: { yes?: boolean },
): Promise<boolean> {
  const record = new UserRecord(io.env);
  const all = setup === "" ? [...commands] : [setup, ...commands];
  if (yes || record.knowsCommands(io.cwd, all)) return true;
  io.err("The baseline runs these commands on a snapshot of the project, with your permissions:\n");
  for (const command of all) io.err(`  ${oneLine(command)}\n`);
  if (!io.interactive) {
    io.err(
      "ERROR: You have not agreed to run these commands, and no terminal is attached to ask you\n" +
        "  If you trust them, pass --yes.\n",
    );
    return false;
  }
  if (!/^\s*y(?:es)?\s*$/i.test((await io.ask("Run them? [y/N] ")) ?? "n")) return false;
  try {
    record.rememberCommands(io.cwd, all, io.now());
  } catch (error) {
    if (!isForgettable(error)) throw error;
    io.err(`WARNING: ${error.message}\n`);
  }
  return true;
}
