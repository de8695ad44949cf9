// The state of a session, from the code of `maestro status` without starting a process.

import type { Io } from "../../src/cli/io.ts";
import { status as tell } from "../../src/cli/session/status.ts";
import type { Project } from "./project.ts";

export function status(project: Project, env: Record<string, string> = {}) {
  let said = "";
  const io: Partial<Io> = {
    cwd: project.path,
    env: project.environment(env),
    out: (text) => {
      said += text;
    },
    err: () => undefined,
    deferSignals: () => undefined,
    beforeSignalEnds: () => () => undefined,
    now: () => new Date(),
  };
  tell(io as Io, { json: true });
  return JSON.parse(said);
}
