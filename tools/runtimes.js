// Installs the pinned agent programs from npm into a cache outside the repository, and runs the tests of test/runtimes with them.
// `npm run test:runtimes -- pi goose` takes only these. A program that the registry does not have is named as SKIPPED.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Exact versions that run on the oldest Node that Maestro supports: npm would silently choose an older one. */
export const pinned = {
  claude: "@anthropic-ai/claude-code@2.1.197",
  codex: "@openai/codex@0.166.0",
  pi: "@earendil-works/pi-coding-agent@0.74.2",
  qwen: "@qwen-code/qwen-code@0.15.10",
  opencode: "opencode-ai@1.18.33",
  copilot: "@github/copilot@1.0.102",
  goose: "@aaif/goose@0.20.1",
};

/**
 * @typedef {keyof typeof pinned} Name
 * @param {Name} name
 */
export function cacheOf(name) {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  return join(cache, "maestro-runtimes", pinned[name].replace(/[^\w.-]+/g, "_"));
}

/**
 * Installs it when it is not there yet.
 * @param {Name} name
 */
export function isInstalled(name) {
  const directory = cacheOf(name);
  if (existsSync(join(directory, "node_modules", ".bin", name))) return true;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{"private":true}\n');
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", pinned[name]];
  const { status } = spawnSync("npm", args, {
    cwd: directory,
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 300_000,
  });
  return status === 0;
}

/** @param {Name} name */
export function skipped(name) {
  return `SKIPPED ${name}: npm cannot install ${pinned[name]}`;
}

function main() {
  const names = /** @type {Name[]} */ (Object.keys(pinned));
  const asked = process.argv.slice(2);
  const wanted = asked.length === 0 ? names : names.filter((name) => asked.includes(name));
  const there = wanted.filter(isInstalled);
  for (const name of wanted.filter((one) => !there.includes(one))) process.stdout.write(`${skipped(name)}\n`);
  const { status } = spawnSync("npx", ["vitest", "run", "test/runtimes"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TEST_RUNTIMES: there.join(",") },
  });
  process.exitCode = there.length === 0 ? 1 : (status ?? 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
