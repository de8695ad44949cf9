// How the attempts of a run are kept apart: what was asked for, what the project allows, and what is said about it before anything starts.

import { Isolation, type IsolationOptions } from "../../engine/isolation.ts";
import { excluded, openProject } from "../../engine/open-project.ts";
import { MaestroError } from "../../errors.ts";
import type { Opening } from "../../git/open.ts";
import { readIncludes } from "../../git/worktree/ignored.ts";
import { worktreePrefix } from "../../git/worktree/prefix.ts";
import type { ExecutionMode } from "../../session/events.ts";
import { describeIntent, readIntent } from "../../store/files/integration-file.ts";
import type { StateLocation } from "../../store/location.ts";
import { manifest } from "../../store/workspace.ts";
import { stripControls } from "../../text.ts";
import type { Io } from "../io.ts";
import type { EngineSettings } from "./engine-options.ts";
import { sandboxOf } from "./sandbox.ts";

export interface IsolationRequest {
  engine: EngineSettings;
  mode: ExecutionMode;
  location: StateLocation;
  /** How many phases there are. */
  phases: number;
  /** Phases that run side by side own the same files. */
  allowOverlap?: boolean | undefined;
}

/** Refused when what was asked for cannot be had; otherwise says what is not as one would expect. */
export async function chooseIsolation(io: Io, request: IsolationRequest): Promise<Isolation> {
  const { engine, mode, location, phases, allowOverlap } = request;
  const hasMany = mode === "parallel" && engine.slots > 1;
  const isWanted = engine.isolation === "worktree" || engine.sandbox || allowOverlap === true;
  const opening = await openProject(io);
  const isDefault = engine.isolation === "auto" && hasMany;
  // A phase that is alone in its plan needs no worktree.
  const isAlone = isDefault && phases === 1;
  if (isWanted) requireOpen(opening);
  if (isDefault && !isAlone && opening.kind === "refused") throw impossible(opening);
  if (engine.sandbox && engine.isolation === "none") {
    throw new MaestroError("usage", "--sandbox cannot be used with --isolation none", {
      hint: "A sandbox is a worktree that nothing outside of it can be changed from.",
    });
  }
  const repository = opening.kind === "open" ? opening.repository : null;
  refuseUnfinished(location, opening);
  const isApart = repository !== null && (isWanted || isDefault) && engine.isolation !== "none";
  const worktrees = !isApart ? "none" : engine.isolation === "worktree" || engine.sandbox ? "all" : "parallel";
  const options: IsolationOptions = {
    projectRoot: io.cwd,
    prefix: worktreePrefix(location),
    worktrees,
    repository,
    ownership: ownershipOf(engine, mode),
    isShared: worktrees === "none" && hasMany && !(isAlone && opening.kind !== "none"),
    exclude: repository === null ? ownPaths(location) : excluded(repository, location),
    include: repository === null ? [] : readIncludes(io.cwd),
    setup: engine.setup,
    sandbox: engine.sandbox && repository !== null ? await sandboxOf(io, repository, location) : null,
  };
  tell(io, options, opening, isDefault);
  return new Isolation(options);
}

/** A rehearsal changes nothing, and nobody looks. */
export function noIsolation(projectRoot: string): Isolation {
  return new Isolation({
    projectRoot,
    prefix: "",
    worktrees: "unwatched",
    repository: null,
    ownership: "warn",
    isShared: true,
    exclude: [],
    include: [],
    setup: "",
    sandbox: null,
  });
}

/** For somebody who only wants to know: nothing is looked at. */
export function describeIsolation(engine: EngineSettings, mode: ExecutionMode): string {
  const hasMany = mode === "parallel" && engine.slots > 1;
  const isAll = engine.isolation === "worktree" || engine.sandbox;
  const scope = `ownership ${ownershipOf(engine, mode)}`;
  if (isAll) return `a git worktree for each attempt${engine.sandbox ? ", in a sandbox" : ""}; ${scope}`;
  if (engine.isolation === "auto" && hasMany) {
    return `a git worktree for each attempt, none outside git; ${scope}`;
  }
  return `none, agents work in the project; ${scope}`;
}

function ownershipOf({ ownership }: EngineSettings, mode: ExecutionMode): IsolationOptions["ownership"] {
  if (ownership !== "auto") return ownership;
  return mode === "parallel" ? "strict" : "warn";
}

function requireOpen(opening: Opening): void {
  if (opening.kind === "open") return;
  throw opening.kind === "refused" ? impossible(opening) : noWorktrees(opening.reason, undefined);
}

function impossible({ reason, hint }: { reason: string; hint?: string }): MaestroError {
  return noWorktrees(reason, `${hint === undefined ? "" : `${hint} `}Or let agents share the files: --isolation none.`);
}

function noWorktrees(reason: string, hint: string | undefined): MaestroError {
  return new MaestroError("environment", `Attempts cannot have worktrees here: ${reason}`, { hint });
}

/** A change that is half in the project cannot wait until git is there again. */
function refuseUnfinished(location: StateLocation, opening: Opening): void {
  const intent = opening.kind === "open" ? undefined : readIntent(location);
  if (intent === undefined || opening.kind === "open") return;
  throw new MaestroError("environment", `${describeIntent(intent)} is not finished, and cannot be: ${opening.reason}`, {
    hint: "Put that right first.",
  });
}

/** Outside git: what Maestro itself writes in the project. */
function ownPaths({ root, projectRoot, components }: StateLocation): string[] {
  if (root !== projectRoot) return [];
  const parts = new Set(manifest.flatMap(([part]) => part ?? []));
  return [...parts].map((part) => [...components, part].join("/"));
}

function tell(io: Io, options: IsolationOptions, opening: Opening, isDefault: boolean): void {
  const { isShared, ownership, setup, worktrees } = options;
  // It may come from the project's own .env: nobody should run it unseen.
  if (setup !== "" && worktrees !== "none") io.err(`Each worktree is prepared with: ${stripControls(setup)}\n`);
  if (!isShared) return;
  const why = isDefault && opening.kind === "none" ? ` (${opening.reason})` : "";
  const scope =
    ownership === "strict" ? ", and what they change outside of their phase's files can only be told, not refused" : "";
  io.err(`Isolation: none${why}. Agents share the project's files${scope}.\n`);
}
