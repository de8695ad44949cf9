// git clean and git stash. Git is told to ignore the session's files; what takes ignored files along takes the session.

import type { Machine } from "../../machine.ts";
import { isInside, locate, normal, pathSegments } from "../../paths.ts";
import { isKnown } from "../../shell/shape.ts";
import { type Denial, deny } from "../../verdict.ts";
import { Options } from "../options.ts";

interface Given {
  args: readonly string[];
  cwd: string;
}

/** `-x` and `-X` take what is ignored, from here downwards. */
export function judgeClean({ args, cwd }: Given, machine: Machine): Denial | undefined {
  const options = new Options(args, "e", ["--exclude"]);
  // For -X the patterns of -e are more to take.
  const isOnly = options.has("X");
  if ((!options.has("x") && !isOnly) || options.has("n", "--dry-run")) return undefined;
  if (!isOnly && options.all("e", "--exclude").some((pattern) => spares(pattern, machine))) return undefined;
  return refuse(isOnly ? "git clean -X" : "git clean -x", "Name the paths", swept(options.operands, cwd, cwd), machine);
}

/** `--all` takes what is ignored, wherever it is called. */
export function judgeStash({ args, cwd }: Given, machine: Machine): Denial | undefined {
  const end = args.indexOf("--");
  const options = new Options(end < 0 ? args : args.slice(0, end), "m", ["--message"]);
  const [verb = "push", ...rest] = options.operands;
  if (!options.has("a", "--all") || (verb !== "push" && verb !== "save")) return undefined;
  const paths = end < 0 ? rest : [...rest, ...args.slice(end + 1)];
  const project = normal(machine.projectRoot);
  const root = isInside(cwd, project) ? project : cwd;
  const instead = 'Use "git stash -u", or name the paths';
  return refuse("git stash --all", instead, swept(verb === "push" ? paths : [], cwd, root), machine);
}

/** A path with magic may be anything, a pattern anything below the directory in front of it. */
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
  return deny("sensitive-file", `"${command}" would take the session's state along. ${instead}.`);
}

function stateOf({ stateDir }: Machine): string {
  return normal(`${stateDir}/state`);
}

/** A pattern that names the state, or a directory of the project that it lies in. */
function spares(pattern: string, machine: Machine): boolean {
  const name = pattern.replace(/^\/|[/*]+$/g, "");
  return name !== "" && (inProject(machine).includes(name) || isInside(inProject(machine).join("/"), normal(name)));
}

/** The state's directories from the project on; all of them when it lies elsewhere. */
function inProject(machine: Machine): string[] {
  const [state, project] = [stateOf(machine), normal(machine.projectRoot)];
  return pathSegments(isInside(state, project) ? state.slice(project.length) : state);
}
