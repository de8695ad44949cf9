// Starts an engine that outlives its terminal and its parent. It has a session of its own, writes to state/engine.log, and signals on a pipe
// that it has locked the session.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StateLocation } from "../../store/location.ts";
import { ensureWorkspace } from "../../store/workspace.ts";

/** The file descriptor on which the new process signals that it is ready. */
const READY_FD = 3;

export interface DetachedEngine {
  location: StateLocation;
  /** The program and its arguments, for this Node. */
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** How long it may take to lock the session; without it, any time. */
  limitMs?: number;
}

export type EngineStart =
  | { session_id: string; pid: number; log: string }
  /** It has ended, or was ended at the limit (code null). `said`: what it printed. */
  | { code: number | null; said: string; log: string };

/** Returns when the engine has locked the session, or has ended without doing so. */
export async function startEngine({ location, args, cwd, env, limitMs }: DetachedEngine): Promise<EngineStart> {
  ensureWorkspace(location);
  const log = join(location.root, ...location.components, "state", "engine.log");
  const output = openSync(
    log,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
    0o600,
  );
  const child = spawn(process.execPath, [...args, "--ready-fd", String(READY_FD)], {
    cwd,
    env: env as NodeJS.ProcessEnv,
    stdio: ["ignore", output, output, "pipe"],
    detached: true,
  });
  closeSync(output);
  const told = await readiness(child, limitMs);
  if (told === "") return { code: child.exitCode, said: readFileSync(log, "utf8"), log };
  child.unref();
  child.stdio[READY_FD]?.destroy();
  const begun: { session_id: string; pid: number } = JSON.parse(told);
  return { ...begun, log };
}

/** The line that the engine writes when it is ready; empty when it ends first or exceeds the limit, which ends it. */
function readiness(child: ChildProcess, limitMs: number | undefined): Promise<string> {
  return new Promise((resolve) => {
    let said = "";
    const timer = limitMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), limitMs);
    const finish = (line: string) => {
      clearTimeout(timer);
      resolve(line);
    };
    child.stdio[READY_FD]?.on("data", (chunk) => {
      said += chunk;
      if (said.includes("\n")) finish(said);
    });
    child.once("exit", () => finish(""));
    child.once("error", () => finish(""));
  });
}
