// Builtins that change the shell: cd, export, read, set, alias, eval and others. They update `shell` and return the code that they run.

import { hasIds } from "../programs/processes.ts";
import { type Call, quotedWord } from "./call.ts";
import { printedBy } from "./printed.ts";
import { FILLED, isUnknown, UNKNOWN } from "./shape.ts";
import type { Shell } from "./shell.ts";

export interface BuiltinCode {
  /** Runs now, in this shell. */
  now?: string;
  /** Runs at the end: a trap. */
  later?: string;
}

export function runBuiltin(call: Call, shell: Shell): BuiltinCode {
  if (Object.hasOwn(changes, call.name)) changes[call.name]?.(call, shell);
  return Object.hasOwn(codes, call.name) ? (codes[call.name]?.(call) ?? {}) : {};
}

type Builtin = (call: Call, shell: Shell) => void;

const declare: Builtin = ({ args }, shell) => {
  for (const arg of args) {
    const found = /^([A-Za-z_]\w*)(\+?)=(.*)$/s.exec(arg);
    if (found === null) continue;
    const [, name = "", append, value = ""] = found;
    // The elements of a list have already been assigned.
    if (shell.isAssigned(name) && value === LIST) continue;
    shell.assign(name, append === "+" ? shell.read(name) + value : value);
  }
};

/** Stands for `(a b)` in `declare x=(a b)`. */
export const LIST = "(\uE001)";

const changes: Record<string, Builtin> = {
  cd: changeDirectory,
  popd: (_, shell) => shell.enter(shell.read("OLDPWD")),
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  read: readLine,
  mapfile: readLines,
  readarray: readLines,
  printf: (call, shell) => {
    const [flag, name = ""] = call.args;
    if (flag === "-v") shell.assign(name, printedBy({ ...call, args: call.args.slice(2) }).text);
  },
  set: ({ args }, shell) => {
    const end = args.indexOf("--");
    const first = args.findIndex((arg) => !/^[-+]/.test(arg));
    if (end >= 0) shell.positional = args.slice(end + 1);
    else if (first >= 0 && !/^[-+].*o$/.test(args[first - 1] ?? "")) shell.positional = args.slice(first);
  },
  shift: ({ args }, shell) => {
    shell.positional = shell.positional.slice(Number(args[0] ?? 1) || 1);
  },
  unset: ({ args }, shell) => {
    for (const name of args) if (!name.startsWith("-")) shell.assign(name, "");
  },
  getopts: ({ args }, shell) => shell.assign(args[1] ?? "_", FILLED),
  alias: ({ args }, shell) => {
    for (const arg of args) {
      const at = arg.indexOf("=");
      if (at > 0) shell.alias(arg.slice(0, at), arg.slice(at + 1));
    }
  },
};

const codes: Record<string, (call: Call) => BuiltinCode> = {
  eval: ({ args }) => ({ now: args.join(" ") }),
  source: (call) => {
    const [path = ""] = call.args.filter((arg) => arg !== "--");
    const text = call.feedOf(path)?.text;
    return text === undefined || isUnknown(text) ? {} : { now: text };
  },
  trap: ({ args }) => {
    const code = args.find((arg) => arg !== "--");
    return code === undefined || code.startsWith("-") ? {} : { later: code };
  },
};

function changeDirectory({ args }: Call, shell: Shell): void {
  const path = args.find((arg) => !/^-[LPe@]+$|^--$/.test(arg));
  if (path === undefined) shell.enter(shell.home);
  else if (path === "-") shell.enter(shell.read("OLDPWD"));
  else if (path !== "") shell.enter(path);
}

/** In a loop, every line is a possible value. */
function readLine({ args, stdin }: Call, shell: Shell): void {
  const names = args.filter((arg, i) => /^[A-Za-z_]\w*$/.test(arg) && !/^-[adinNptu]$/.test(args[i - 1] ?? ""));
  const lines = stdin.text.split("\n").filter((line) => line.trim() !== "");
  const isKnownList = stdin.origin !== "terminal" && lines.length > 0 && lines.length <= 8 && !isUnknown(stdin.text);
  const values = isKnownList ? lines : [FILLED];
  for (const [i, name] of (names.length === 0 ? ["REPLY"] : names).entries()) {
    const isLast = i >= names.length - 1;
    const field = (line: string) => {
      // A line of `ps`: one of its fields is the id.
      if (hasIds(line)) return line;
      const words = line.trim().split(/\s+/);
      return isLast ? words.slice(i).join(" ") : (words[i] ?? "");
    };
    shell.assign(name, ...values.map((line) => (line === FILLED ? FILLED : field(line))));
  }
}

function readLines({ args, stdin }: Call, shell: Shell): void {
  const name = args.filter((arg) => /^[A-Za-z_]\w*$/.test(arg)).at(-1) ?? "MAPFILE";
  const isKnownList = stdin.origin !== "terminal" && !isUnknown(stdin.text);
  shell.assignList(name, isKnownList ? stdin.text.split("\n").filter((line) => line !== "") : [UNKNOWN]);
}

/** The code of an alias call: its text followed by the arguments. */
export function aliasCode(text: string, args: readonly string[]): string {
  return [text, ...args.map(quotedWord)].join(" ");
}
