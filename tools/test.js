// Runs the whole gate on a machine that has only Node and git: installs what is missing, runs every check, and lists what failed.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInMemory } from "./in-memory.js";
import { failuresIn, nodeOf, testOthers, versions } from "./nodes.js";
import { installed } from "./runtimes.js";

const IN_MEMORY = "MAESTRO_GATE_IN_MEMORY";
if (process.env[IN_MEMORY] === undefined) {
  const code = await runInMemory(process.execPath, process.argv.slice(1), { [IN_MEMORY]: "1" });
  if (code !== undefined) process.exit(code);
}
const root = fileURLToPath(new URL("..", import.meta.url));
/** @param {string} name */
const bin = (name) => join(root, "node_modules", ".bin", name);
const scratch = mkdtempSync(join(tmpdir(), "maestro-gate-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
const results = join(scratch, "vitest.json");
/** Of steps that run beside the tests: a third of the processor time that a test gets. */
const NICENESS = 5;
/** More failed files than that are not flaky. */
const MAX_FLAKY_FILES = 5;
/** @type {string[]} */
const flaky = [];
/** Beside Gemini CLI, which is a development dependency: the smallest of the other programs that enforces every tier and reports its tokens. */
const program = /** @type {const} */ ("pi");
const installing = installed(program);
/** The programs besides Gemini CLI whose tests run. */
let programs = "";

await install();
// The tests start the real CLI on the newest one; the others are installed beside the tests.
await nodeOf(versions.at(-1) ?? "");
const second = await installing;
if (second.state === "there") programs = program;
/** TypeScript 7 checks four times as fast as 6, which dependency-cruiser needs (docs/decisions). */
const tsc = join(root, "node_modules", "typescript-7", "bin", "tsc");
/** @type {[name: string, command: string, args: string[]][]} */
const checks = [
  ["format and lint", bin("biome"), ["ci", "--error-on-warnings", "."]],
  ["types", process.execPath, [tsc, "--noEmit"]],
  ["types of ids", process.execPath, [tsc, "--noEmit", "-p", "tsconfig.src.json"]],
  ["types of the page", process.execPath, [tsc, "--noEmit", "-p", "tsconfig.web.json"]],
  ["unused code", bin("knip"), []],
  ["dist is fresh", process.execPath, ["tools/build.js", "--check"]],
];
/** @type {[name: string, command: string, args: string[]]} */
const tests = [
  "tests",
  bin("vitest"),
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${results}`, ...process.argv.slice(2)],
];
// The checks and the sample of other Node versions use the time in which the tests wait, with a lower priority, because some tests measure time.
const beside = inTheBackground();
const isTested = (await run(...tests)) || (await passAlone());
const { passed, others, printed } = await beside;
for (const text of printed) console.log(text);
passed.push(isTested);
const failed = [...checks, tests].filter((_, at) => !passed[at]).map(([name]) => name);
failed.push(...others.filter(({ state }) => state === "failed").map(({ version }) => `tests on Node ${version}`));
for (const { failures } of others) for (const line of failures) console.log(line);
if (second.state === "broken") failed.push(`installing ${program}`);
closingLine();
if (failed.length > 0) console.log(`FAILED: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** npm keeps a copy of the lock file in node_modules: an install is needed when it differs from ours or is missing. */
async function install() {
  const installed = join(root, "node_modules", ".package-lock.json");
  const wanted = packages(join(root, "package-lock.json"));
  if (existsSync(installed) && existsSync(bin("vitest"))) {
    const present = packages(installed);
    const missing = Object.entries(wanted).filter(
      ([path, { version, optional }]) => !optional && path !== "" && present[path]?.version !== version,
    );
    if (missing.length === 0) return;
  }
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--prefer-offline"];
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  // With a registry that lacks the packages of other platforms, "npm ci" rejects a valid lock file.
  const isInstalled =
    (await run("install", npm, args)) || (await run("install again", npm, ["install", "--no-save", ...args.slice(1)]));
  if (!isInstalled) process.exit(1);
}

/**
 * @param {string} lockFile
 * @returns {Record<string, { version?: string, optional?: boolean }>}
 */
function packages(lockFile) {
  return JSON.parse(readFileSync(lockFile, "utf8")).packages;
}

/** Runs the checks and then the sample on other Node versions; what they print is shown after the tests. */
async function inTheBackground() {
  /** @type {string[]} */
  const printed = [];
  /** @type {boolean[]} */
  const passed = [];
  for (const check of checks) passed.push(await runQuietly(printed, ...check));
  // Tests selected by name run on this Node only.
  const isWhole = process.argv.length === 2;
  const quietly = { print: (/** @type {string} */ text) => void printed.push(text), niceness: NICENESS };
  const others = isWhole ? await testOthers({ onlySample: true, env: environment(), ...quietly }) : [];
  return { passed, others, printed };
}

/**
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 */
async function run(name, command, args) {
  console.log(`\n== ${name}`);
  const started = performance.now();
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"], env: environment() });
  const isPassed = await ended(child, (error) => console.error(String(error)));
  console.log(closing(name, isPassed, started));
  return isPassed;
}

/**
 * As `run`, with a lower priority and beside other steps: adds what the step prints to `printed` in one piece.
 *
 * @param {string[]} printed
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 */
async function runQuietly(printed, name, command, args) {
  const started = performance.now();
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], env: environment() });
  if (child.pid !== undefined) setPriority(child.pid, NICENESS);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  const isPassed = await ended(child, (error) => (output += String(error)));
  printed.push(`\n== ${name}\n${output}`.trimEnd(), closing(name, isPassed, started));
  return isPassed;
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {(error: Error) => void} fail
 * @returns {Promise<boolean>}
 */
function ended(child, fail) {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      fail(error);
      resolve(false);
    });
    child.once("close", (code) => resolve(code === 0));
  });
}

