// Checks that the programs in dist/ have the parts they load on demand. A part lost by an update or a disk would only be noticed then.

import type { LintProblem } from "./problem.ts";
import { exists, listFiles, readText } from "./tree.ts";

const FOLDER = "dist";

export function lintPrograms(root: string): LintProblem[] {
  const named = new Map<string, string>();
  for (const file of listFiles(root, FOLDER).filter((name) => /\.[cm]?js$/.test(name))) {
    for (const [, part] of (readText(root, file) ?? "").matchAll(/"\.\/([\w-]+\.[cm]?js)"/g)) {
      if (!named.has(`${FOLDER}/${part}`)) named.set(`${FOLDER}/${part}`, file);
    }
  }
  return [...named]
    .filter(([part]) => !exists(root, part))
    .map(([part, file]) => ({
      file: part,
      problem: `is missing: ${file} loads it`,
      hint: 'Install the extension again; in a checkout, run "npm run build".',
    }));
}
