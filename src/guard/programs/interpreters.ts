// Interpreters and the code that they receive on the command line or through standard input.

import type { Call } from "../shell/call.ts";
import { isUnknown } from "../shell/shape.ts";

export interface Interpreted {
  language: string;
  /** Source code from the command line; script files are not read. */
  codes: string[];
  /** `perl -i`: rewrites the files that it reads. */
  isInPlace: boolean;
  files: string[];
}

interface Interpreter {
  name: RegExp;
  language: string;
  /** `code`, `long`: options that take code. `values`: letters that take another value. `verb`: the subcommand that takes code. */
  code?: string;
  long?: readonly string[];
  values?: string;
  verb?: string;
  canEditInPlace?: boolean;
}

const interpreters: readonly Interpreter[] = [
  { name: /^(?:i?python|pypy)[\d.]*$/, language: "python", code: "c", values: "WX" },
  {
    name: /^(?:node|nodejs|tsx|ts-node|esno)$/,
    language: "javascript",
    code: "ep",
    long: ["--eval", "--print"],
    values: "r",
  },
  { name: /^bun$/, language: "javascript", code: "ep", long: ["--eval", "--print"] },
  { name: /^deno$/, language: "javascript", verb: "eval" },
  { name: /^crystal$/, language: "other", verb: "eval" },
  { name: /^perl[\d.]*$/, language: "perl", code: "eE", values: "MmIFxCDV", canEditInPlace: true },
  { name: /^ruby[\d.]*$/, language: "ruby", code: "e", values: "rIFCKEx", canEditInPlace: true },
  { name: /^php[\d.]*$/, language: "php", code: "rBRE", values: "dcf" },
  { name: /^lua(?:jit)?[\d.]*$/, language: "lua", code: "e", values: "l" },
  { name: /^(?:Rscript|R)$/, language: "R", code: "e" },
  { name: /^julia$/, language: "julia", code: "eE", long: ["--eval", "--print"], values: "LJ" },
  { name: /^groovy$/, language: "groovy", code: "e" },
  { name: /^(?:elixir|iex)$/, language: "elixir", code: "e", long: ["--eval"] },
  { name: /^(?:clojure|clj|racket|raku|scala|ghc)$/, language: "other", code: "e" },
  { name: /^guile$/, language: "other", code: "c" },
  { name: /^osascript$/, language: "osascript", code: "e" },
  { name: /^emacs$/, language: "emacs", long: ["--eval", "-eval"] },
  { name: /^sqlite3$/, language: "sql" },
];

export function interpretedBy(call: Call): Interpreted | undefined {
  const interpreter = interpreters.find(({ name }) => name.test(call.name));
  if (interpreter === undefined) return undefined;
  const read = readCode(call.args, interpreter);
  if (interpreter.language === "sql")
    return { ...read, codes: [...read.files.slice(1), ...codeFromInput(call, undefined)] };
  if (read.codes.length > 0 || read.isModule) return read;
  const [file] = read.files;
  return { ...read, codes: codeFromInput(call, file) };
}

/** Code from standard input or from a descriptor: `python - <<EOF`, `node <(...)`. */
function codeFromInput(call: Call, file: string | undefined): string[] {
  const feed = file === undefined || file === "-" ? call.stdin : call.feedOf(file);
  return feed === undefined || feed.origin === "terminal" || isUnknown(feed.text) ? [] : [feed.text];
}

function readCode(args: readonly string[], spec: Interpreter): Interpreted & { isModule: boolean } {
  const read = {
    language: spec.language,
    codes: [] as string[],
    isInPlace: false,
    files: [] as string[],
    isModule: false,
  };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    const long = spec.long?.find((name) => arg === name || arg.startsWith(`${name}=`));
    if (long !== undefined) read.codes.push(arg === long ? (args[++at] ?? "") : arg.slice(long.length + 1));
    else if (arg === "--" || (!arg.startsWith("-") && arg !== spec.verb) || arg === "-") {
      read.files.push(...args.slice(arg === "--" ? at + 1 : at));
      break;
    } else if (arg === spec.verb) read.codes.push(args.slice(at + 1).find((word) => !word.startsWith("-")) ?? "");
    else if (/^-[^-]/.test(arg)) at += cluster(arg, args[at + 1], spec, read);
    if (read.isModule) break;
  }
  return read;
}

/** Reads a cluster of letters; returns how many further words it takes. */
function cluster(
  arg: string,
  next: string | undefined,
  spec: Interpreter,
  read: Interpreted & { isModule: boolean },
): number {
  // `node -pe code`, and Perl's `-i.bak`.
  const letters = arg === "-pe" && spec.language === "javascript" ? "-e" : arg;
  for (let at = 1; at < letters.length; at++) {
    const letter = letters[at] as string;
    const rest = letters.slice(at + 1);
    if (spec.code?.includes(letter)) {
      read.codes.push(rest === "" ? (next ?? "") : rest);
      return rest === "" ? 1 : 0;
    }
    if (letter === "m" && spec.language === "python") {
      read.isModule = true;
      return 0;
    }
    if (letter === "i" && spec.canEditInPlace) {
      read.isInPlace = true;
      // The rest is the suffix of the backup file.
      return 0;
    }
    if (spec.values?.includes(letter)) return rest === "" ? 1 : 0;
  }
  return 0;
}
