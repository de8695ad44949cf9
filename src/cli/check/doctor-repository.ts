// The git part of `maestro doctor`: whether attempts can have worktrees here, and what earlier runs left behind. --fix removes it.

import { existsSync } from "node:fs";
import { openProject } from "../../engine/open-project.ts";
import { unexaminedWorktrees } from "../../engine/recovery/keep-work.ts";
import { expected, type Problem, problemOf } from "../../engine/recovery/problem.ts";
import { MaestroError } from "../../errors.ts";
import { cacheRoot } from "../../git/cache-directory.ts";
import type { Opening } from "../../git/open.ts";
import { listKept } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { gitProgram, runGit } from "../../git/run.ts";
import { deadWorktrees } from "../../git/worktree/dead-worktrees.ts";
import { worktreePrefix } from "../../git/worktree/prefix.ts";
import { prunePlaces } from "../../git/worktree/removal.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { describeIntent, readIntent, setIntentAside } from "../../store/files/integration-file.ts";
import { locateState, type StateLocation } from "../../store/location.ts";
import { readSession } from "../../store/read-session.ts";
import { plural } from "../../views/text/amount.ts";
import { someOf } from "../../views/work.ts";
import { openStore } from "../context.ts";
import type { Io } from "../io.ts";
import { pruneProject } from "../session/recovery.ts";
import type { Finding } from "./finding.ts";

const MAX_NAMES = 5;
const check = "isolation";

export async function checkRepository(io: Io, settings: ResolvedSettings, fix: boolean): Promise<Finding[]> {
  try {
    const location = locateState(io.cwd, settings.values.MAESTRO_STATE_DIR);
    const opening = await openProject({ ...io, location });
    const store = openStore(io, settings);
    readSession(store);
    const needed = new Set(unexaminedWorktrees(store.session));
    const cleared = fix ? await clear(io, settings, location) : [];
    return [
      await possible(io, opening),
      ...cleared,
      ...unfinished(location),
      ...(await leftBehind(opening, location, needed)),
    ];
  } catch (error) {
    return [failure(expected(error))];
  }
}

/** Reports whether attempts can have their own worktrees here. */
async function possible(io: Io, opening: Opening): Promise<Finding> {
  const version = gitProgram() !== undefined ? `git ${await gitVersion(io.cwd)}: attempts` : "Attempts";
  if (opening.kind === "open") {
    const message = `${version} that run in parallel get their own worktrees, in ${opening.repository.place}`;
    return { check, level: "ok", message };
  }
  const hint = opening.kind === "refused" && opening.hint !== undefined ? { hint: opening.hint } : {};
  if (opening.kind === "none") {
    return { check, level: "ok", message: `${version} share the files of the project: ${opening.reason}` };
  }
  const message = `${version} cannot have worktrees here, and only "--isolation none" runs them in parallel: ${opening.reason}`;
  return { check, level: "warn", message, ...hint };
}

async function gitVersion(cwd: string): Promise<string> {
  const { stdout } = await runGit({ args: ["version"], cwd });
  return stdout.toString().trim().replace("git version ", "");
}

/** A change to the project that a killed process left unfinished. */
function unfinished(location: StateLocation): Finding[] {
  if (runningEngine(location) !== undefined) return [];
  try {
    const intent = readIntent(location);
    if (intent === undefined) return [];
    const hint = '"maestro doctor --fix" finishes it, and so does "maestro resume".';
    return [{ check, level: "warn", message: `${describeIntent(intent)} was started but not finished`, hint }];
  } catch (error) {
    return [failure(expected(error))];
  }
}

async function leftBehind(opening: Opening, location: StateLocation, needed: ReadonlySet<string>): Promise<Finding[]> {
  if (opening.kind !== "open") return [];
  const { repository } = opening;
  const dead = deadWorktrees(repository, worktreePrefix(location)).filter((name) => !needed.has(name));
  const hint = '"maestro doctor --fix" removes them, and so does the next run.';
  const message = `${plural(dead.length, "worktree")} left behind by processes that no longer run`;
  const worktrees: Finding[] = dead.length === 0 ? [] : [{ check, level: "warn", message, hint }];
  return [...worktrees, ...(await keptWork(repository))];
}

async function keptWork(repository: Repository): Promise<Finding[]> {
  const sessions = new Set((await listKept(repository)).map(({ session }) => session));
  if (sessions.size === 0) return [];
  return [{ check, level: "ok", message: `The work of ${plural(sessions.size, "session")} is kept in refs/maestro` }];
}

async function clear(io: Io, settings: ResolvedSettings, location: StateLocation): Promise<Finding[]> {
  const { finished, baselines, worktrees, sessions, problems } = await pruneProject(io, settings);
  const { aside, rest } = setDamagedAside(io, location, problems);
  const places = await prunePlacesIn(cacheRoot(io.env));
  const done = [
    ...aside,
    ...(finished === undefined ? [] : [finished]),
    ...(baselines === 0 ? [] : [`Deleted what ${plural(baselines, "killed baseline")} left`]),
    ...(worktrees.length === 0
      ? []
      : [`Removed ${plural(worktrees.length, "worktree")} of processes that no longer run`]),
    ...(sessions.length === 0 ? [] : [`Deleted the kept work of ${someOf(sessions, MAX_NAMES)}`]),
    ...(places.length === 0
      ? []
      : [`Removed ${plural(places.length, "cache folder")} of repositories that no longer exist`]),
  ];
  return [...done.map((message): Finding => ({ check, level: "warn", message })), ...rest.map(failure)];
}

/** An unreadable or unfinishable record of a change would block every run, so the file is moved aside and kept. */
function setDamagedAside(
  io: Io,
  location: StateLocation,
  problems: readonly Problem[],
): { aside: string[]; rest: Problem[] } {
  const known = problems.find(({ code }) => code === "parse_failed");
  const damage = known ?? damageOf(location);
  if (damage === undefined || runningEngine(location) !== undefined) return { aside: [], rest: [...problems] };
  const path = setIntentAside(location, io.now());
  const aside = path === undefined ? [] : [`${damage.message}. Moved to ${path}`];
  return { aside, rest: problems.filter((problem) => problem !== known) };
}

function damageOf(location: StateLocation): Problem | undefined {
  try {
    readIntent(location);
    return undefined;
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    return error.code === "parse_failed" ? problemOf(error) : undefined;
  }
}

async function prunePlacesIn(root: string): Promise<string[]> {
  return existsSync(root) ? prunePlaces(root) : [];
}

function failure({ message, hint }: Problem): Finding {
  return { check, level: "fail", message, ...(hint === undefined ? {} : { hint }) };
}
