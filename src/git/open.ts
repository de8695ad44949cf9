// Finds the repository of a project and decides whether Maestro can work with it. Reads only: changes nothing that belongs to the user.

import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { MaestroError } from "../errors.ts";
import { requireFindable } from "./admin-files.ts";
import { objectsOf, prepareOwnGit } from "./own-git.ts";
import type { ObjectFormat, Repository } from "./repository.ts";
import { gitProgram, runGit } from "./run.ts";
import { indexEntries } from "./snapshot/index-file.ts";
import { borrowedWorkTree, submoduleReason, unmergedReason } from "./unfit.ts";
import { askGit, attributesFile, autocrlf, excludesFile, isOn, readConfig } from "./user-config.ts";
import { makePlace } from "./worktree/place-directory.ts";

export type Opening =
  | { kind: "none"; reason: string }
  | { kind: "refused"; reason: string; hint?: string }
  | { kind: "open"; repository: Repository };

const OLDEST_GIT: readonly [number, number] = [2, 38];

/** `status`: only the names of changed files are asked for, so files that a worktree could not have do not matter. */
export type RepositoryUse = "work" | "status";

/**
 * `cacheRoot`: Maestro's absolute cache directory outside the project, with a directory per repository. `name`: keeps the objects of several
 * projects in one repository apart.
 */
export async function openRepository(
  projectRoot: string,
  cacheRoot: string,
  name = "default",
  use: RepositoryUse = "work",
): Promise<Opening> {
  const program = gitProgram();
  if (program === undefined) return { kind: "none", reason: "git is not installed" };
  const project = realpathSync.native(projectRoot);
  const version = await gitVersion(project, program);
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
  if (use === "work" && isOn(config, "core.sparsecheckout", false)) {
    return refused("the checkout is sparse: files that are not on disk cannot be merged into it", {
      hint: 'Check out all files with "git sparse-checkout disable".',
    });
  }
  const objectFormat = config.get("extensions.objectformat") === "sha256" ? "sha256" : "sha1";
  const unfit = use === "work" ? unfitReason(gitDir, objectFormat) : undefined;
  if (unfit !== undefined) return refused(unfit);
  const place = makePlace(cacheRoot, toplevel, gitDir);
  const repository: Repository = {
    projectRoot: project,
    toplevel,
    prefix: prefixOf(toplevel, project),
    gitDir,
    commonDir,
    objectFormat,
    autocrlf: autocrlf(config),
    eol: config.get("core.eol") ?? null,
    fileMode: isOn(config, "core.filemode", true),
    symlinks: isOn(config, "core.symlinks", true),
    ignoreCase: isOn(config, "core.ignorecase", false),
    precomposeUnicode: isOn(config, "core.precomposeunicode", false),
    attributesFile: attributesFile(config),
    place,
    objects: objectsOf(place, name),
    borrowed: [],
  };
  prepareOwnGit(repository, await excludesFile(project, config));
  return { kind: "open", repository };
}

function unfitReason(gitDir: string, objectFormat: ObjectFormat): string | undefined {
  const entries = indexEntries(gitDir, objectFormat);
  return unmergedReason(gitDir, entries) ?? submoduleReason(entries);
}

const versions = new Map<string, [major: number, minor: number]>();

/** Asked for once per program and process. */
async function gitVersion(cwd: string, program: string): Promise<[major: number, minor: number]> {
  const known = versions.get(program);
  if (known !== undefined) return known;
  const { stdout } = await runGit({ args: ["version"], cwd });
  const match = /(\d+)\.(\d+)/.exec(stdout.toString());
  if (match === null)
    throw new MaestroError("environment", `Cannot read the version of git: ${stdout.toString().trim()}`);
  const version: [number, number] = [Number(match[1]), Number(match[2])];
  versions.set(program, version);
  return version;
}

export function isOlder(
  [major, minor]: readonly [number, number],
  [wantedMajor, wantedMinor]: readonly [number, number],
): boolean {
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

type Discovery = Opening | { kind: "found"; gitDir: string; commonDir: string; toplevel: string };

async function discover(project: string): Promise<Discovery> {
  const ask = (...args: string[]) => askGit(project, ["rev-parse", "--path-format=absolute", ...args], [0, 128]);
  const wanted = ["--git-dir", "--git-common-dir", "--show-toplevel"];
  const { code, stdout, warnings } = await ask("--is-inside-work-tree", "--is-bare-repository", ...wanted);
  const [isInside, isBare, ...paths] = stdout.toString().replace(/\n$/, "").split("\n");
  if (isInside === "") return notFound(warnings);
  if (isBare === "true") return refused("the repository is bare: it has no files to work on");
  if (isInside !== "true") return refused("the project is inside a .git directory");
  const isClear = code === 0 && paths.length === wanted.length;
  // rev-parse ends each path with a newline, and a path may contain one: then each is asked for alone.
  const found = isClear ? paths : await Promise.all(wanted.map(async (what) => pathFrom(await ask(what))));
  const [gitDir, commonDir, toplevel] = found.map((path) => realpathSync.native(path)) as [string, string, string];
  return { kind: "found", gitDir, commonDir, toplevel };
}

function pathFrom({ code, stdout, warnings }: Awaited<ReturnType<typeof askGit>>): string {
  if (code !== 0) throw new MaestroError("environment", `git rev-parse failed: ${warnings.at(-1) ?? ""}`);
  return stdout.toString().replace(/\n$/, "");
}

function notFound(said: readonly string[]): Opening {
  const text = said.join("\n");
  if (text.includes("dubious ownership")) {
    const command = /git config --global --add safe\.directory \S.*/.exec(text)?.[0];
    return refused("the repository belongs to another user, and git does not trust it", {
      hint: `Trust it with "${command ?? "git config --global --add safe.directory <path>"}".`,
    });
  }
  if (text.includes("not a git repository")) return { kind: "none", reason: "the project is not in a git repository" };
  return refused(`git cannot read the repository: ${(said.at(-1) ?? "no reason given").replace(/^fatal: /, "")}`);
}

function prefixOf(toplevel: string, project: string): string {
  const below = relative(toplevel, project);
  return below === "" ? "" : `${below.split(sep).join("/")}/`;
}

function refused(reason: string, more: { hint?: string } = {}): Opening {
  return { kind: "refused", reason, ...more };
}
