// The verdict on commands that are too plain to need a parser: everyday programs, plain words, quotes without expansions, pipes and
// redirections. Where it has one it is that of the whole judge (a test holds the two together); of anything else it says nothing. A hook
// is started for every tool call, and reading the whole judge costs it half of the start of Node.

import type { Ground } from "./ground.ts";
import { baseName, locate } from "./paths.ts";
import { isDevice } from "./redirect.ts";
import { refuseDestination } from "./sensitive.ts";
import { shown } from "./shape.ts";
import { refusal } from "./shell-write.ts";
import type { Verdict } from "./verdict.ts";

const MAX_LENGTH = 2000;

interface Command {
  words: string[];
  /** Files that are written; only of its errors when `isError`. */
  files: { path: string; isError: boolean }[];
}

export function quickVerdict(command: string, ground: Ground): Verdict | undefined {
  if (command.length > MAX_LENGTH) return undefined;
  const commands = split(command) ?? [];
  // Where a relative file lies depends on the directory.
  const moves = commands.some(({ words }) => words[0] === "cd");
  let verdict: Verdict | undefined;
  for (const each of commands) {
    verdict = judge(each, ground, moves);
    if (verdict?.verdict !== "allow") return verdict;
  }
  return verdict;
}

/** One blank-separated word, a quoted piece of one, an operator, or a redirection. Whatever fits none of them needs a parser. */
const token =
  /[ \t]+|(&&|\|\|?|;)|((?:[12]|&)?>>?)(?![&|>(])[ \t]*([\w@%+:,./-]+|"[\w@%+:,./ -]+"|'[\w@%+:,./ -]+')(?=[ \t;|&]|$)|[12]?>&[12](?=[ \t;|&]|$)|([\w@%+:,./-][\w@%+:,./=-]*|'[^']*'|"[^"$`\\!]*")/y;

function split(command: string): Command[] | undefined {
  const commands: Command[] = [];
  let current: Command = { words: [], files: [] };
  let isGlued = false;
  token.lastIndex = 0;
  while (token.lastIndex < command.length) {
    const found = token.exec(command);
    if (found === null) return undefined;
    const [, operator, redirection, target, word] = found;
    if (operator !== undefined) {
      if (current.words.length === 0) return undefined;
      commands.push(current);
      current = { words: [], files: [] };
    } else if (redirection !== undefined) {
      // `a 5>f`: what stands before it may be a descriptor.
      if (isGlued) return undefined;
      const path = target?.replace(/^['"]|['"]$/g, "") ?? "";
      current.files.push({ path, isError: redirection.startsWith("2") });
    } else if (word !== undefined) {
      const text = /^['"]/.test(word) ? word.slice(1, -1) : word;
      if (isGlued) current.words.push((current.words.pop() ?? "") + text);
      else current.words.push(text);
    } else if (isGlued && found[0].includes(">")) return undefined;
    isGlued = word !== undefined;
  }
  if (current.words.length > 0) commands.push(current);
  else if (current.files.length > 0 || !command.trimEnd().endsWith(";")) return undefined;
  return commands;
}

/** Whatever the program: the file behind it is one that is written. */
const namesOutput = /^-{1,2}o/;

function judge({ words, files }: Command, ground: Ground, moves: boolean): Verdict | undefined {
  const [name = "", ...args] = withoutVariables(words);
  const rule = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (rule === undefined || args.some((arg) => namesOutput.test(arg)) || !rule.fine(args)) return undefined;
  const places = files.map((file) => ({ ...file, path: locate(file.path, ground.cwd ?? ground.projectRoot) }));
  const [file, another] = places.filter(({ path }) => !isDevice(path));
  if (file === undefined) return { verdict: "allow" };
  if (moves || another !== undefined || !isOrdinary(file.path, ground)) return undefined;
  if (rule.kind === "program" || file.isError) return { verdict: "allow" };
  return rule.kind === "sayer" && files.length === 1 ? refusal(name, shown(baseName(file.path))) : undefined;
}

/** `CI=1 npm test`: nothing here expands a variable, so only those that change how programs are found matter. */
function withoutVariables(words: readonly string[]): readonly string[] {
  const isVariable = (word: string) =>
    /^[A-Z][A-Z0-9_]*=[\w./:,-]*$/.test(word) && !/^(?:PATH|ENV|IFS|BASH|SHELL|LD_|GIT_)/.test(word);
  const first = words.findIndex((word) => !isVariable(word));
  return first === -1 ? [] : words.slice(first);
}

function isOrdinary(place: string, ground: Ground): boolean {
  return !place.startsWith("/dev/") && !place.startsWith("/proc/") && refuseDestination(place, ground) === undefined;
}

interface Program {
  fine: (args: readonly string[]) => boolean;
  /** What a program prints is its own and may go into a file; a filter's may not always, a sayer's never. */
  kind: "program" | "filter" | "sayer";
}

const always = () => true;
/** No set is made of them: most calls ask about one program. */
const verbs =
  (names: string) =>
  ([verb = ""]: readonly string[]) =>
    verb !== "" && !verb.includes(" ") && ` ${names} `.includes(` ${verb} `);
/** A script of its own, or a question about itself: no code on the command line. */
const runsFile = ([first = ""]: readonly string[]) => /^[\w./-]+\.\w+$/.test(first) || first === "--version";
const runsModule = ([first = "", ...rest]: readonly string[]) =>
  first === "-m" ? verbs("pytest unittest mypy pip black ruff flake8 compileall")(rest) : runsFile([first]);
const packageVerbs = verbs("test t run ci install i ls outdated audit start stop build lint --version");
/** Reading only, and nothing that names a file to write. */
const gitReads = (args: readonly string[]) =>
  verbs("status diff log show blame fetch add commit ls-files rev-parse describe shortlog")(args) &&
  !args.some((arg) => /^--(?:exec|upload-pack)/.test(arg));

const program = (fine: Program["fine"]): Program => ({ fine, kind: "program" });
const filter: Program = { fine: always, kind: "filter" };
const sayer: Program = { fine: always, kind: "sayer" };

const programs: Readonly<Record<string, Program>> = {
  ls: program(always),
  pwd: program(always),
  which: program(always),
  du: program(always),
  df: program(always),
  stat: program(always),
  file: program(always),
  date: program(always),
  uname: program(always),
  whoami: program(always),
  sleep: program(always),
  echo: sayer,
  printf: sayer,
  cat: sayer,
  head: filter,
  tail: filter,
  wc: filter,
  grep: filter,
  rg: filter,
  cut: filter,
  tr: filter,
  cd: { fine: (args) => args.length === 1 && /^[\w][\w./-]*$/.test(args[0] ?? ""), kind: "filter" },
  npm: program(packageVerbs),
  pnpm: program(packageVerbs),
  yarn: program(packageVerbs),
  node: program(runsFile),
  python: program(runsModule),
  python3: program(runsModule),
  pip: program(verbs("install list show freeze --version")),
  npx: program(verbs("tsc eslint vitest jest prettier mocha playwright cypress biome")),
  bun: program(verbs("test install run --version")),
  deno: program(verbs("test lint fmt check --version")),
  make: program(always),
  mkdir: program(always),
  mvn: program(always),
  gradle: program(always),
  dotnet: program(verbs("build test restore format --version")),
  ruff: program(always),
  mypy: program(always),
  tsc: program(always),
  eslint: program(always),
  vitest: program(always),
  jest: program(always),
  pytest: program(always),
  cargo: program(verbs("test build check clippy fmt doc bench tree --version")),
  go: program(verbs("test build vet fmt mod list version doc")),
  git: program(gitReads),
};
