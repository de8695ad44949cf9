// The verdict on commands that are too plain to need a parser: everyday programs, plain words, quotes without expansions, pipes and
// redirections. Where it has one it is that of the whole judge (a test holds the two together); of anything else it says nothing. A hook
// is started for every tool call, and reading the whole judge costs it half of the start of Node.

import type { Machine } from "../machine.ts";
import { baseName, isInside, locate, normal } from "../paths.ts";
import { isProject } from "../project.ts";
import { refuseDestination } from "../rules/sensitive.ts";
import { isDevice } from "../shell/redirect.ts";
import { shown } from "../shell/shape.ts";
import { denyContent, type Verdict } from "../verdict.ts";
import { kindOf, touchedBy } from "./programs.ts";
import { type PlainCommand, splitPlain } from "./split.ts";

const MAX_LENGTH = 2000;
/** Longer ones may hold so many operators that they are refused for that. */
const MAX_HEREDOC = 4900;

export function quickVerdict(command: string, machine: Machine): Verdict | undefined {
  if (command.startsWith("cat ") && command.includes("<<")) return heredocVerdict(command, machine);
  if (command.length > MAX_LENGTH) return undefined;
  const commands = splitPlain(command) ?? [];
  // Where a relative file lies depends on the directory.
  const moves = commands.some(({ words }) => words.includes("cd"));
  let verdict: Verdict | undefined;
  for (const each of commands) {
    verdict = judge(each, machine, moves);
    if (verdict?.verdict !== "allow") return verdict;
  }
  return verdict;
}

function judge({ words, files, isTurned }: PlainCommand, machine: Machine, moves: boolean): Verdict | undefined {
  // Led twice, what was opened first is emptied.
  const errors = files.filter(({ isError }) => isError).length;
  if ((isTurned && files.length > 0) || errors > 1 || files.length - errors > 1) return undefined;
  const [name = "", ...args] = withoutLimit(withoutVariables(words));
  const kind = kindOf(name, args);
  if (kind === undefined) return undefined;
  const touched = touchedBy(name, args);
  if (touched.length > 0 && (moves || !touched.every((path) => isNamed(path, machine)))) return undefined;
  const places = files.map((file) => ({ ...file, path: locate(file.path, machine.cwd ?? machine.projectRoot) }));
  const [file, another] = places.filter(({ path }) => !isDevice(path));
  if (file === undefined) return { verdict: "allow" };
  if (moves || another !== undefined || !isOrdinary(file.path, machine)) return undefined;
  if (kind === "program" || file.isError) return { verdict: "allow" };
  return kind === "sayer" && files.length === 1 ? denyContent(name, shown(baseName(file.path))) : undefined;
}

/** `CI=1 npm test`: nothing here expands a variable, so only those that change how programs are found matter. */
function withoutVariables(words: readonly string[]): readonly string[] {
  const isVariable = (word: string) =>
    word.includes("=") &&
    /^[A-Z][A-Z0-9_]*=[\w./:,-]*$/.test(word) &&
    !/^(?:PATH|ENV|IFS|BASH|SHELL|LD_|GIT_)/.test(word);
  const first = words.findIndex((word) => !isVariable(word));
  return first === -1 ? [] : words.slice(first);
}

/** `timeout 60 npm test`. */
function withoutLimit(words: readonly string[]): readonly string[] {
  return words[0] === "timeout" && /^\d+[smh]?$/.test(words[1] ?? "") ? words.slice(2) : words;
}

/** `cat > file <<'EOF'`, the way that files are written by habit; alone, and without anything that a shell would look at in it. */
function heredocVerdict(command: string, machine: Machine): Verdict | undefined {
  const opening = /^cat(?: *>{1,2} *(\w[\w./-]*))? *<< *(['"]?)([A-Z]+)\2(?: *>{1,2} *(\w[\w./-]*))? *\n/.exec(command);
  if (opening === null || command.length > MAX_HEREDOC) return undefined;
  const [start, before, quote, mark, after] = opening;
  const path = before ?? after;
  const body = command.slice(start.length).replace(/\n+$/, "");
  const isWhole = body === mark || body.endsWith(`\n${mark}`);
  const isAlone = isWhole && !`\n${body.slice(0, -1)}\n`.includes(`\n${mark}\n`);
  const isText = !/<<|\$\[/.test(body) && (quote !== "" || !/[$`\\]/.test(body));
  if (path === undefined || (before !== undefined && after !== undefined) || !isAlone || !isText) return undefined;
  const place = locate(path, machine.cwd ?? machine.projectRoot);
  return isOrdinary(place, machine) ? denyContent("cat", shown(baseName(place))) : undefined;
}

/** A path below the project, by names that hide nothing, and none of the places that stay. */
function isNamed(path: string, machine: Machine): boolean {
  if (!/^\w[\w.@+-]*(?:\/\w[\w.@+-]*)*\/?$/.test(path)) return false;
  const place = locate(path, machine.cwd ?? machine.projectRoot);
  // Where nobody has a project, and behind links, others have a say.
  if (!isProject(normal(machine.projectRoot), machine)) return false;
  if (machine.realpath !== undefined && machine.realpath(place) !== place) return false;
  const state = normal(machine.stateDir);
  return isOrdinary(place, machine) && !isInside(state, place) && !isInside(place, state);
}

function isOrdinary(place: string, machine: Machine): boolean {
  return !place.startsWith("/dev/") && !place.startsWith("/proc/") && refuseDestination(place, machine) === undefined;
}
