// Prepares the runtimes of a run: finds their programs, builds the environment of each, and refuses a runtime that cannot enforce the tier of
// an agent it would play.

import { join } from "node:path";
import { notAnAgent } from "../../agents/resolve.ts";
import { type Agent, agentFileNames, type Roster } from "../../agents/roster.ts";
import { Cast, type CastRules, type Player } from "../../engine/cast.ts";
import type { Described } from "../../engine/runtimes/described.ts";
import { repertoireOf, runtimeOfPhase } from "../../engine/runtimes/repertoire.ts";
import { MaestroError } from "../../errors.ts";
import { vendorEnvironment } from "../../runtimes/environment.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { DEFAULT_RUNTIME, type Repertoire, runtimeNamed } from "../../runtimes/runtime-table.ts";
import { type Selection, selectionOf } from "../../runtimes/selection.ts";
import { findProgram } from "../../search-path.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { rosterOf } from "../context.ts";
import type { Io } from "../io.ts";
import { environmentOfAgents } from "../run/agent-environment.ts";

interface Stage {
  passEnv: readonly string[];
  projectRoot: string;
  hasSetup: boolean;
  /** The user's own arguments for Gemini CLI. */
  extraArgs: readonly string[];
  /** Workers run the attempts. */
  isRemote?: boolean;
}

export function castOf(io: Io, stage: Stage, players: readonly Runtime[], rules: CastRules): Cast {
  return new Cast(
    players.map((runtime) => playerOf(io, runtime, programFor(io, runtime, stage), stage)),
    rules,
  );
}

/** Undefined when it is missing. Workers have programs of their own: what this machine lacks does not matter to them. */
function programFor(io: Io, { program }: Runtime, { isRemote }: Stage): string | undefined {
  return findProgram(program, io.env.PATH) ?? (isRemote === true ? program : undefined);
}

/** A cast of one. */
export function soleCast(io: Io, stage: Stage, runtime: Runtime, program: string): Cast {
  const rules = { byAgent: () => runtime.name, fallback: [], allowsUnheld: true };
  return new Cast([playerOf(io, runtime, program, stage)], rules);
}

/** A runtime with its program and the environment of its agents. */
export function playerOf(io: Io, runtime: Runtime, program: string | undefined, stage: Stage): Player {
  const { passEnv, projectRoot, hasSetup } = stage;
  const exported = vendorEnvironment(io.env, passEnv, runtime.vendor);
  return {
    runtime,
    program,
    extraArgs: runtime.name === DEFAULT_RUNTIME ? stage.extraArgs : [],
    agentEnvironment: environmentOfAgents(io, { runtime, exported, projectRoot, hasSetup }),
  };
}

/** What the command line says about runtimes. */
export interface RuntimeFlags {
  runtime?: string;
  fallback?: string;
  allowUnheld?: boolean;
  acceptRuntimes?: boolean;
  sandbox?: boolean;
}

/** The runtimes that a run uses: those that its phases name, and those that may take over. */
export interface Chosen {
  selection: Selection;
  used: Runtime[];
  allowsUnheld: boolean;
  /** All that a phase may get: what is built in, the user's own, and those of the project that are named. */
  players: Runtime[];
  /** Those of the project that are named, and commands that its plan names: they start only with the user's consent. */
  fromProject: Described[];
}

export function chosenRuntimes(
  io: Io,
  settings: ResolvedSettings,
  phases: readonly Played[],
  flags: RuntimeFlags,
): Chosen {
  const { fallback, runtime } = flags;
  const known = repertoireOf(io);
  const selection = selectionOf(runtime, settings.values.MAESTRO_RUNTIMES, fallback, known);
  const allowsUnheld = (flags.sandbox ?? settings.values.MAESTRO_SANDBOX) || flags.allowUnheld === true;
  const roster = rosterOf(io);
  warnOfStrangers(io, selection, roster);
  const agents = new Map(roster.agents.map((agent) => [agent.name, agent]));
  const byUser = new Set(known.made.keys());
  const used = runtimesOf(phases, agents, selection, { allowsUnheld, known });
  const named = new Set([...used.map(({ name }) => name), ...selection.fallback]);
  const projects = known.described.filter(({ isProjects }) => isProjects);
  // A command that only the plan names came with the project too.
  const byPlan = [...known.made.values()].filter(({ name }) => !byUser.has(name));
  const fromProject = [
    ...projects.filter((one) => named.has(one.runtime.name)),
    ...byPlan.map((one) => ({ runtime: one, path: join(io.cwd, "the plan"), text: one.name, isProjects: true })),
  ];
  const leftOut = new Set(projects.map((one) => one.runtime).filter(({ name }) => !named.has(name)));
  const players = [...known.all.filter((one) => !leftOut.has(one)), ...known.made.values()];
  return { selection, allowsUnheld, used, fromProject, players };
}

/** A misspelt agent would get the default runtime, and its user would not know. */
function warnOfStrangers(io: Io, { agents }: Selection, roster: Roster): void {
  const names = agentFileNames(roster);
  for (const agent of agents.filter((one) => roster.exists && !names.includes(one))) {
    io.err(`WARNING: ${notAnAgent("MAESTRO_RUNTIMES", agent, names)}\n`);
  }
}

/** What the settings say without the command line. */
export function selectionIn(io: Io, { values }: ResolvedSettings): Selection {
  return selectionOf(undefined, values.MAESTRO_RUNTIMES, undefined, repertoireOf(io));
}

/** The first runtime whose program is missing; undefined when each is there or another one can take over. */
export function missingOf(io: Io, { used, selection, players }: Chosen): Runtime | undefined {
  const isThere = (runtime: Runtime) => findProgram(runtime.program, io.env.PATH) !== undefined;
  const canTakeOver = players.some((one) => selection.fallback.includes(one.name) && isThere(one));
  return canTakeOver ? undefined : used.find((runtime) => !isThere(runtime));
}

interface Played {
  id: string;
  agent: string;
  runtime?: string | undefined;
}

/**
 * The runtimes that the phases of a plan use, checked against the tiers of their agents. Throws for an unknown name, and for a tier that a runtime
 * cannot enforce unless `allowsUnheld`.
 */
function runtimesOf(
  phases: readonly Played[],
  agents: ReadonlyMap<string, Pick<Agent, "tier">>,
  selection: Selection,
  { allowsUnheld, known }: { allowsUnheld: boolean; known: Repertoire },
): Runtime[] {
  const used = new Set<Runtime>();
  for (const { id, agent, runtime: named } of phases) {
    const runtime =
      named === undefined
        ? runtimeNamed(selection.byAgent(agent), "--runtime", known)
        : runtimeOfPhase(id, named, known);
    used.add(runtime);
    const tier = agents.get(agent)?.tier;
    if (tier === undefined || allowsUnheld || runtime.capabilities.tiers.includes(tier)) continue;
    throw new MaestroError(
      "usage",
      `Phase ${id}: ${runtime.name} cannot enforce the tier of agent ${agent} (${tier})`,
      {
        hint: "Choose another runtime for it, confine it with --sandbox, or allow it with --allow-unheld.",
      },
    );
  }
  return [...used];
}
