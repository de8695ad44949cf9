// Runs a program with a temporary directory in memory, because most of what the tests do to a disk is to create and delete small files.
// The file system belongs to a mount namespace of the program and vanishes with its last process, however that ends.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** What the tests keep at one time is far below. */
const SIZE = "4g";
const NEEDED_BYTES = 8 * 1024 ** 3;
const inNamespace = ["--mount", "--propagation", "private", "sh", "-c"];
const mount = `mount -t tmpfs -o mode=1777,size=${SIZE} maestro-gate "$1"`;

/**
 * Returns the exit code of the program, or nothing when this machine cannot do it: a tmpfs needs Linux, root and memory.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {Record<string, string>} mark what tells the program that it is the second one
 * @returns {Promise<number> | undefined}
 */
export function runInMemory(program, args, mark) {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || freemem() < NEEDED_BYTES) return undefined;
  const directory = mkdtempSync(join(tmpdir(), "maestro-memory-"));
  if (spawnSync("unshare", [...inNamespace, mount, "sh", directory]).status !== 0) {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  const child = spawn(
    "unshare",
    [...inNamespace, `${mount} && shift && exec "$@"`, "sh", directory, program, ...args],
    {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, ...mark, TMPDIR: directory },
    },
  );
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once("close", (code) => {
      rmSync(directory, { recursive: true, force: true });
      resolve(code ?? 1);
    });
  });
}
