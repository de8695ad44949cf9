// Locates this program's own agents/ and protocols/: the directory above dist/. Maestro never writes there.

import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EXTENSION_PATH } from "./extension-path.ts";

export const programRoot = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** The agents folder of the extension that the environment names, otherwise the program's own. */
export function agentsFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env[EXTENSION_PATH]?.trim() || programRoot, "agents");
}
