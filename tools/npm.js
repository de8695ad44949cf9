// Installs packages with npm into a directory of their own, beside whatever else this process does.

import { spawn } from "node:child_process";

const LONGEST_MS = 300_000;

/**
 * @param {string} directory
 * @param {string[]} args of `npm install`
 * @returns {Promise<{ status: number | null, stderr: string, error?: Error }>}
 */
export function npmInstall(directory, args) {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const child = spawn(npm, ["install", "--no-audit", "--no-fund", ...args], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: LONGEST_MS,
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ status: null, stderr, error }));
    child.once("close", (status) => resolve({ status, stderr }));
  });
}
