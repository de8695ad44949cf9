// Installs the pinned agent programs from npm into a cache outside the repository, and runs the tests of test/runtimes with them.
// `npm run test:runtimes -- pi goose` takes only these. A program that the registry does not have is named as SKIPPED; any other problem
// with its installation fails the run.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeOf, versions } from "./nodes.js";
import { npmInstall } from "./npm.js";

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

/** The last version of the SDK of the Agent Client Protocol that has its example agent in it. */
const example = "@agentclientprotocol/sdk@1.9.0";

/** @param {string} name */
function directoryOf(name) {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  return join(cache, "maestro-runtimes", name.replace(/[^\w.-]+/g, "_"));
}

/**
 * @typedef {keyof typeof pinned} Name
 * @param {Name} name
 */
export function cacheOf(name) {
  return directoryOf(pinned[name]);
}

/** The example agent of the protocol, once it is installed. */
export const exampleAgent = join(
  directoryOf(example),
  "node_modules",
  "@agentclientprotocol/sdk/dist/examples/agent.js",
);

/** @typedef {{ state: "there" } | { state: "lacking", line: string } | { state: "broken", line: string }} Installed */

/**
 * Installs it when it is not there yet, and starts it once: npm leaves a program without its binary when an optional package is missing.
 * @param {Name} name
 * @returns {Promise<Installed>}
 */
export async function installed(name) {
  const program = join(cacheOf(name), "node_modules", ".bin", name);
  const problem = existsSync(program) ? undefined : await install(pinned[name]);
  if (problem !== undefined) return problem;
  const { status, stderr, error } = spawnSync(program, ["--version"], { encoding: "utf8", timeout: 60_000 });
  if (status === 0) return { state: "there" };
  return { state: "broken", line: `FAILED ${name}: ${pinned[name]} does not start: ${error ?? stderr}` };
}

/**
 * @param {string} wanted
 * @returns {Promise<Installed | undefined>}
 */
async function install(wanted) {
  const directory = directoryOf(wanted);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{"private":true}\n');
  const { status, stderr, error } = await npmInstall(directory, ["--prefer-offline", wanted]);
  if (status === 0) return undefined;
  rmSync(directory, { recursive: true, force: true });
  const why = /\bcode (E404|ETARGET)\b/.exec(stderr)?.[1];
  if (why !== undefined) return { state: "lacking", line: `SKIPPED ${wanted}: the registry does not have it (${why})` };
  return { state: "broken", line: `FAILED ${wanted}: npm cannot install it: ${error ?? stderr.slice(-500)}` };
}

async function main() {
  const names = /** @type {Name[]} */ (Object.keys(pinned));
  const known = ["gemini", ...names];
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`Unknown: ${unknown.join(", ")}. The programs are ${known.join(", ")}.\n`);
    process.exitCode = 2;
    return;
  }
  const isWanted = (/** @type {string} */ name) => asked.length === 0 || asked.includes(name);
  /** @type {{ name: Name, result: Installed }[]} */
  const found = [];
  for (const name of names.filter(isWanted)) found.push({ name, result: await installed(name) });
  if (asked.length === 0 && !existsSync(exampleAgent)) {
    const problem = await install(example);
    if (problem !== undefined && "line" in problem) process.stdout.write(`${problem.line}\n`);
  }
  // The tests start programs that Node runs on the newest one.
  for (const version of versions) await nodeOf(version);
  const there = found.filter(({ result }) => result.state === "there").map(({ name }) => name);
  const files = ["gemini", ...there].filter(isWanted).map((name) => `test/runtimes/${name}.test.ts`);
  const shared = asked.length === 0 ? ["test/runtimes/several.test.ts", "test/runtimes/acp-example.test.ts"] : [];
  const { status } = spawnSync("npx", ["vitest", "run", ...files, ...shared], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TEST_RUNTIMES: ["all", ...there].join(",") },
  });
  for (const { result } of found) if ("line" in result) process.stdout.write(`${result.line}\n`);
  const isBroken = found.some(({ result }) => result.state === "broken");
  process.exitCode = isBroken || files.length === 0 ? 1 : (status ?? 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
