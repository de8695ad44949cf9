// Finds the repository of a project and decides whether Maestro can work with it. Reads only: changes nothing that belongs to the user.

import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { MaestroError } from "../errors.ts";
import { requireFindable } from "./admin-files.ts";
import { END_OF_OPTIONS } from "./objects/object-id.ts";
import { prepareOwnGit } from "./own-git.ts";
import type { Repository } from "./repository.ts";
import { hasGit, runGit } from "./run.ts";
import { indexEntries } from "./snapshot/index-file.ts";
import { borrowedWorkTree, submoduleReason, unmergedReason } from "./unfit.ts";
import { askGit, attributesFile, autocrlf, excludesFile, isOn, readConfig } from "./user-config.ts";
import { makePlace } from "./worktree/place-directory.ts";

export type Opening =
  | { kind: "none"; reason: string }
  | { kind: "refused"; reason: string; hint?: string }
  | { kind: "open"; repository: Repository };

const OLDEST_GIT: readonly [number, number] = [2, 38];

/** `cacheRoot`: Maestro's absolute cache directory outside the project, with a directory per repository. */
export async function openRepository(projectRoot: string, cacheRoot: string): Promise<Opening> {
  if (!hasGit()) return { kind: "none", reason: "git is not installed" };
  const project = realpathSync.native(projectRoot);
  const version = await gitVersion(project);
  if (isOlder(version, OLDEST_GIT)) {
    return refused(`git ${version.join(".")} is too old: Maestro needs git ${OLDEST_GIT.join(".")} or newer`);
  }
  requireFindable(project);
  const found = await discover(project);
  if (found.kind !== "found") return found;
  const { gitDir, commonDir, toplevel } = found;
  const config = await readConfig(project);
  const borrowed = config.has("core.worktree") ? borrowedWorkTree(toplevel, gitDir) : undefined;
  if (borrowed !== undefined) return refused(borrowed);
  if (isOn(config, "core.sparsecheckout", false)) {
    return refused("the checkout is sparse: files that are not on disk cannot be merged into it", {
      hint: 'Check out all files with "git sparse-checkout disable".',
    });
  }
  const objectFormat = config.get("extensions.objectformat") === "sha256" ? "sha256" : "sha1";
  const entries = indexEntries(gitDir, objectFormat);
  const unfit = unmergedReason(gitDir, entries) ?? submoduleReason(entries);
  if (unfit !== undefined) return refused(unfit);
  const repository: Repository = {
    projectRoot: project,
    toplevel,
    prefix: prefixOf(toplevel, project),
    gitDir,
    commonDir,
    objectFormat,
    head: await readHead(project),
    autocrlf: autocrlf(config),
    eol: config.get("core.eol") ?? null,
    fileMode: isOn(config, "core.filemode", true),
    symlinks: isOn(config, "core.symlinks", true),
    ignoreCase: isOn(config, "core.ignorecase", false),
    precomposeUnicode: isOn(config, "core.precomposeunicode", false),
    attributesFile: attributesFile(config),
    place: makePlace(cacheRoot, toplevel, gitDir),
  };
  prepareOwnGit(repository, await excludesFile(project, config));
  return { kind: "open", repository };
}

async function gitVersion(cwd: string): Promise<[major: number, minor: number]> {
  const { stdout } = await runGit({ args: ["version"], cwd });
  const match = /(\d+)\.(\d+)/.exec(stdout.toString());
  if (match === null)
    throw new MaestroError("environment", `Cannot read the version of git: ${stdout.toString().trim()}`);
  return [Number(match[1]), Number(match[2])];
}

export function isOlder(
  [major, minor]: readonly [number, number],
  [wantedMajor, wantedMinor]: readonly [number, number],
): boolean {
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

type Discovery = Opening | { kind: "found"; gitDir: string; commonDir: string; toplevel: string };

async function discover(project: string): Promise<Discovery> {
  const ask = (...args: string[]) => askGit(project, ["rev-parse", ...args], [0, 128]);
  const inside = await ask("--is-inside-work-tree", "--is-bare-repository");
  if (inside.code !== 0) return notFound(inside.warnings);
  const [isInside, isBare] = inside.stdout.toString().trim().split("\n");
  if (isBare === "true") return refused("the repository is bare: it has no files to work on");
  if (isInside !== "true") return refused("the project is inside a .git directory");
  // One call per path: rev-parse ends each path with a newline, and a path may contain one.
  const paths = ["--git-dir", "--git-common-dir", "--show-toplevel"].map(async (what) => {
    const { code, stdout, warnings } = await ask("--path-format=absolute", what);
    if (code !== 0) throw new MaestroError("environment", `git rev-parse failed: ${warnings.at(-1) ?? ""}`);
    return realpathSync.native(stdout.toString().replace(/\n$/, ""));
  });
  const [gitDir, commonDir, toplevel] = (await Promise.all(paths)) as [string, string, string];
  return { kind: "found", gitDir, commonDir, toplevel };
}

function notFound(said: readonly string[]): Opening {
  const text = said.join("\n");
  if (text.includes("dubious ownership")) {
    return refused("the repository belongs to another user, and git does not trust it", {
      hint: 'Trust it with "git config --global --add safe.directory <path>".',
    });
  }
  if (text.includes("not a git repository")) return { kind: "none", reason: "the project is not in a git repository" };
  return refused(`git cannot read the repository: ${(said.at(-1) ?? "no reason given").replace(/^fatal: /, "")}`);
}

async function readHead(project: string): Promise<Repository["head"]> {
  const [name, commit] = await Promise.all([
    askGit(project, ["symbolic-ref", "-q", END_OF_OPTIONS, "HEAD"], [0, 1]),
    askGit(project, ["rev-parse", "-q", "--verify", END_OF_OPTIONS, "HEAD^{commit}"], [0, 1]),
  ]);
  if (name.code !== 0) return { kind: "detached" };
  const branch = name.stdout
    .toString()
    .trim()
    .replace(/^refs\/heads\//, "");
  return { kind: commit.code === 0 ? "branch" : "unborn", branch };
}

function prefixOf(toplevel: string, project: string): string {
  const below = relative(toplevel, project);
  return below === "" ? "" : `${below.split(sep).join("/")}/`;
}

function refused(reason: string, more: { hint?: string } = {}): Opening {
  return { kind: "refused", reason, ...more };
}
