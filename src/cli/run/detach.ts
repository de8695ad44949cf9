// --detach: runs the same command in a background process that outlives the terminal. The parent waits until the session has
// started, so that errors at startup are printed here.

import { closeSync, writeSync } from "node:fs";
import { startEngine } from "../../engine/process/start-detached.ts";
import { errno } from "../../errors.ts";
import { locateState } from "../../store/location.ts";
import { programOf, settingsOf } from "../context.ts";
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
  const args = [process.argv[1] ?? "", ...command, ...words(flags)];
  const start = await startEngine({ location, args, cwd: io.cwd, env: io.env });
  if ("said" in start) {
    io.err(start.said);
    return start.code ?? 1;
  }
  if (flags.json) printJson(io, start);
  else {
    io.out(`Session ${start.session_id} is running in process ${start.pid}\n`);
    const program = programOf(io);
    io.out(
      `  ${program} watch    follow it live\n  ${program} status   show its progress\n  ${program} stop     stop it\n`,
    );
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
