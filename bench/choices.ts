// What is hand-written, beside the library or command that could do it instead: time, size, and the cases where the answers differ.
// The figures of docs/decisions/0010 to 0014. Interleaved rounds; there are no limits, because a choice is not a promise.

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
