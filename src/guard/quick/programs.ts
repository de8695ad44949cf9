// Common programs, and the arguments with which they are harmless. Used by quick.ts: lists of names are strings and nothing is built in
// advance, because most calls ask about one program in a process that lives for milliseconds.

export type Kind = "program" | "filter" | "sayer";

/** A program's output may go into a file, a filter's only sometimes, that of a sayer (echo, cat) never. Undefined: ask the full judge. */
export function kindOf(name: string, args: readonly string[]): Kind | undefined {
  // Their `-o` does not name a file.
  if (isOneOf(name, "ls ps pgrep lsof")) return "program";
  if (isOneOf(name, "grep rg test")) return "filter";
  if (!writesNothing(args)) return undefined;
  if (isOneOf(name, printing)) return "program";
  if (isOneOf(name, filtering)) return "filter";
  if (isOneOf(name, "echo cat")) return "sayer";
  if (!(hasVerb(name, args) ?? isFine(name, args))) return undefined;
  if (name === "printf") return "sayer";
  return isOneOf(name, "cd exit wait set sort uniq sed awk tee") ? "filter" : "program";
}

/** The paths that are created or removed. For copies also the sources, which must be ordinary files too. */
export function touchedBy(name: string, args: readonly string[]): readonly string[] {
  if (isOneOf(name, "rm touch")) return operandsOf(args);
  if (name === "tee") return args.slice(1);
  return name === "cp" || name === "mv" ? [...operandsOf(args), ...targetsOf(args)] : [];
}

/** Programs that are harmless with any arguments. */
export const printing =
  "pwd which du df stat file uname whoami id hostname uptime free tree sleep nproc lscpu lsblk printenv type jobs mkdir rmdir chmod chown md5sum sha1sum sha256sum sha512sum cksum b2sum ping dig nslookup host netstat ss nc " +
  "cmake ninja ctest meson bazel gcc g++ clang clang++ cc rustc rustfmt javac java jar kotlinc scalac sbt ant mvn gradle ./mvnw ./gradlew swift xcodebuild dart flutter mix rebar3 stack cabal zig protoc buf sqlc " +
  "ruff mypy pyright pyre black isort flake8 pylint bandit tox nox pytest coverage pre-commit alembic flask django-admin uvicorn gunicorn mkdocs " +
  "tsc eslint prettier biome oxlint stylelint vitest jest mocha ava karma playwright cypress nyc c8 vite webpack rollup esbuild parcel tsup swc babel next nuxt astro ng nx lerna turbo rush knip madge depcheck typedoc prisma drizzle-kit wrangler vercel netlify firebase flyctl heroku " +
  "rake rspec rubocop rails gem composer phpunit phpstan gofmt goimports golangci-lint staticcheck shellcheck hadolint yamllint markdownlint actionlint " +
  "terraform tofu pulumi ansible-playbook ansible-lint helm minikube kind k3d docker-compose gh glab psql mysql redis-cli mongosh pg_dump createdb dropdb systemctl journalctl brew apt apt-get";
export const filtering =
  "head tail wc cut tr rev tac nl fold column comm diff cmp paste od hexdump strings jq true false [ basename dirname realpath readlink";

/** Programs with subcommands, and the harmless ones. */
const verbs = [
  "npm=test t run run-script ci install i add remove uninstall update up ls list outdated audit start stop build lint format typecheck dev pack view info why version prune dedupe init --version -v",
  "npx=tsc eslint vitest jest prettier mocha playwright cypress biome knip webpack rollup vite turbo",
  "pip=install uninstall list show freeze check --version",
  "poetry=install add remove lock update show build check --version",
  "uv=sync add remove lock pip venv tree --version",
  "bundle=install update check list outdated --version",
  "bun=test install add remove run --version",
  "deno=test lint fmt check task --version",
  "dotnet=build test restore format add run publish --version",
  "cargo=test build check clippy fmt doc bench tree run add remove update clean nextest --version",
  "go=test build vet fmt mod list version doc env get run generate install clean work tool",
];

/** Undefined for a program that is not in the list. */
function hasVerb(name: string, [verb = ""]: readonly string[]): boolean | undefined {
  const family =
    name === "pnpm" || name === "yarn" ? "npm" : name === "pip3" ? "pip" : name === "pdm" ? "poetry" : name;
  const known = verbs.find((line) => line.startsWith(`${family}=`));
  return known === undefined ? undefined : isOneOf(verb, known.slice(family.length + 1));
}

