// The command `maestro` on the PATH: this installation's program itself, or the script that `maestro setup` writes to start it. Without
// either, a hint shows the command line that works for this user.

import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { errno } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { commandLineOf } from "../extension-path.ts";
import { programRoot } from "../program-root.ts";
import { findProgram } from "../search-path.ts";

export const ownProgram = join(programRoot, "dist", "maestro.js");

export const launcherScript = `#!/bin/sh
program='${ownProgram.replaceAll("'", `'\\''`)}'
if [ ! -e "$program" ]; then
  echo "ERROR: Maestro was uninstalled or moved: $program does not exist" >&2
  echo "  Install it again, or delete this command: rm '$0'" >&2
  exit ${exitCodes.environment}
fi
exec node "$program" "$@"
`;

/** How `maestro` on the PATH starts this installation; null when it is not there, or starts something else. */
export function ownLauncher(path: string | undefined): "program" | "script" | null {
  const found = findProgram("maestro", path);
  if (found === undefined) return null;
  try {
    if (realpathSync(found) === realpathSync(ownProgram)) return "program";
    return readFileSync(found, "utf8").startsWith(launcherScript) ? "script" : null;
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return null;
  }
}

/** The command that starts Maestro for a user with that PATH. */
export function programFor(path: string | undefined): string {
  return ownLauncher(path) === null ? commandLineOf(programRoot) : "maestro";
}

/** Commands in double quotes, as in `Run "maestro resume".`, as they work when this user pastes them; then in backquotes, as they have quotes. */
export function pasteable(text: string, path: string | undefined): string {
  if (!text.includes('"maestro ')) return text;
  const program = programFor(path);
  return program === "maestro"
    ? text
    : text.replace(/"maestro( [^"\n]*)"/g, (_, words: string) => `\`${program}${words}\``);
}
