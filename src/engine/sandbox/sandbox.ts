// Builds the command line that runs a program in a bubblewrap sandbox, from a Cell that describes the file system inside. It knows nothing
// about projects, and reads the machine only to find out whether bubblewrap works.

import { spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { errno, reasonOf } from "../../errors.ts";
import { searchPath } from "../../search-path.ts";
import type { Environment } from "../../setting-layers.ts";
import { stripControls } from "../../text.ts";
import { limitLines } from "./limits.ts";
import { type Scope, scopes } from "./scope.ts";

export type SandboxProgram =
  /** `scope`: blocks abstract sockets; null when this machine cannot block them. */
  { kind: "found"; program: string; scope: Scope | null } | { kind: "missing"; reason: string; hint: string };

/** What a process inside finds at a path. Paths are absolute and contain no links. */
export type Mount =
  /** The same as outside. */
  | { kind: "machine"; path: string; writable: boolean }
  /** A directory that only contains other mounts; files written to it are deleted with the sandbox. */
  | { kind: "empty"; path: string; writable: boolean }
  /** A private file that starts as a copy of another. */
  | { kind: "copy"; path: string; from: string }
  /** A file with this text. */
  | { kind: "text"; path: string; text: string }
  | { kind: "link"; path: string; target: string }
  /** Hides a file: it reads as empty. */
  | { kind: "void"; path: string };

export interface Cell {
  /** In any order; at most one per path, and exactly one for "/". */
  mounts: readonly Mount[];
  variables: Readonly<Record<string, string>>;
}

interface Command {
  program: string;
  args: readonly string[];
}

/**
 * bubblewrap keeps one process outside, which would die of a signal meant for the program and kill the program without a grace period.
 * With the signal ignored there, only the program receives it, as a member of the same process group.
 */
const ignoreSignals = `trap '' HUP INT TERM`;

/** The first command inside: makes the copies. */
const makeCopies = `while [ "$1" != -- ]; do (umask 077; cp "$1" "$2") || exit 126; shift 2; done; shift`;

/**
 * Resets ignored signals to their default, which no shell can do, nor an old `env`. Without it, a program that does not handle a signal
 * itself (Node does) only ends when it is killed. A shell starts it, because `env` takes a program with "=" in its name for a variable.
 */
const resetSignals = `env --default-signal=TERM true 2>/dev/null && exec env --default-signal=HUP,INT,TERM "$0" -c 'exec "$@"' "$0" "$@"`;

/** The scope program also resets signals. PERL_BADLANG=0 suppresses perl's warning about a locale that is not installed. */
const scoped = "export PERL_BADLANG=0";

const SHELL = "/bin/sh";
/** Where originals are mounted until they are copied; read-only. */
const ORIGINALS = "/run/maestro";
/** The first descriptor for a text; shells only accept single digits. */
const FIRST_TEXT = 3;

/**
 * No new session: the program stays in the process group through which it is stopped, and an attempt has no terminal that it could write
 * to. All processes inside share a PID namespace: they cannot see or signal others, and none of them outlives the program or the engine.
 */
const namespaces = ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];
const privileges = ["--cap-drop", "ALL"];

