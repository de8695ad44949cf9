// Locates agents/ and protocols/: in the extension that the environment names, or in this program's own, the directory above dist/. Maestro
// never writes there.

import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EXTENSION_PATH } from "./extension-path.ts";

export const programRoot = resolve(dirname(fileURLToPath(import.meta.url)), "..");

type Environment = Readonly<Record<string, string | undefined>>;

export function agentsFolder(env: Environment): string {
  return join(extensionRoot(env), "agents");
}

/** The extension that the environment names, otherwise the program's own. */
export function extensionRoot(env: Environment): string {
  return env[EXTENSION_PATH]?.trim() || programRoot;
}
