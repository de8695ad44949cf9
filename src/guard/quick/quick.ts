// A fast verdict on commands that need no parser: common programs, plain words, quotes without expansions, pipes and redirections. Its
// verdict is always that of the full judge (a test compares them); for any other command it returns undefined. A hook starts for every tool
// call, and loading the full judge takes half as long as starting Node.

import type { Machine } from "../machine.ts";
import { baseName, isInside, locate, normal } from "../paths.ts";
import { isProject } from "../project.ts";
import { refuseDestination } from "../rules/sensitive.ts";
import { isDevice } from "../shell/redirect.ts";
import { shown } from "../shell/shape.ts";
import { denyContent, type Verdict } from "../verdict.ts";
import { calledProgram, isUsual, plainCommands } from "./harmless.ts";
import { kindOf, touchedBy } from "./programs.ts";
import type { PlainCommand } from "./split.ts";

/** A longer heredoc may contain so many operators that the full judge denies it. */
const MAX_HEREDOC = 4900;

/** `plain`: the commands of the line, when they are known already. */
export function quickVerdict(command: string, machine: Machine, plain = plainCommands(command)): Verdict | undefined {
  if (command.startsWith("cat ") && command.includes("<<")) return heredocVerdict(command, machine);
  // After a `cd`, relative paths mean other files.
  const changesDirectory = plain.some(({ words }) => words.includes("cd"));
  let verdict: Verdict | undefined;
  for (const each of plain) {
    verdict = judge(each, machine, changesDirectory);
    if (verdict?.verdict !== "allow") return verdict;
  }
  return verdict;
}

function judge(command: PlainCommand, machine: Machine, changesDirectory: boolean): Verdict | undefined {
  if (!isUsual(command)) return undefined;
  const { files } = command;
  const [name, args] = calledProgram(command);
  const kind = kindOf(name, args);
  if (kind === undefined) return undefined;
  const touched = touchedBy(name, args);
  if (touched.length > 0 && (changesDirectory || !touched.every((path) => isRemovable(path, machine))))
    return undefined;
  const places = files.map((file) => ({ ...file, path: locate(file.path, machine.cwd ?? machine.projectRoot) }));
  const [file, another] = places.filter(({ path }) => !isDevice(path));
  if (file === undefined) return { verdict: "allow" };
  if (changesDirectory || another !== undefined || !isOrdinary(file.path, machine)) return undefined;
  if (kind === "program" || file.isError) return { verdict: "allow" };
  return kind === "sayer" && files.length === 1 ? contentVerdict(name, file.path, machine) : undefined;
}

/** `cat > file <<'EOF'`, a common way to write files. Only when it is the whole command and the shell expands nothing in it. */
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
  return isOrdinary(place, machine) ? contentVerdict("cat", place, machine) : undefined;
}

/** Outside the project the full judge decides, because content may be written into a throw-away directory. */
function contentVerdict(name: string, place: string, machine: Machine): Verdict | undefined {
  if (machine.areWritesFree) return { verdict: "allow" };
  return isInside(place, normal(machine.projectRoot)) ? denyContent(name, shown(baseName(place))) : undefined;
}

/** A path below the project, of plain names, that may be removed. */
function isRemovable(path: string, machine: Machine): boolean {
  if (!/^\w[\w.@+-]*(?:\/\w[\w.@+-]*)*\/?$/.test(path)) return false;
  const place = locate(path, machine.cwd ?? machine.projectRoot);
  // Outside a real project, or behind links, the full judge decides.
  if (!isProject(normal(machine.projectRoot), machine)) return false;
  if (machine.realpath !== undefined && machine.realpath(place) !== place) return false;
  const state = normal(machine.stateDir);
  return isOrdinary(place, machine) && !isInside(state, place) && !isInside(place, state);
}

function isOrdinary(place: string, machine: Machine): boolean {
  return !place.startsWith("/dev/") && !place.startsWith("/proc/") && refuseDestination(place, machine) === undefined;
}
