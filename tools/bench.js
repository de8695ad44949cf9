// Runs the benchmarks in bench/, each bundled and started as a separate process: node tools/bench.js [--node=24] [name ...]
// --node: another Node, by its major version (tools/nodes.js installs it) or by the path of its program.
// Compare only figures from one run, because machines are noisy.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { nodeOf, versions } from "./nodes.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--node="));
const node = await nodeFor(process.argv.find((word) => word.startsWith("--node="))?.slice("--node=".length));
const names = readdirSync(join(root, "bench"))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))
  .filter((name) => wanted.length === 0 || wanted.includes(name));
const out = mkdtempSync(join(tmpdir(), "maestro-bench-"));
await build({
  absWorkingDir: root,
  entryPoints: names.map((name) => `bench/${name}.ts`),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
});
// Node would read the certificate file at every start, and the benchmarks would measure that too.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
const failed = names.filter((name) => {
  console.log(`\n${name}`);
  return spawnSync(node, [join(out, `${name}.mjs`)], { stdio: "inherit", env }).status !== 0;
});
rmSync(out, { recursive: true });
if (failed.length > 0) console.log(`\nOver the limit: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** @param {string | undefined} choice */
async function nodeFor(choice) {
  if (choice === undefined) return process.execPath;
  const version = versions.find((one) => one.split(".")[0] === choice);
  if (version === undefined) return choice;
  const { program, problem } = await nodeOf(version);
  if (program === undefined) throw new Error(problem);
  return program;
}
