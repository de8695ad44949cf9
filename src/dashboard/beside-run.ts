// The dashboard of `maestro run --dashboard`: a separate process, so that the engine serves no page. It ends with the run, because it reads
// from a pipe that the run keeps open.

import { spawn } from "node:child_process";

export interface BesideRun {
  /** Undefined when it could not be started; then it has said why. */
  url: string | undefined;
  /** Ends it, and waits for that. */
  close: () => Promise<void>;
}

/** `args`: the program and the verb, for this Node. */
export function startBeside(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<BesideRun> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: env as NodeJS.ProcessEnv,
    stdio: ["pipe", "pipe", "inherit"],
    // Ctrl-C reaches the run alone, which ends it.
    detached: true,
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  // The pipe breaks when the dashboard ends first, for example because it was idle.
  child.stdin.on("error", () => undefined);
  const close = async () => {
    child.stdin.end();
    await gone;
  };
  return new Promise((resolve) => {
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
      if (!said.includes("\n")) return;
      // Waiting for the dashboard must not keep the run alive.
      child.unref();
      resolve({ url: (JSON.parse(said) as { url: string }).url, close });
    });
    void gone.then(() => resolve({ url: undefined, close }));
  });
}
