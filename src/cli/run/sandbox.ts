// Builds the sandbox around an attempt's worktree, if this machine supports one.

import { dirname, join, resolve } from "node:path";
import type { Command, IsolationOptions } from "../../engine/isolation.ts";
import { type Author, cellFor } from "../../engine/sandbox/cell.ts";
import { findSandbox, inSandbox } from "../../engine/sandbox/sandbox.ts";
import { MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { readConfig } from "../../git/user-config.ts";
import { agentsFolder, programRoot } from "../../program-root.ts";
import type { StateLocation } from "../../store/location.ts";
import type { Io } from "../io.ts";

export async function sandboxOf(
  io: Io,
  repository: Repository,
  location: StateLocation,
): Promise<IsolationOptions["sandbox"]> {
  const found = findSandbox(io.env);
  if (found.kind === "missing") {
    throw new MaestroError("environment", `Cannot use --sandbox: ${found.reason}`, { hint: found.hint });
  }
  if (found.scope === null) io.err(`Sandbox: ${SOCKETS_IN_REACH}.\n`);
  const stateDir = [location.root, ...location.components].join("/");
  const { projectRoot } = repository;
  const policyPlaces = [stateDir, dirname(agentsFolder(io.env))];
  const place = { projectRoot, stateDir, repository, env: io.env, author: await authorOf(projectRoot) };
  // Computed for each command, because files appear and disappear during a run.
  return (command, { path, apart }) => {
    const linked = apart.map((name) => join(projectRoot, name));
    const { program, files } = visibleOf(command);
    const { home } = command;
    const shown = [...files, ...startFilesOf(command, policyPlaces)];
    const own = { worktree: path, linked, program, home, files: shown };
    return inSandbox(found.program, command, cellFor({ ...place, ...own }), found.scope);
  };
}

export const SOCKETS_IN_REACH =
  "agents can reach this machine's abstract Unix sockets (Linux 6.12 with Landlock, and perl or python3, would prevent it)";

/**
 * The files that a command loads at its start and that are Maestro's own; others are left out, because extra arguments may come from a
 * project's settings.
 */
function startFilesOf({ args }: Command, own: readonly string[]): string[] {
  const named = args.filter((_, at) => ["--policy", "-e"].includes(args[at - 1] ?? ""));
  return named.filter((path) => own.some((directory) => resolve(path).startsWith(`${directory}/`)));
}

/** What has to be visible: a program, or an agent behind a program of ours, with that one and the Node that runs it. */
function visibleOf({ program, args: [bridge = "", agent = ""] }: Command): { program: string; files: string[] } {
  const isBridged = dirname(bridge) === join(programRoot, "dist");
  return isBridged ? { program: agent, files: [program, bridge] } : { program, files: [] };
}

async function authorOf(projectRoot: string): Promise<Author | null> {
  const config = await readConfig(projectRoot);
  const [name, email] = [config.get("user.name"), config.get("user.email")];
  return name && email ? { name, email } : null;
}
