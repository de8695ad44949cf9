// find and fd: which files they match, what they delete, and what they run on each match.

import { locate } from "../paths.ts";
import { isHome } from "../project.ts";
import { placeThatStays } from "../rules/places.ts";
import { EVERYTHING, refuseTree } from "../rules/removal.ts";
import { refuseDestination } from "../rules/sensitive.ts";
import type { Call, Inner } from "../shell/call.ts";
import { FILLED, isUnknown, knownPart, withGlobs } from "../shell/shape.ts";
import { type Denial, deny } from "../verdict.ts";
import { reachedOfSession } from "./find-reach.ts";
import { Options } from "./options.ts";

interface Search {
  roots: string[];
  /** Patterns of names and paths that a match must have; empty: everything matches. */
  names: string[];
  isAged: boolean;
  isDeleting: boolean;
  /** Files that `find` itself writes. */
  files: { path: string; isContent: boolean }[];
  commands: string[][];
}

const withArgument = new Set(
  "-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -inum -links -maxdepth -mindepth -mmin -mtime -newer -perm -printf -regextype -samefile -size -type -uid -used -user -xtype -ilname -lname".split(
    " ",
  ),
);
/** Empty files and links: deleting them loses no work. */
const harmless = new Map([
  ["-type", "l"],
  ["-xtype", "l"],
  ["-size", "0"],
]);
const naming = /^-(?:i?name|i?path|wholename|iwholename|i?regex)$/;

function readFind(args: readonly string[]): Search {
  const search: Search = { roots: [], names: [], isAged: false, isDeleting: false, files: [], commands: [] };
  let at = 0;
  while (/^-(?:[HLP]|O\d)$/.test(args[at] ?? "")) at++;
  for (; at < args.length && !/^[-(!),]/.test(args[at] as string); at++) search.roots.push(args[at] as string);
  if (search.roots.length === 0) search.roots.push(".");
  let isNegated = false;
  let isPruned = false;
  let start = 0;
  for (; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === "!" || arg === "-not") {
      isNegated = true;
      continue;
    }
    if (arg === "-prune") isPruned = true;
    else if (arg === "-o" || arg === "-or") {
      // `-path ./x -prune -o ...`: the named path is skipped.
      if (isPruned) search.names.length = start;
      start = search.names.length;
      isPruned = false;
    } else if (naming.test(arg)) addName(search, args[++at] ?? "", isNegated, arg);
    else if (!isNegated && (arg === "-empty" || (harmless.has(arg) && harmless.get(arg) === args[at + 1]))) {
      search.names.push(FILLED);
    } else if (arg === "-delete") search.isDeleting = true;
    else if (/^-(?:exec|execdir|ok|okdir)$/.test(arg)) {
      const end = endOfCommand(args, at + 1);
      search.commands.push(args.slice(at + 1, end));
      at = end;
    } else if (/^-(?:fprint0?|fls)$/.test(arg)) search.files.push({ path: args[++at] ?? "", isContent: false });
    else if (arg === "-fprintf") {
      search.files.push({ path: args[at + 1] ?? "", isContent: true });
      at += 2;
    } else if (withArgument.has(arg)) {
      if (/^-(?:[acm](?:time|min)|newer|size)/.test(arg)) search.isAged = true;
      at++;
    }
    isNegated = false;
  }
  return search;
}

/** Ignores patterns such as `*`, which match everything, and negated patterns. */
function addName(search: Search, pattern: string, isNegated: boolean, test: string): void {
  const name = withGlobs(pattern);
  if (isNegated || !/[\p{L}\p{N}]/u.test(knownPart(name))) return;
  search.names.push(/name$/.test(test) && !/whole/.test(test) ? name : FILLED);
}

function endOfCommand(args: readonly string[], start: number): number {
  for (let at = start; at < args.length; at++) {
    if (args[at] === ";" || (args[at] === "+" && args[at - 1] === "{}")) return at;
  }
  return args.length;
}

