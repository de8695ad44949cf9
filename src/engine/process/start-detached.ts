// Starts a process that outlives its terminal and its parent, with a pipe on which it signals that it is ready.

import { type ChildProcess, spawn } from "node:child_process";

/** The file descriptor on which the new process signals that it is ready. */
export const READY_FD = 3;

/** `log`: the descriptor of an open file that receives the output of the process. */
export function startDetached(
  args: readonly string[],
  { cwd, env, log }: { cwd: string; env: Readonly<Record<string, string | undefined>>; log: number },
): ChildProcess {
  return spawn(process.execPath, args, {
    cwd,
    env: env as NodeJS.ProcessEnv,
    stdio: ["ignore", log, log, "pipe"],
    detached: true,
  });
}
