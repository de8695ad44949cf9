// Chooses how the attempts of a run are isolated, from the user's options and what the project allows, and shows the choice to the user
// before anything starts.

import { Isolation, type IsolationOptions } from "../../engine/isolation.ts";
import { excluded, openProject, ownPaths } from "../../engine/open-project.ts";
import { MaestroError } from "../../errors.ts";
import type { Opening } from "../../git/open.ts";
import { readIncludes } from "../../git/worktree/ignored.ts";
import { worktreePrefix } from "../../git/worktree/prefix.ts";
import type { ExecutionMode, ReviewMode } from "../../session/events.ts";
import { describeIntent, readIntent } from "../../store/files/integration-file.ts";
import type { StateLocation } from "../../store/location.ts";
import { stripControls } from "../../text.ts";
import type { Io } from "../io.ts";
import type { EngineSettings } from "./engine-options.ts";
import { sandboxOf } from "./sandbox.ts";

export interface IsolationRequest {
  engine: EngineSettings;
  mode: ExecutionMode;
  review?: ReviewMode | undefined;
  location: StateLocation;
  /** The number of phases in the plan. */
  phases: number;
  /** Phases that run in parallel may own the same files. */
  allowOverlap?: boolean | undefined;
}

/** Throws when the requested isolation is not possible; prints a note when agents share the project's files. */
export async function chooseIsolation(io: Io, request: IsolationRequest): Promise<Isolation> {
  const { engine, mode, review, location, phases, allowOverlap } = request;
  const hasMany = mode === "parallel" && engine.slots > 1;
  // Work that is reviewed before it is applied cannot be done in the project itself.
  const isReviewed = review === "phase";
  const isWanted = engine.isolation === "worktree" || engine.sandbox || allowOverlap === true || isReviewed;
  const opening = await openProject({ ...io, location });
  const isDefault = engine.isolation === "auto" && hasMany;
  // The only phase of a plan does not need a worktree.
  const isAlone = isDefault && phases === 1;
  if (isWanted) requireOpen(opening);
  if (isDefault && !isAlone && opening.kind === "refused") throw impossible(opening);
  if (engine.sandbox && engine.isolation === "none") {
    throw new MaestroError("usage", "--sandbox cannot be used with --isolation none", {
      hint: "--sandbox needs a worktree to confine the agent to. Pass --isolation worktree.",
    });
  }
  if (isReviewed && engine.isolation === "none") {
    throw new MaestroError("usage", "--review phase cannot be used with --isolation none", {
      hint: "A phase that is reviewed before its work is applied needs a worktree. Pass --isolation worktree.",
    });
  }
  const repository = opening.kind === "open" ? opening.repository : null;
  refuseUnfinished(location, opening);
  const isApart = repository !== null && (isWanted || isDefault) && engine.isolation !== "none";
  const isAll = engine.isolation === "worktree" || engine.sandbox || isReviewed;
  const worktrees = !isApart ? "none" : isAll ? "all" : "parallel";
  const options: IsolationOptions = {
    projectRoot: io.cwd,
    prefix: worktreePrefix(location),
    worktrees,
    repository,
    ownership: ownershipOf(engine, mode),
    isShared: worktrees === "none" && hasMany && !(isAlone && opening.kind !== "none"),
    exclude: repository === null ? ownPaths(location, io.env) : excluded(repository, location, io.env),
    include: repository === null ? [] : readIncludes(io.cwd),
    setup: engine.setup,
    sandbox: engine.sandbox && repository !== null ? await sandboxOf(io, repository, location) : null,
  };
  tell(io, options, opening, isDefault);
  return new Isolation(options);
}

/** For a rehearsal: played agents change no files, so changes are neither isolated nor recorded. */
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

/** Describes the isolation for a dry run, without opening the repository. */
export function describeIsolation(engine: EngineSettings, mode: ExecutionMode, review?: ReviewMode): string {
  const hasMany = mode === "parallel" && engine.slots > 1;
  const isAll = engine.isolation === "worktree" || engine.sandbox || review === "phase";
  const scope = `ownership ${ownershipOf(engine, mode)}`;
  if (isAll) return `a git worktree for each attempt${engine.sandbox ? ", in a sandbox" : ""}; ${scope}`;
  if (engine.isolation === "auto" && hasMany) {
    return `a git worktree for each attempt that can run beside another, none outside git; ${scope}`;
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
  return noWorktrees(
    reason,
    `${hint === undefined ? "" : `${hint} `}Or let agents share the project's files: --isolation none.`,
  );
}

function noWorktrees(reason: string, hint: string | undefined): MaestroError {
  return new MaestroError("environment", `Cannot create worktrees for attempts: ${reason}`, { hint });
}

/** Rejects a run while a half-applied change cannot be finished, because git is not available. */
function refuseUnfinished(location: StateLocation, opening: Opening): void {
  const intent = opening.kind === "open" ? undefined : readIntent(location);
  if (intent === undefined || opening.kind === "open") return;
  throw new MaestroError(
    "environment",
    `${describeIntent(intent)} is not finished, and cannot be finished now: ${opening.reason}`,
    {
      hint: "Fix this first.",
    },
  );
}

function tell(io: Io, options: IsolationOptions, opening: Opening, isDefault: boolean): void {
  const { isShared, ownership, setup, worktrees } = options;
  // The command may come from the project's own .env, so the user must see it before it runs.
  if (setup !== "" && worktrees !== "none") io.err(`Each worktree is prepared with: ${stripControls(setup)}\n`);
  if (!isShared) return;
  const why = isDefault && opening.kind === "none" ? ` (${opening.reason})` : "";
  const scope =
    ownership === "strict" ? "; changes outside a phase's own files are reported, but cannot be rejected" : "";
  io.err(`Isolation: none${why}. Agents share the project's files${scope}.\n`);
}
