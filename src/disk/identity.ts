// Identifies processes, so that the owner of a lock or a temporary file can be recognized as alive or dead.
// Pids are reused and clocks jump, so neither is enough alone: pid, start time and boot id together are.

import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errno } from "../errors.ts";
import { safePath } from "../search-path.ts";

export interface ProcessIdentity {
  pid: number;
  /** Kernel start time of the process; null where the platform does not provide it. */
  start: string | null;
  /** Different after every boot; null where the platform does not provide it. */
  boot: string | null;
  host: string;
  /** The pid namespace: a pid of another container means nothing here. */
  namespace: string | null;
}

let own: ProcessIdentity | undefined;

export function ownIdentity(): ProcessIdentity {
  own ??= {
    pid: process.pid,
    start: startTime(process.pid),
    boot: bootId(),
    host: hostname(),
    namespace: pidNamespace(),
  };
  return own;
}

/** "unknown" when the process runs on another host or in another container: such an owner is never declared dead. */
export function judge(identity: ProcessIdentity): "alive" | "dead" | "unknown" {
  const me = ownIdentity();
  // Equal boot ids mean the same machine, even if it was renamed.
  const sameBoot = identity.boot !== null && identity.boot === me.boot;
  if (!sameBoot && identity.host !== me.host) return "unknown";
  if (!sameBoot && identity.boot !== null && me.boot !== null) return "dead";
  if (identity.namespace !== me.namespace) return "unknown";
  if (!pidExists(identity.pid)) return "dead";
  const start = startTime(identity.pid);
  return identity.start !== null && start !== null && identity.start !== start ? "dead" : "alive";
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errno(error) === "EPERM";
  }
}

/** Start time of a process: field 22 of /proc/<pid>/stat on Linux, `ps` elsewhere. A zombie counts as ended. */
function startTime(pid: number): string | null {
  const stat = readOptional(`/proc/${pid}/stat`);
  if (stat !== undefined) {
    // The command name (field 2) may contain spaces and parentheses, so count from the last ")".
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? "ended" : (fields[19] ?? null);
  }
  if (process.platform === "linux" || process.platform === "win32") return null;
  try {
    // The output must not depend on the user's locale or time zone.
    const env = { PATH: safePath(process.env.PATH), LC_ALL: "C", TZ: "UTC" };
    const shown = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", timeout: 2000, env });
    return shown.trim() || null;
  } catch (error) {
    // `ps` exits with 1 for a pid that does not exist; without `ps` the pid alone has to be enough.
    return errno(error) === undefined ? "ended" : null;
  }
}

function bootId(): string | null {
  return readOptional("/proc/sys/kernel/random/boot_id")?.trim() ?? null;
}

function pidNamespace(): string | null {
  if (process.platform !== "linux") return null;
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch (error) {
    if (errno(error) !== undefined) return null;
    throw error;
  }
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errno(error) !== undefined) return undefined;
    throw error;
  }
}