export function judgeFind(call: Call): Denial | undefined {
  if (call.name !== "find") return undefined;
  const { args, cwd, machine } = call;
  const search = readFind(args);
  for (const { path, isContent } of search.files) {
    const refused = refuseDestination(locate(path, cwd), machine);
    if (refused !== undefined) return refused;
    if (isContent)
      return deny("shell-write", `find -fprintf writes content into ${path}. Use write_file (or replace) instead.`);
  }
  if (!search.isDeleting) return undefined;
  if (search.isAged && search.roots.every((root) => isTemporaryRoot(root, call))) return undefined;
  for (const hit of hits(search, call)) {
    const refused = refuseTree(hit, cwd, machine);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

function isTemporaryRoot(root: string, { cwd, machine }: Call): boolean {
  return /temporary/.test(placeThatStays(locate(root, cwd), machine) ?? "");
}

/** Paths that represent all matches, plus every matching file of the active session. */
function hits({ roots, names }: Search, { name, args, cwd, machine }: Call): string[] {
  const reached = name === "find" && names.length > 0 ? reachedOfSession(roots, args, cwd, machine) : [];
  const found = roots.flatMap((given) => {
    // An empty root would make find fail, so an unknown one is not empty.
    const root = isUnknown(given) ? FILLED : given;
    if (names.length === 0) return [root, `${root}/${EVERYTHING}`];
    // A search by name in a whole home directory: the matches are somewhere below it.
    const isBelow = isHome(locate(root, cwd), machine);
    return names.map((name) => (isBelow ? `${root}/${FILLED}/${name}` : `${root}/${name}`));
  });
  return [...found, ...reached];
}

/** The commands of `-exec`, with the matches in place of `{}`. */
export function innerOfFind(call: Call): Inner[] {
  if (call.name === "fd" || call.name === "fdfind") return innerOfFd(call);
  if (call.name !== "find") return [];
  const search = readFind(call.args);
  return search.commands.flatMap((command) =>
    hits(search, call).map((hit) => ({ argv: command.map((word) => word.replaceAll("{}", hit)) })),
  );
}

/** The list that `find` prints. */
export function printedByFind(call: Call): string {
  if (call.name === "find") return hits(readFind(call.args), call).join("\n");
  const [pattern, ...roots] = fdOptions(call.args).operands;
  const search = { roots: roots.length > 0 ? roots : ["."], names: pattern === undefined ? [] : [FILLED] };
  return hits({ ...readFind([]), ...search }, call).join("\n");
}

function fdOptions(args: readonly string[]): Options {
  const end = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg));
  return new Options(end < 0 ? args : args.slice(0, end), "edEtScj", [
    "--extension",
    "--type",
    "--max-depth",
    "--exclude",
  ]);
}

function innerOfFd({ args, cwd, machine }: Call): Inner[] {
  const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg));
  if (at < 0) return [];
  const options = fdOptions(args);
  const endings = options.all("e", "--extension");
  const [pattern, ...roots] = options.operands;
  const hit = pattern !== undefined || endings.length > 0 ? `./${FILLED}` : ".";
  const tests = [
    ...endings.map((ending) => ["-name", `*.${ending}`]),
    ...(pattern === undefined || pattern === "." ? [] : [[options.has("g", "--glob") ? "-name" : "-regex", pattern]]),
  ].flat();
  // Without these options fd skips names that start with a dot.
  const isDeep = options.has("H", "u", "--hidden", "--unrestricted");
  const reached = isDeep ? reachedOfSession(roots.length > 0 ? roots : ["."], tests, cwd, machine) : [];
  const command = args.slice(at + 1).filter((word) => word !== ";");
  const hasPlace = command.some((word) => /\{[./]*\}/.test(word));
  return [hit, ...reached].map((path) => {
    const words = command.map((word) => word.replace(/\{[./]*\}/g, path));
    return { argv: hasPlace ? words : [...words, path] };
  });
}
