// Compares hand-written code with the library or command that could replace it: time, size, and the cases where the results differ.
// The figures are those of docs/decisions/0010 to 0014. Interleaved rounds; no limits, because these choices are not promises.

import { measureEnvFile } from "./support/choices/env-file.ts";
import { measureGitIndex } from "./support/choices/git-index.ts";
import { measureGuard } from "./support/choices/guard.ts";
import { measureMarkdown } from "./support/choices/markdown.ts";
import { hasRivals, howToInstall } from "./support/choices/rivals.ts";
import { measureSandbox } from "./support/choices/sandbox.ts";
import { measureSdkPatches } from "./support/choices/sdk-patches.ts";
import { measureTerminal } from "./support/choices/terminal.ts";

if (!hasRivals) console.log(`  ${howToInstall}`);
const parts: [name: string, measure: () => void | Promise<void>][] = [
  ["guard", measureGuard],
  ["sandbox", measureSandbox],
  ["git index", measureGitIndex],
  [".env files", measureEnvFile],
  ["display width and redraw", measureTerminal],
  ["Markdown of hand-offs", measureMarkdown],
  ["patches of the MCP SDK", measureSdkPatches],
];
for (const [name, measure] of parts) {
  console.log(`\n  == ${name}`);
  await measure();
}