/** The command line that runs a command in a cell. It inherits the environment, overridden by the cell's variables. */
export function inSandbox(
  bwrap: string,
  command: Command,
  cell: Cell,
  scope: Scope | null = null,
): { program: string; args: string[] } {
  const copies = cell.mounts.filter((mount) => mount.kind === "copy").map(({ path, from }) => ({ path, from }));
  const texts = cell.mounts.filter((mount) => mount.kind === "text");
  const places: Places = {
    original: (path) => `${ORIGINALS}/${copies.findIndex((copy) => copy.path === path)}`,
    descriptor: (path) => FIRST_TEXT + texts.findIndex((text) => text.path === path),
  };
  const steps = [
    ...cell.mounts.map((mount) => stepOf(mount, places)),
    { path: "/dev", words: ["--dev", "/dev"] },
    { path: "/proc", words: ["--proc", "/proc"] },
  ];
  // Parents are mounted before their children.
  const ordered = steps.sort((a, b) => depthOf(a.path) - depthOf(b.path));
  // Made read-only last, because other mounts had to be created inside them. /proc too: root could change settings of the whole machine there.
  const closed = cell.mounts.filter((mount) => mount.kind === "empty" && !mount.writable).map(({ path }) => path);
  const words = [
    ...[...namespaces, ...privileges],
    ...ordered.flatMap((step) => step.words),
    ...[...closed, "/proc"].flatMap((path) => ["--remount-ro", path]),
    ...Object.entries(cell.variables).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
  const outside = [
    ignoreSignals,
    scope === null ? "" : scoped,
    ...texts.map(({ path }) => opening(places.descriptor(path))),
    `exec "$@"`,
  ].join("\n");
  const entry = [makeCopies, limitLines(currentLimits()), scope === null ? resetSignals : scoped, `exec "$@"`].join(
    "\n",
  );
  const run = [...(scope?.scoped ?? []), command.program, ...command.args];
  const inside = [...copies.flatMap(({ path }) => [places.original(path), path]), "--", ...run];
  return {
    program: SHELL,
    args: [
      ...["-c", outside, SHELL, ...texts.map(({ text }) => text.replace(/\n$/, ""))],
      ...(scope === null ? [] : [...scope.bare, String(FIRST_TEXT + texts.length)]),
      ...[bwrap, ...words, "--", SHELL, "-c", entry, SHELL, ...inside],
    ],
  };
}

interface Places {
  original: (path: string) => string;
  descriptor: (path: string) => number;
}

function stepOf(mount: Mount, { original, descriptor }: Places): { path: string; words: string[] } {
  const { path } = mount;
  switch (mount.kind) {
    case "machine":
      return { path, words: [mount.writable ? "--bind" : "--ro-bind", path, path] };
    case "empty":
      // bubblewrap starts with an empty root.
      return { path, words: path === "/" ? [] : ["--tmpfs", path] };
    case "copy":
      return { path: original(path), words: ["--ro-bind", mount.from, original(path)] };
    case "text":
      return { path, words: ["--ro-bind-data", String(descriptor(path)), path] };
    case "link":
      return { path, words: ["--symlink", mount.target, path] };
    case "void":
      return { path, words: ["--dev-bind", "/dev/null", path] };
  }
}

/** Shell lines that pass the next argument to bubblewrap as a readable descriptor. */
function opening(descriptor: number): string {
  return `exec ${descriptor}<<END\n$1\nEND\nshift`;
}

function currentLimits(): string {
  return process.platform === "linux" ? readFileSync("/proc/self/limits", "utf8") : "";
}

function depthOf(path: string): number {
  return path === "/" ? 0 : path.split("/").length - 1;
}

const TRIAL_MS = 10_000;
const trial: Cell = {
  mounts: [
    { kind: "machine", path: "/", writable: false },
    { kind: "empty", path: "/tmp", writable: true },
  ],
  variables: {},
};
/** Prints the number of the first scope that works here. */
const trialCommand: Command = {
  program: SHELL,
  args: [
    "-c",
    [
      ...scopes.map(
        ({ scoped: words }, at) => `${words.map(quoted).join(" ")} ${SHELL} -c : 2>/dev/null && { echo ${at}; exit; }`,
      ),
      ":",
    ].join("\n"),
  ],
};

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Finds bubblewrap and tries it, because the machine may forbid namespaces. */
export function findSandbox(env: Environment, platform: NodeJS.Platform = process.platform): SandboxProgram {
  if (platform !== "linux") {
    return missing("a sandbox needs Linux", "Leave out --sandbox, or run Maestro in a virtual machine.");
  }
  const path = searchPath(env.PATH);
  const program = path
    .split(delimiter)
    .map((directory) => join(directory, "bwrap"))
    .find(isProgram);
  if (program === undefined) {
    return missing(
      "bubblewrap (bwrap) is not installed, or not on the PATH",
      'Install it, for instance with "apt install bubblewrap" or "dnf install bubblewrap".',
    );
  }
  const { program: first, args } = inSandbox(program, trialCommand, trial);
  const { status, stdout, stderr, error } = spawnSync(first, args, {
    cwd: "/",
    env: { PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    timeout: TRIAL_MS,
    killSignal: "SIGKILL",
  });
  if (status === 0) return { kind: "found", program, scope: scopes[Number(stdout || -1)] ?? null };
  const said = error === undefined ? stripControls(stderr).trim().split("\n").at(-1) : reasonOf(error);
  const reason = said?.replace(/^bwrap: /, "") || "no reason given";
  return missing(`bubblewrap cannot create a sandbox here: ${reason}`, hintFor(reason));
}

function hintFor(reason: string): string {
  const [, hint] = hints.find(([pattern]) => pattern.test(reason)) ?? [];
  return hint ?? `"bwrap --ro-bind / / true" shows more.`;
}

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /mount proc/i,
    "Containers hide parts of /proc: start the container with --security-opt systempaths=unconfined, or leave out --sandbox.",
  ],
  [
    /namespace|uid map|Operation not permitted|Permission denied|loopback/i,
    "User namespaces are forbidden here. Check the settings user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns (sysctl).",
  ],
  [/unknown option/i, "This bubblewrap is too old: install a newer one."],
];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return false;
  }
}

function missing(reason: string, hint: string): SandboxProgram {
  return { kind: "missing", reason, hint };
}
