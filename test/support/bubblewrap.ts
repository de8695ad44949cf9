// bubblewrap for the tests that need it: the machine's own, or installed on a clean machine.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { TestContext } from "vitest";
import { findSandbox, type SandboxProgram } from "../../src/engine/sandbox/sandbox.ts";
import type { Scope } from "../../src/engine/sandbox/scope.ts";

let found: SandboxProgram | undefined;

/** Its path. Without it the test is skipped, with the reason. */
export function bubblewrap(context: Pick<TestContext, "skip">): string {
  found ??= find();
  if (found.kind === "found") return found.program;
  return context.skip(`no sandbox on this machine: ${found.reason}`);
}

/** What keeps abstract sockets out of reach here; null where the kernel cannot. */
export function socketScope(): Scope | null {
  found ??= find();
  return found.kind === "found" ? found.scope : null;
}

function find(): SandboxProgram {
  const first = findSandbox(process.env);
  if (first.kind === "found" || !/not installed/.test(first.reason) || !canInstall()) return report(first);
  console.warn("Installing bubblewrap for the tests of the sandbox.");
  const options = ["-o", "DPkg::Lock::Timeout=60", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=15"];
  const install = ["install", "-y", "-qq", "--no-install-recommends", ...options, "bubblewrap"];
  spawnSync("apt-get", install, {
    stdio: "ignore",
    timeout: 120_000,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  return report(findSandbox(process.env));
}

/** Only root with apt installs: that is a container or a virtual machine made for this, never a user's machine. */
function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

function report(sandbox: SandboxProgram): SandboxProgram {
  if (sandbox.kind === "missing") {
    console.warn(`SKIPPED: the tests of the sandbox, because ${sandbox.reason}. ${sandbox.hint}`);
  }
  return sandbox;
}
