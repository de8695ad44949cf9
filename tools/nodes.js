// Installs other versions of Node from the npm package "node" into node_modules/.cache/maestro-nodes, and runs tests on them.
// `node tools/nodes.js` runs all unit tests and the scenarios about hooks, journal, processes and git; `--sample` runs a few files of each.

import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { npmInstall } from "./npm.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, "node_modules", ".cache", "maestro-nodes");

/** Exact versions: a new release of Node must not change what a commit is tested with. */
export const versions = ["22.23.3", "24.21.0"];

/** Hooks, journal, lock, processes and git, in less than half a minute on two cores. Selected by file name, because folders may change. */
const sample = ["node-versions", "journal", "lock", "stopping", "git/run"].map((name) => `/${name}.test.ts`);

/** Subjects that differ between versions of Node: processes, descriptors, files and modules. Texts and views do not. */
const subjects =
  "node-versions hooks mcp crash engine isolation concurrency journal damage state-directory session verify sandbox scripts";
const whole = ["src/", "test/guard/", ...subjects.split(" ").map((subject) => `test/scenarios/${subject}`)];

/**
 * Returns the program of that version and installs it if it is missing, or says why it cannot be used.
 * @param {string} version
 * @returns {Promise<{ program: string, problem?: undefined } | { program?: undefined, problem: string }>}
 */
export async function nodeOf(version) {
  const directory = join(cache, version);
  const program = programOf(version);
  if (!existsSync(program)) {
    const problem = await install(version, directory);
    if (problem !== undefined) return { problem };
  }
  const { stdout, error } = spawnSync(program, ["--version"], { encoding: "utf8" });
  if (stdout?.trim() === `v${version}`) return { program };
  return { problem: `${program} does not run${error ? `: ${error.message}` : ""}; delete ${directory} and try again` };
}

/**
 * Where the program of that version is, once it is installed.
 * @param {string} version
 */
export function programOf(version) {
  return join(cache, version, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
}

/**
 * @param {string} version
 * @param {string} directory
 */
async function install(version, directory) {
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, ".draft-"));
  // In a separate directory and without --prefix, which would make npm ignore the user's settings.
  writeFileSync(join(draft, "package.json"), '{ "private": true }\n');
  const limits = ["--fetch-retries=1", "--fetch-timeout=60000", "--no-package-lock"];
  const args = ["--ignore-scripts=false", "--save-exact", ...limits, `node@${version}`];
  const { status, stderr, error } = await npmInstall(draft, args);
  if (status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    const reason =
      error?.message ?? /npm error .*(?:failed|reason|code|not found).*/i.exec(stderr)?.[0] ?? stderr.trim();
    return `npm cannot install node@${version} (${reason})`;
  }
  rmSync(directory, { recursive: true, force: true });
  renameSync(draft, directory);
  return undefined;
}

/**
 * What tests on another Node need: the files to select, the environment, where output goes, and how much the tests yield to other processes.
 * @typedef {{ files: string[], env: NodeJS.ProcessEnv, print: (text: string) => void, niceness: number }} Request
 */

/**
 * Runs vitest under another Node; `node` on the PATH is the same one. Prints what it says in one piece, because other steps run beside it.
 * @param {string} version
 * @param {string} program
 * @param {Request} request
 */
async function runOn(version, program, { files, env: given, print, niceness }) {
  const all = ["src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
      (path) => `${folder}/${path.replaceAll("\\", "/")}`,
    ),
  );
  const unknown = files.filter((wanted) => !all.some((path) => path.includes(wanted)));
  // vitest does not report a name without a file as long as another name has one.
  if (unknown.length > 0) throw new Error(`tools/nodes.js names tests that do not exist: ${unknown.join(", ")}`);
  const results = join(mkdtempSync(join(tmpdir(), "maestro-nodes-")), "vitest.json");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
  const { NODE_EXTRA_CA_CERTS: _, ...env } = given;
  const child = spawn(program, [vitest, "run", "--maxWorkers=1", ...reporters, ...files], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, PATH: `${dirname(program)}${delimiter}${env.PATH}`, MAESTRO_TEST_NODE: version },
  });
  if (child.pid !== undefined) setPriority(child.pid, niceness);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  await new Promise((resolve) => child.once("close", resolve));
  print(`\n== Node ${version}\n${output}`);
  const counts = existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : undefined;
  rmSync(dirname(results), { recursive: true, force: true });
  return counts;
}

/**
 * One line for each failed test of a vitest report: file, name and the first line of the reason.
 * @typedef {{ status: string, fullName: string, failureMessages?: string[] }} Test
 * @param {{ testResults: { name: string, status: string, message?: string, assertionResults: Test[] }[] }} report
 */
export function failuresIn({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0 && status === "failed") return [`FAILED ${file}: ${firstLine(message)}`];
    return failed.map((test) => `FAILED ${file} > ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
  });
}

/** @param {string | undefined} text */
function firstLine(text) {
  return text?.split("\n", 1)[0] ?? "no reason was reported";
}

/**
 * Tests every other version, one after the other; each result has a summary line for the end of the gate. A version that cannot be installed
 * counts as skipped.
 * @param {{ onlySample: boolean } & Partial<Omit<Request, "files">>} choice
 */
export async function testOthers({ onlySample, env = process.env, print = console.log, niceness = 0 }) {
  const request = { files: onlySample ? sample : whole, env, print, niceness };
  const results = [];
  for (const version of versions) results.push(await testOn(version, request));
  return results;
}

/**
 * @param {string} version
 * @param {Request} request
 */
async function testOn(version, request) {
  const { program, problem } = await nodeOf(version);
  if (program === undefined) {
    return { version, state: "skipped", failures: [], line: `Node ${version}: SKIPPED, ${problem}` };
  }
  const first = await runOn(version, program, request);
  // As in tools/test.js: what passes only alone is named as flaky, and has not failed.
  const counts = first?.success === false ? await runOn(version, program, request) : first;
  if (counts === undefined) {
    return { version, state: "failed", failures: [], line: `Node ${version}: FAILED, no test ran` };
  }
  if (first !== counts)
    for (const failure of failuresIn(first)) request.print(failure.replace("FAILED", `FLAKY on Node ${version}`));
  const { success, numPassedTests, numFailedTests, numPendingTests } = counts;
  const line = `Node ${version}: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`;
  const failures = failuresIn(counts).map((failure) => `Node ${version}: ${failure}`);
  return { version, state: success ? "passed" : "failed", failures, line };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const runs = await testOthers({ onlySample: process.argv.includes("--sample") });
  console.log(`\n${runs.map(({ line }) => line).join("\n")}`);
  process.exitCode = runs.every(({ state }) => state === "passed") ? 0 : 1;
}
