// --detach: runs the same command in a background process that outlives the terminal. The parent waits until the session has
// started, so that errors at startup are printed here.

import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { READY_FD, startDetached } from "../../engine/process/start-detached.ts";
import { errno } from "../../errors.ts";
import { locateState } from "../../store/location.ts";
import { ensureWorkspace } from "../../store/workspace.ts";
import { settingsOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import type { EngineFlags } from "./engine-options.ts";

/** The flags as command line arguments, without those that only apply to this process. */
function words(flags: object): string[] {
  const skipped = new Set(["detach", "readyFd", "json"]);
  return Object.entries(flags).flatMap(([key, value]) => {
    if (skipped.has(key) || value === undefined || value === false) return [];
    const option = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === true) return [option];
    return Array.isArray(value) ? value.flatMap((each) => [option, String(each)]) : [option, String(value)];
  });
}

export async function detach(io: Io, command: readonly string[], flags: EngineFlags): Promise<number> {
  const location = locateState(io.cwd, settingsOf(io).values.MAESTRO_STATE_DIR);
  ensureWorkspace(location);
  const path = join(location.root, ...location.components, "state", "engine.log");
  const log = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600);
  const script = process.argv[1] ?? "";
  const args = [script, ...command, ...words(flags), "--ready-fd", String(READY_FD)];
  const child = startDetached(args, { cwd: io.cwd, env: io.env, log });
  closeSync(log);
  const ready = await new Promise<string>((resolve) => {
    let said = "";
    child.stdio[READY_FD]?.on("data", (chunk) => {
      said += chunk;
      if (said.includes("\n")) resolve(said);
    });
    child.once("exit", () => resolve(""));
    child.once("error", () => resolve(""));
  });
  if (ready === "") {
    io.err(readFileSync(path, "utf8"));
    return child.exitCode ?? 1;
  }
  child.unref();
  child.stdio[READY_FD]?.destroy();
  const begun: { session_id: string; pid: number } = JSON.parse(ready);
  if (flags.json) printJson(io, { ...begun, log: path });
  else {
    io.out(`Session ${begun.session_id} is running in process ${begun.pid}\n`);
    io.out(`  maestro watch    follow it live\n  maestro status   show its progress\n  maestro stop     stop it\n`);
  }
  return 0;
}

/** Tells the waiting parent process that the session has started. */
export function tellParent(fd: string | undefined, begun: object): void {
  if (fd === undefined) return;
  try {
    writeSync(Number(fd), `${JSON.stringify(begun)}\n`);
    closeSync(Number(fd));
  } catch (error) {
    // The parent process has exited; a detached session is meant to outlive it.
    if (errno(error) !== "EPIPE") throw error;
  }
}
