// ${...} in manifests and hooks: what Gemini CLI fills in, and the files of ours that are named with it.

import { exists } from "./tree.ts";

const filledIn = ["extensionPath", "workspacePath", "/", "pathSeparator"];

/** Files of the extension that a command line names and that do not exist. */
export function missingFiles(root: string, commandLine: string): string[] {
  const plain = commandLine.replace(/\$\{(?:\/|pathSeparator)\}/g, "/");
  return [...plain.matchAll(/\$\{extensionPath\}\/([^\s"';|&)]+)/g)]
    .map(([, path]) => path as string)
    .filter((path) => !exists(root, path));
}

/** Placeholders that nobody fills in; what is written in capitals is a variable of the shell. */
export function unknownPlaceholders(text: string): string[] {
  return [...text.matchAll(/\$\{([^}]*)\}/g)]
    .map(([, name]) => name as string)
    .filter((name) => !filledIn.includes(name) && !/^[A-Z][A-Z0-9_]*(?:[:#%?+-].*)?$/.test(name));
}