function isFine(name: string, args: readonly string[]): boolean {
  const [first = ""] = args;
  switch (name) {
    case "git":
      return gitIsPlain(args);
    case "node":
      return runsFile(first);
    case "python":
    case "python3":
      return first === "-m"
        ? isOneOf(args[1] ?? "", "pytest unittest mypy pip black ruff flake8 compileall")
        : runsFile(first);
    case "cd":
      return args.length === 1 && /^[\w][\w./-]*$/.test(first);
    case "rm":
      return hasOnly(args, /^-[rRfvi]+$/, 1);
    case "touch":
      return hasOnly(args, /^-[acm]+$/, 1);
    case "cp":
    case "mv":
      return hasOnly(args, /^-[rRapfvnu]+$/, 2);
    case "kill":
      // Only ids and jobs: names and groups need the full judge.
      return args.every((arg, i) => (i === 0 && /^-(?:9|[A-Z]+)$/.test(arg)) || /^(?:%\d|[1-9]\d+)$/.test(arg));
    case "make":
      // A makefile may be given on the command line.
      return !args.some((arg) => /^-(?:[^-]*f|-f|-ma|-e|E)/.test(arg));
    case "tee":
      return first === "-a";
    case "find":
      return !args.some((arg) => /^-(?:exec|ok|delete|fprint|fls)/.test(arg));
    case "sed":
      return changesLines(args);
    case "awk":
      return picksFields(args);
    case "sort":
      return !args.some((arg) => /^-[^-]*o/.test(arg));
    case "uniq":
      // The second operand is the output file.
      return args.every((arg) => /^-[cdiu]+$/.test(arg));
    case "curl":
      return args.every((arg) => /^(?:-[sSfLkiIvXHdw]+|[^-].*)$/s.test(arg));
    case "docker":
    case "podman":
    case "kubectl":
      // `docker cp` writes files.
      return !args.some((arg) => isOneOf(arg, "cp mv sync"));
    case "printf":
      // `-v` assigns a variable.
      return first !== "-v";
    case "date":
      // Its format can contain any text.
      return !args.some((arg) => arg.includes("+"));
    case "exit":
    case "wait":
      return args.length < 2 && /^\d*$/.test(first);
    case "set":
      return args.length === 1 && /^[-+][eux]+$/.test(first);
    default:
      return false;
  }
}

function isOneOf(word: string, words: string): boolean {
  return word !== "" && !word.includes(" ") && ` ${words} `.includes(` ${word} `);
}

/** With any program, such an option names an output file. */
function writesNothing(args: readonly string[]): boolean {
  return !args.some((arg) => arg.startsWith("-o") || arg.startsWith("--o"));
}

/** Whether there are no other options than these, and at least `least` operands. */
function hasOnly(args: readonly string[], options: RegExp, least: number): boolean {
  return operandsOf(args).length >= least && args.every((arg) => !arg.startsWith("-") || options.test(arg));
}

function operandsOf(args: readonly string[]): string[] {
  return args.filter((arg) => !arg.startsWith("-"));
}

/** The paths that a copy creates when its last operand is a directory. */
function targetsOf(args: readonly string[]): string[] {
  const operands = operandsOf(args);
  const target = (operands.at(-1) ?? "").replace(/\/$/, "");
  return operands.slice(0, -1).map((source) => `${target}/${source.slice(source.lastIndexOf("/") + 1)}`);
}

/** A script file or `--version`: no code on the command line. */
function runsFile(first: string): boolean {
  return /^[\w./-]+\.\w+$/.test(first) || first === "--version";
}

/** `sed -n '10,20p' file`, `sed 's/a/b/g'`: no other sed command. */
function changesLines(args: readonly string[]): boolean {
  const [script = "", ...files] = args[0] === "-n" ? args.slice(1) : args;
  const isPlain = /^(?:\d+(?:,(?:\d+|\$))?[pd]|s([/|#])[^/|#\\\n]*\1[^/|#\\\n]*\1[gp]*)$/.test(script);
  return isPlain && !files.some((file) => file.startsWith("-"));
}

/** `awk '{print $1}'`: no output file, command or include. */
function picksFields(args: readonly string[]): boolean {
  const [script = "", ...files] = (args[0] ?? "").startsWith("-F") ? args.slice(args[0] === "-F" ? 2 : 1) : args;
  return !/^-|[>|@]|system|getline/.test(script) && !files.some((file) => file.startsWith("-"));
}

/** Neither discards work nor names a program to run. */
function gitIsPlain(args: readonly string[]): boolean {
  const [verb = "", ...rest] = args[0] === "--no-pager" ? args.slice(1) : args;
  if (rest.some((arg) => /^--(?:exec|upload-pack|receive-pack)/.test(arg))) return false;
  const options = gitOptions.find((line) => line.startsWith(`${verb}=`))?.slice(verb.length + 1);
  if (options !== undefined) {
    // Names that begin with a letter: no `.`, no `:/`, no pattern, no parent directory.
    return rest.every((arg) => isOneOf(arg, options) || (/^\w[\w./~^-]*$/.test(arg) && !arg.includes("..")));
  }
  if (verb === "reflog") return rest.length === 0;
  if (verb === "stash") return !rest.some((arg) => /^-(?:\w*a|-a)|^(?:drop|clear)$/.test(arg));
  return isOneOf(
    verb,
    "status diff log show blame fetch pull add commit merge cherry-pick revert clone init ls-files ls-tree ls-remote rev-parse rev-list describe shortlog remote tag grep cat-file show-ref for-each-ref merge-base whatchanged range-diff count-objects lfs version",
  );
}

/** Verbs that can discard work, and the options with which they do not. */
const gitOptions = [
  "push=-u --set-upstream --tags -q -v",
  "reset=--soft --mixed --keep -- -q",
  "rebase=--continue --abort --skip --onto --autostash",
  "checkout=-b -B -q -t --track --detach --ours --theirs -- -",
  "switch=-c -q -t --track --create --detach -",
  "restore=--staged -S --",
  "branch=-a -r -v -vv -m --list --show-current --all --merged --no-merged --contains --sort=-committerdate",
  "worktree=-b --detach --porcelain",
];
