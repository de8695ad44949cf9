// Everyday programs, and with which arguments they are as harmless as they look. For quick.ts: lists of names are texts and nothing is made
// before it is asked for, because most calls ask about one program in a process that lives for milliseconds.

export interface Program {
  /** What a program prints is its own and may go into a file; a filter's may not always, a sayer's never. */
  kind: "program" | "filter" | "sayer";
  isFine: (args: readonly string[]) => boolean;
}

/** Undefined for a program that needs the whole judge. */
export function programOf(name: string): Program | undefined {
  if (isOneOf(name, printing)) return { kind: "program", isFine: writesNothing };
  if (isOneOf(name, filtering)) return { kind: "filter", isFine: writesNothing };
  // Their `-o` is no file.
  if (isOneOf(name, "ls ps pgrep lsof")) return { kind: "program", isFine: always };
  if (isOneOf(name, "grep rg test")) return { kind: "filter", isFine: always };
  if (isOneOf(name, "echo cat")) return { kind: "sayer", isFine: writesNothing };
  const special = specialOf(name);
  return special === undefined
    ? undefined
    : { kind: special.kind ?? "program", isFine: (args) => writesNothing(args) && special.isFine(args) };
}

/** Whatever they are told, they do their own work; of the files they make nobody is warned. */
const printing =
  "pwd which du df stat file date uname whoami id hostname uptime free tree sleep make cmake ninja ctest mkdir chmod mvn gradle ./mvnw ./gradlew ruff mypy pyright black isort flake8 pylint tox nox tsc eslint prettier biome stylelint vitest jest mocha pytest rspec rubocop rustfmt gofmt goimports golangci-lint staticcheck shellcheck swift dart flutter mix";
const filtering =
  "head tail wc cut tr rev tac nl fold column comm diff cmp paste od hexdump strings jq true false [ basename dirname realpath readlink";

interface Special {
  kind?: Program["kind"];
  isFine: Program["isFine"];
}

function specialOf(name: string): Special | undefined {
  switch (name) {
    case "printf":
      // `-v` is for a variable.
      return { kind: "sayer", isFine: ([first]) => first !== "-v" };
    case "cd":
      return { kind: "filter", isFine: (args) => args.length === 1 && /^[\w][\w./-]*$/.test(args[0] ?? "") };
    case "exit":
    case "wait":
      return { kind: "filter", isFine: (args) => args.length < 2 && /^\d*$/.test(args[0] ?? "") };
    case "set":
      return { kind: "filter", isFine: (args) => args.length === 1 && /^[-+][eux]+$/.test(args[0] ?? "") };
    case "sort":
      return { kind: "filter", isFine: (args) => !args.some((arg) => /^-[^-]*o/.test(arg)) };
    case "uniq":
      // The second file would be written.
      return { kind: "filter", isFine: (args) => args.every((arg) => /^-[cdiu]+$/.test(arg)) };
    case "sed":
      return { kind: "filter", isFine: printsLines };
    case "find":
      return { isFine: (args) => !args.some((arg) => /^-(?:exec|ok|delete|fprint|fls)/.test(arg)) };
    case "curl":
      return { isFine: (args) => args.every((arg) => /^(?:-[sSfLkiIvX]+|[^-].*)$/s.test(arg)) };
    case "git":
      return { isFine: gitReads };
    case "npm":
    case "pnpm":
    case "yarn":
      return { isFine: verbs("test t run ci install i ls outdated audit start stop build lint view why --version") };
    case "npx":
      return {
        isFine: verbs("tsc eslint vitest jest prettier mocha playwright cypress biome knip webpack rollup vite turbo"),
      };
    case "node":
      return { isFine: runsFile };
    case "python":
    case "python3":
      return { isFine: runsModule };
    case "pip":
    case "pip3":
      return { isFine: verbs("install list show freeze check --version") };
    case "bun":
      return { isFine: verbs("test install run --version") };
    case "deno":
      return { isFine: verbs("test lint fmt check --version") };
    case "dotnet":
      return { isFine: verbs("build test restore format --version") };
    case "cargo":
      return { isFine: verbs("test build check clippy fmt doc bench tree --version") };
    case "go":
      return { isFine: verbs("test build vet fmt mod list version doc env get") };
    case "docker":
      return { isFine: verbs("ps images logs inspect version info pull") };
    default:
      return undefined;
  }
}

function isOneOf(word: string, words: string): boolean {
  return word !== "" && !word.includes(" ") && ` ${words} `.includes(` ${word} `);
}

function always(): boolean {
  return true;
}

/** Whatever the program: the file behind such an option is one that is written. */
function writesNothing(args: readonly string[]): boolean {
  return !args.some((arg) => /^-{1,2}o/.test(arg));
}

function verbs(names: string): Program["isFine"] {
  return ([verb = ""]) => isOneOf(verb, names);
}

/** A script of its own, or a question about itself: no code on the command line. */
function runsFile([first = ""]: readonly string[]): boolean {
  return /^[\w./-]+\.\w+$/.test(first) || first === "--version";
}

function runsModule([first = "", ...rest]: readonly string[]): boolean {
  return first === "-m"
    ? isOneOf(rest[0] ?? "", "pytest unittest mypy pip black ruff flake8 compileall")
    : runsFile([first]);
}

/** `sed -n '10,20p' file`: no other command of its language. */
function printsLines([option, script = "", ...files]: readonly string[]): boolean {
  return option === "-n" && /^\d+(?:,(?:\d+|\$))?p$/.test(script) && !files.some((file) => file.startsWith("-"));
}

/** Reading only, and nothing that names a program. */
function gitReads(args: readonly string[]): boolean {
  const [verb = "", ...rest] = args[0] === "--no-pager" ? args.slice(1) : args;
  const isKnown = isOneOf(
    verb,
    "status diff log show blame fetch add commit ls-files ls-tree rev-parse rev-list describe shortlog branch remote stash tag",
  );
  return isKnown && !rest.some((arg) => /^--(?:exec|upload-pack)/.test(arg));
}
