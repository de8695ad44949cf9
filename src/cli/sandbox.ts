// The sandbox around an attempt's worktree, if this machine has one.

import type { IsolationOptions } from "../engine/isolation.ts";
import { findSandbox, inSandbox } from "../engine/sandbox.ts";
import { cellFor } from "../engine/sandbox-cell.ts";
import { MaestroError } from "../errors.ts";
import type { Repository } from "../git/repository.ts";
import type { StateLocation } from "../store/location.ts";
import type { Io } from "./io.ts";

export function sandboxOf(io: Io, repository: Repository, location: StateLocation): IsolationOptions["sandbox"] {
  const found = findSandbox(io.env);
  if (found.kind === "missing") {
    throw new MaestroError("environment", `--sandbox is not possible: ${found.reason}`, { hint: found.hint });
  }
  const stateDir = [location.root, ...location.components].join("/");
  const place = { projectRoot: io.cwd, stateDir, repository, env: io.env };
  // What lies where is looked up for each command: files come and go.
  return (command, worktree) =>
    inSandbox(found.program, command, cellFor({ ...place, worktree, program: command.program }));
}
