// Stops the engine that runs the session: the process that holds the engine lock. The session can be resumed.

import { hostname } from "node:os";
import { errno, MaestroError } from "../errors.ts";
import { runningEngine } from "./engine-lock.ts";
import type { StateLocation } from "./location.ts";

const STOP_WAIT_MS = 60_000;
const POLL_MS = 50;

/** Returns the engine's process id when it has exited. */
export async function stopEngine(location: StateLocation, isForced = false): Promise<number> {
  const owner = runningEngine(location);
  if (owner === undefined) throw new MaestroError("environment", "Nothing to stop: no engine is running");
  if (owner.host !== hostname()) {
    throw new MaestroError("environment", `The engine runs on ${owner.host} (process ${owner.pid}): stop it there`);
  }
  signal(owner.pid, isForced ? "SIGKILL" : "SIGTERM");
  if (await engineGone(location)) return owner.pid;
  throw new MaestroError("environment", `Process ${owner.pid} does not exit`, {
    hint: '"maestro stop --force" kills it and its agents.',
  });
}

/** Waits until no engine runs the session; false on timeout. */
export async function engineGone(location: StateLocation): Promise<boolean> {
  for (const deadline = performance.now() + STOP_WAIT_MS; performance.now() < deadline; ) {
    if (runningEngine(location) === undefined) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errno(error) !== "ESRCH") throw error;
  }
}
