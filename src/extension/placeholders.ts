// ${...} in manifests and hooks: the placeholders that Gemini CLI replaces, and the extension's files named with them.

import { exists } from "./tree.ts";

const filledIn = ["extensionPath", "workspacePath", "/", "pathSeparator"];

/** Files of the extension that a command line names and that do not exist. */
export function missingFiles(root: string, commandLine: string): string[] {
  const plain = commandLine.replace(/\$\{(?:\/|pathSeparator)\}/g, "/");
  return [...plain.matchAll(/\$\{extensionPath\}\/([^\s"';|&)]+)/g)]
    .map(([, path]) => path as string)
    .filter((path) => !exists(root, path));
}

/** Placeholders that Gemini CLI does not replace; an upper-case name is a shell variable. */
export function unknownPlaceholders(text: string): string[] {
  return [...text.matchAll(/\$\{([^}]*)\}/g)]
    .map(([, name]) => name as string)
    .filter((name) => !filledIn.includes(name) && !/^[A-Z][A-Z0-9_]*(?:[:#%?+-].*)?$/.test(name));
}
