// Programs of Debian that tests need, installed on a clean machine.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const INSTALL_MS = 300_000;
const unavailable = new Map<string, string>();

/** The path of the program, or why it is not there. Only root on Debian installs: that is a container or a virtual machine made for this. */
export function debianProgram(path: string, name: string): { path: string } | { missing: string } {
  if (existsSync(path)) return { path };
  const known = unavailable.get(path);
  if (known !== undefined) return { missing: known };
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.warn(`Installing ${name} for the tests.`);
    const options = ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=15"];
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...options, name], {
      stdio: "ignore",
      timeout: INSTALL_MS,
      // Debian starts a server when it is installed, unless this says no.
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
    });
  }
  if (existsSync(path)) return { path };
  const missing = `no ${path} on this machine, and it could not be installed (Debian: apt-get install ${name})`;
  console.warn(`SKIPPED: tests that need ${name}, because there is ${missing}.`);
  unavailable.set(path, missing);
  return { missing };
}

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}
