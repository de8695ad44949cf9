// The variable that says where the extension is. It is read from the environment only, so that a repository cannot choose where agents come
// from.

import { join } from "node:path";

export const EXTENSION_PATH = "MAESTRO_EXTENSION_PATH";

/**
 * The command with which a user or a model runs the command line of the extension in `root`, whatever their PATH is. Quoted for a shell: no
 * character of the path expands.
 */
export function commandLineOf(root: string): string {
  return `node ${JSON.stringify(join(root, "dist", "maestro.js")).replace(/[$`]/g, "\\$&")}`;
}
