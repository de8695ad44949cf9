// The baseline of a plan before its session exists: taken, kept for the session that is created next, and found again. The command line and the
// MCP server use it alike.

import { join } from "node:path";
import { randomHex } from "../../disk/random.ts";
import { MaestroError } from "../../errors.ts";
import type { Opening } from "../../git/open.ts";
import { snapshot } from "../../git/snapshot/snapshot.ts";
import { readIncludes } from "../../git/worktree/ignored.ts";
import { worktreePrefix } from "../../git/worktree/prefix.ts";
import type { BaselineCommand } from "../../plan/baseline.ts";
import { programRoot } from "../../program-root.ts";
import { agentEnvironment, withheldIn } from "../../runtimes/environment.ts";
import { readBaseline, writeBaseline } from "../../store/files/baseline-file.ts";
import { openBatch } from "../../store/files/batch.ts";
import { claimDispatch } from "../../store/files/dispatch-lock.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { tryHiding } from "../../store/workspace.ts";
import { inShell } from "../attempt/command-run.ts";
import type { IsolationOptions } from "../isolation.ts";
import { excluded, openProject, ownPaths, type ProjectPlace } from "../open-project.ts";
import { Lifeline } from "../process/lifeline.ts";
import type { Stopping } from "../process/stopping.ts";
import { Supervisor } from "../process/supervisor.ts";
import { discardIfIdle } from "../recovery/prune.ts";
import { listingDigest } from "./copied-project.ts";
import { clearDeadBaselines } from "./dead-baselines.ts";
import { BASELINE, type BaselineRequest, takeBaseline } from "./take-baseline.ts";

const GRACE_MS = 2000;

export interface BaselinePlace extends ProjectPlace {
  store: SessionStore;
  now: () => Date;
  redact: (text: string) => string;
  warn: (message: string) => void;
  /** Names and globs of exported variables that the commands get. */
  passEnv: readonly string[];
  /** The command that prepares a worktree; "" for none. */
  setup: string;
}

export type PlanRequest = Pick<BaselineRequest, "commands" | "timeoutMs" | "tell" | "until"> & {
  /** The plan's path relative to the project. Writing the plan does not make its baseline outdated. */
  plan: string;
};

/** Null when it was stopped. */
export async function planBaseline(
  place: BaselinePlace,
  { plan, ...request }: PlanRequest,
  stopping: Stopping,
): Promise<BaselineCommand[] | null> {
  const { store, env, redact, now } = place;
  const { location } = store;
  const opening = await openProject({ ...place, location });
  if (opening.kind === "refused") {
    const { reason, hint } = opening;
    throw new MaestroError("environment", `Cannot take a snapshot of the project: ${reason}`, { hint });
  }
  const options = snapshotOptions(place, opening, place.setup);
  const { repository } = options;
  const run = randomHex(8);
  const project = await identityOf(options, plan);
  await clearDeadBaselines(repository, location);
  const batch = openBatch(location, `${BASELINE}-${run}`);
  // Tells the next process whose batch this is, should this one be killed.
  claimDispatch(batch.results);
  const lifeline = new Lifeline(join(programRoot, "dist", "warden.cjs"), run, GRACE_MS, place.warn);
  const supervisor = new Supervisor(lifeline, GRACE_MS);
  const allowed = agentEnvironment(env, place.passEnv, {});
  const context = {
    run,
    store,
    batch,
    supervisor,
    environment: (own: Record<string, string>) => ({ ...allowed, ...own }),
    withheld: (text: string) => withheldIn(text, env, allowed),
    validator: inShell,
    redact,
    isolation: { options },
    limits: { validationTimeoutMs: request.timeoutMs },
  };
  try {
    const commands = await takeBaseline(context, request, stopping);
    if (commands !== null) {
      writeBaseline(location, { project, commands }, now());
      tryHiding(location, place.warn);
    }
    return commands;
  } finally {
    await supervisor.close();
    batch.close();
    batch.remove();
    if (repository !== null) await discardIfIdle({ repository, location }, store);
  }
}

/** The baseline of these commands, if one was taken of the project as it is now. */
export async function knownBaseline(
  place: Pick<BaselinePlace, "store" | keyof ProjectPlace>,
  { plan, commands }: Pick<PlanRequest, "plan" | "commands">,
): Promise<BaselineCommand[] | undefined> {
  const stored = readBaseline(place.store.location);
  const wanted = stored?.commands.filter(({ command }) => commands.includes(command)) ?? [];
  if (stored === undefined || wanted.length === 0) return undefined;
  const opening = await openProject({ ...place, location: place.store.location });
  if (opening.kind === "refused") return undefined;
  const options = snapshotOptions(place, opening, "");
  return stored.project === (await identityOf(options, plan)) ? wanted : undefined;
}

export function snapshotOptions(
  { store, cwd, env }: Pick<BaselinePlace, "store" | "cwd" | "env">,
  opening: Exclude<Opening, { kind: "refused" }>,
  setup: string,
): IsolationOptions {
  const { location } = store;
  const repository = opening.kind === "open" ? opening.repository : null;
  return {
    projectRoot: cwd,
    prefix: worktreePrefix(location),
    worktrees: "all",
    repository,
    ownership: "warn",
    isShared: false,
    exclude: repository === null ? ownPaths(location, env) : excluded(repository, location, env),
    include: repository === null ? [] : readIncludes(cwd),
    setup,
    sandbox: null,
  };
}

async function identityOf({ repository, projectRoot, exclude, include }: IsolationOptions, plan: string) {
  const besides = plan.startsWith("/") ? exclude : [...exclude, plan];
  if (repository === null) return listingDigest(projectRoot, besides);
  return (await snapshot(repository, { exclude: besides, include })).tree;
}
