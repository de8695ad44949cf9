// git clean and git stash. Git is told to ignore the session's files; what takes ignored files along takes the session.

import type { Ground } from "./ground.ts";
import { Options } from "./options.ts";
import { isInside, locate, normal, segmentsOf } from "./paths.ts";
import { type Denial, deny } from "./verdict.ts";

interface Given {
  args: readonly string[];
  cwd: string;
}

/** `-x` and `-X` take what is ignored, from here downwards. */
export function judgeClean({ args, cwd }: Given, ground: Ground): Denial | undefined {
  const options = new Options(args, "e", ["--exclude"]);
  if (!options.has("x", "X") || options.has("n", "--dry-run")) return undefined;
  const state = stateOf(ground);
  if (options.all("e", "--exclude").some((pattern) => spares(pattern, state, cwd))) return undefined;
  return refuse("git clean -x", `Add "-e ${topOf(state, ground)}"`, sweptBy(options.operands, cwd, cwd), ground);
}

/** `--all` takes what is ignored, wherever it is called. */
export function judgeStash({ args, cwd }: Given, ground: Ground): Denial | undefined {
  const options = new Options(args, "m", ["--message"]);
  const [verb = "push", ...rest] = options.operands;
  if (!options.has("a", "--all") || (verb !== "push" && verb !== "save")) return undefined;
  const project = normal(ground.projectRoot);
  const root = isInside(cwd, project) ? project : cwd;
  return refuse("git stash --all", 'Use "git stash -u"', sweptBy(verb === "push" ? rest : [], cwd, root), ground);
}

function sweptBy(paths: readonly string[], cwd: string, root: string): string[] {
  return paths.length === 0 ? [root] : paths.map((path) => locate(path, cwd));
}

function refuse(command: string, instead: string, swept: readonly string[], ground: Ground): Denial | undefined {
  const state = stateOf(ground);
  const isSwept = swept.some((place) => isInside(state, place) || isInside(place, state));
  if (!isSwept || ground.hasSession?.() !== true) return undefined;
  return deny("sensitive-file", `"${command}" would take the session's state along. ${instead}, or name the paths.`);
}

function stateOf({ stateDir }: Ground): string {
  return normal(`${stateDir}/state`);
}

/** A pattern that names the state or what it lies in. */
function spares(pattern: string, state: string, cwd: string): boolean {
  const name = normal(pattern.replace(/^\/|[/*]+$/g, ""));
  return segmentsOf(state).includes(name) || isInside(state, locate(name, cwd));
}

/** The outermost directory of the state that is not the project's own. */
function topOf(state: string, ground: Ground): string {
  const project = normal(ground.projectRoot);
  return isInside(state, project) ? (segmentsOf(state.slice(project.length))[0] ?? state) : state;
}
