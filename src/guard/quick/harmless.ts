// Commands that only run programs: they write, create and remove no file, so that every machine allows them. Most commands of an agent are of
// this kind, and a hook answers them without loading anything else.

import { kindOf, touchedBy } from "./programs.ts";
import { type PlainCommand, splitPlain } from "./split.ts";

const MAX_LENGTH = 2000;

/** The commands of a line that needs no parser; none otherwise. */
export function plainCommands(line: string): readonly PlainCommand[] {
  return (line.length > MAX_LENGTH ? undefined : splitPlain(line)) ?? [];
}

/** True only if the full judge allows the commands wherever they run (a test compares them). */
export function areHarmless(commands: readonly PlainCommand[]): boolean {
  return commands.length > 0 && commands.every(writesNoFile);
}

function writesNoFile(command: PlainCommand): boolean {
  const { files } = command;
  if (!isUsual(command) || files.some(({ path }) => path !== "/dev/null")) return false;
  const [name, args] = calledProgram(command);
  return kindOf(name, args) !== undefined && touchedBy(name, args).length === 0;
}

/** When a descriptor is redirected twice, the first file is truncated: the full judge decides. */
export function isUsual({ files, isTurned }: PlainCommand): boolean {
  const errors = files.filter(({ isError }) => isError).length;
  return !((isTurned && files.length > 0) || errors > 1 || files.length - errors > 1);
}

/** The name of the program and its arguments, without variables and `timeout` in front of them. */
export function calledProgram({ words }: PlainCommand): [name: string, args: readonly string[]] {
  const [name = "", ...args] = withoutTimeout(withoutVariables(words));
  return [name, args];
}

/** `CI=1 npm test`: nothing here expands variables, so only those matter that change how programs are found. */
function withoutVariables(words: readonly string[]): readonly string[] {
  const isVariable = (word: string) =>
    word.includes("=") &&
    /^[A-Z][A-Z0-9_]*=[\w./:,-]*$/.test(word) &&
    !/^(?:PATH|ENV|IFS|BASH|SHELL|LD_|GIT_)/.test(word);
  const first = words.findIndex((word) => !isVariable(word));
  return first === -1 ? [] : words.slice(first);
}

/** `timeout 60 npm test`. */
function withoutTimeout(words: readonly string[]): readonly string[] {
  return words[0] === "timeout" && /^\d+[smh]?$/.test(words[1] ?? "") ? words.slice(2) : words;
}
