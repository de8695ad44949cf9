// Starts the agent behind the bridge and stops it: TERM, then KILL. It stays in the process group of the attempt, so that whatever
// ends the attempt ends it too.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

const GRACE_MS = 2_000;

export interface AgentProcess {
  input: WritableStream<Uint8Array>;
  output: ReadableStream<Uint8Array>;
  /** Why it ended. */
  ended: Promise<string>;
  end: () => Promise<void>;
}

export function startAgent(program: string, args: readonly string[], cwd: string): AgentProcess {
  const child = spawn(program, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const closed = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`The agent could not be started: ${error.message}`));
    child.once("close", (code, signal) => resolve(`The agent exited unexpectedly (${signal ?? `exit code ${code}`})`));
  });
  // `ended` reports the end of the agent; an error of its closed input adds nothing.
  child.stdin.on("error", () => undefined);
  return {
    input: Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    output: Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    ended: closed,
    end: async () => {
      child.stdin.destroy();
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
      await closed;
      clearTimeout(force);
    },
  };
}
