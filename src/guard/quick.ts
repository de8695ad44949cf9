// The verdict on commands that are too plain to need a parser: everyday programs, plain words, quotes without expansions, pipes and
// redirections. Where it has one it is that of the whole judge (a test holds the two together); of anything else it says nothing. A hook
// is started for every tool call, and reading the whole judge costs it half of the start of Node.

import type { Ground } from "./ground.ts";
import { baseName, locate } from "./paths.ts";
import { programOf } from "./quick-programs.ts";
import { type PlainCommand, splitPlain } from "./quick-split.ts";
import { isDevice } from "./redirect.ts";
import { refuseDestination } from "./sensitive.ts";
import { shown } from "./shape.ts";
import { denyContent, type Verdict } from "./verdict.ts";

const MAX_LENGTH = 2000;

export function quickVerdict(command: string, ground: Ground): Verdict | undefined {
  if (command.length > MAX_LENGTH) return undefined;
  const commands = splitPlain(command) ?? [];
  // Where a relative file lies depends on the directory.
  const moves = commands.some(({ words }) => words[0] === "cd");
  let verdict: Verdict | undefined;
  for (const each of commands) {
    verdict = judge(each, ground, moves);
    if (verdict?.verdict !== "allow") return verdict;
  }
  return verdict;
}

function judge({ words, files }: PlainCommand, ground: Ground, moves: boolean): Verdict | undefined {
  const [name = "", ...args] = withoutVariables(words);
  const program = programOf(name);
  if (program === undefined || !program.isFine(args)) return undefined;
  const places = files.map((file) => ({ ...file, path: locate(file.path, ground.cwd ?? ground.projectRoot) }));
  const [file, another] = places.filter(({ path }) => !isDevice(path));
  if (file === undefined) return { verdict: "allow" };
  if (moves || another !== undefined || !isOrdinary(file.path, ground)) return undefined;
  if (program.kind === "program" || file.isError) return { verdict: "allow" };
  return program.kind === "sayer" && files.length === 1 ? denyContent(name, shown(baseName(file.path))) : undefined;
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

function isOrdinary(place: string, ground: Ground): boolean {
  return !place.startsWith("/dev/") && !place.startsWith("/proc/") && refuseDestination(place, ground) === undefined;
}
