// git clean and git stash. git ignores the session's files, so a command that includes ignored files removes the session.

import type { Machine } from "../../machine.ts";
import { isInside, locate, normal, pathSegments } from "../../paths.ts";
import { isKnown } from "../../shell/shape.ts";
import { type Denial, deny } from "../../verdict.ts";
import { Options } from "../options.ts";

interface Given {
  args: readonly string[];
  cwd: string;
}

/** `-x` and `-X` delete ignored files from the current directory downwards. */
export function judgeClean({ args, cwd }: Given, machine: Machine): Denial | undefined {
  const options = new Options(args, "e", ["--exclude"]);
  // With -X, the patterns of -e are additional files to delete.
  const isOnly = options.has("X");
  if ((!options.has("x") && !isOnly) || options.has("n", "--dry-run")) return undefined;
  if (!isOnly && options.all("e", "--exclude").some((pattern) => spares(pattern, machine))) return undefined;
  return refuse(isOnly ? "git clean -X" : "git clean -x", "Name the paths", swept(options.operands, cwd, cwd), machine);
}

/** `--all` includes ignored files of the whole repository. */
export function judgeStash({ args, cwd }: Given, machine: Machine): Denial | undefined {
  const end = args.indexOf("--");
  const options = new Options(end < 0 ? args : args.slice(0, end), "m", ["--message"]);
  const [verb = "push", ...rest] = options.operands;
  if (!options.has("a", "--all") || (verb !== "push" && verb !== "save")) return undefined;
  const paths = end < 0 ? rest : [...rest, ...args.slice(end + 1)];
  const project = normal(machine.projectRoot);
  const root = isInside(cwd, project) ? project : cwd;
  const instead = "Leave other people's changes where they are, and copy your own files by name";
  return refuse("git stash --all", instead, swept(verb === "push" ? paths : [], cwd, root), machine);
}

/** A pathspec with magic can match anything; a pattern can match anything below the directory before it. */
function swept(paths: readonly string[], cwd: string, root: string): string[] {
  if (paths.length === 0) return [root];
  return paths.map((path) => {
    const names = path.split("/");
    const first = names.findIndex((name) => !isKnown(name) || /[*?[]/.test(name));
    if (path.startsWith(":") || first === 0) return root;
    return locate(first < 0 ? path : names.slice(0, first).join("/"), cwd);
  });
}

function refuse(command: string, instead: string, places: readonly string[], machine: Machine): Denial | undefined {
  const state = stateOf(machine);
  const isSwept = places.some((place) => isInside(state, place) || isInside(place, state));
  if (!isSwept || machine.hasSession?.() !== true) return undefined;
  return deny("sensitive-file", `"${command}" would remove the session's state. ${instead}.`);
}

function stateOf({ stateDir }: Machine): string {
  return normal(`${stateDir}/state`);
}

/** Whether the pattern names the state directory, or a directory of the project that contains it. */
function spares(pattern: string, machine: Machine): boolean {
  const name = pattern.replace(/^\/|[/*]+$/g, "");
  return name !== "" && (inProject(machine).includes(name) || isInside(inProject(machine).join("/"), normal(name)));
}

/** The path components of the state directory: below the project, or absolute when it is elsewhere. */
function inProject(machine: Machine): string[] {
  const [state, project] = [stateOf(machine), normal(machine.projectRoot)];
  return pathSegments(isInside(state, project) ? state.slice(project.length) : state);
}