/**
 * @param {string} name
 * @param {boolean} isPassed
 * @param {number} started
 */
function closing(name, isPassed, started) {
  return `== ${name}: ${isPassed ? "ok" : "FAILED"} (${((performance.now() - started) / 1000).toFixed(1)} s)`;
}

/** Removes the user's own Maestro settings, which must not affect the tests. */
function environment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("MAESTRO_") && name !== "NODE_ENV" && name !== "FORCE_COLOR",
  );
  return { ...Object.fromEntries(kept), TEST_RUNTIMES: programs };
}

/**
 * Tests with real processes, kills and time limits share two cores: files with a failed test run once more, alone. What passes then is named
 * as flaky at the end; what fails again has failed.
 */
async function passAlone() {
  const first = reportIn(results);
  const files = first?.testResults.filter(({ status }) => status === "failed").map(({ name }) => name) ?? [];
  if (files.length === 0 || files.length > MAX_FLAKY_FILES) return false;
  const again = join(scratch, "alone.json");
  const [, program, args] = tests;
  const alone = ["--maxWorkers=1", `--outputFile.json=${again}`, ...files];
  const isPassed = await run("failed tests, alone", program, [...args.slice(0, 3), ...alone]);
  if (isPassed)
    flaky.push(...(first === undefined ? [] : failuresIn(first)).map((line) => line.replace("FAILED", "FLAKY")));
  return isPassed;
}

/**
 * @typedef {Parameters<typeof failuresIn>[0] & { numPassedTests: number, numFailedTests: number, numPendingTests: number }} Report
 * @param {string} path
 * @returns {Report | undefined}
 */
function reportIn(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

/** The failures are named again at the end, because the tests of other Node versions print after them. */
function closingLine() {
  const report = reportIn(results);
  if (report === undefined) return;
  const recovered = flaky.length === 0 ? 0 : report.numFailedTests;
  for (const line of flaky.length === 0 ? failuresIn(report) : flaky) console.log(line);
  if (recovered > 0) console.log(`${recovered} FLAKY: failed beside other tests, passed alone`);
  const elsewhere = others.map(({ line }) => `; ${line}`).join("");
  const { numPassedTests, numFailedTests, numPendingTests } = report;
  const counts = `${numPassedTests + recovered} passed, ${numFailedTests - recovered} failed, ${numPendingTests} skipped`;
  if ("line" in second) console.log(second.line);
  console.log(`\n${counts}${elsewhere}`);
}
