// What a command prints, if that is known without running it: echo, printf, pwd, mktemp and others, and filters of their output.

import { baseName, isInside, locate, normal, parentOf } from "../paths.ts";
import { printedByFind } from "../programs/find.ts";
import { readGit } from "../programs/git/command.ts";
import { Options } from "../programs/options.ts";
import { filteredProcesses, listedProcesses } from "../programs/process-lists.ts";
import { hasIds } from "../programs/processes.ts";
import { temporaryRoots } from "../rules/places.ts";
import { type Call, computed, type Feed, fromShell, nothing } from "./call.ts";
import { FILLED, isKnown, MADE, STAR, UNKNOWN } from "./shape.ts";

const MAX_OUTPUT = 65_536;

export function printedBy(call: Call): Feed {
  const processes =
    listedProcesses(call) ?? (hasIds(call.stdin.text) && isFilter(call.name) ? filteredProcesses(call) : undefined);
  if (processes !== undefined) return processes;
  const feed = Object.hasOwn(printers, call.name) ? printers[call.name]?.(call) : undefined;
  if (feed === undefined) return silent.has(call.name) ? nothing : computed;
  return feed.text.length > MAX_OUTPUT ? { ...feed, text: UNKNOWN } : feed;
}

/** Programs that print their input, or a part of it. */
function isFilter(name: string): boolean {
  return /^(?:cat|tee|sort|uniq|head|tail|tac|nl|cut|tr|sed|awk|grep|column|fmt|paste|fold)$/.test(name);
}

const silent = new Set(
  ": true false cd pushd popd test [ export declare typeset local readonly set unset shift alias mkdir touch rm cp mv ln chmod chown sleep wait exit return trap shopt umask exec read mapfile".split(
    " ",
  ),
);

const program = (text: string): Feed => ({ text, origin: "program" });
const one = (): Feed => program(FILLED);
const passed = ({ stdin }: Call): Feed =>
  stdin.origin === "terminal" ? { text: UNKNOWN, origin: "file" } : { ...stdin, isHeredoc: false };

/** A filter changed the text: its content is unknown, but its origin is known. */
function changed({ stdin }: Call): Feed {
  if (stdin.origin === "terminal") return { text: UNKNOWN, origin: "file" };
  return { text: UNKNOWN, origin: stdin.origin, isDecoded: stdin.isDecoded === true || stdin.origin === "shell" };
}

function decoded(call: Call, decode: (text: string) => string): Feed {
  const { text } = call.stdin;
  const isUsable = call.stdin.origin === "shell" && isKnown(text);
  if (isUsable) return fromShell(decode(text.trimEnd()));
  return { text: UNKNOWN, origin: call.stdin.origin === "shell" ? "shell" : "file", isDecoded: true };
}

const printers: Record<string, (call: Call) => Feed> = {
  echo: ({ args }) => fromShell(echoed(args)),
  printf: ({ args }) => fromShell(args[0] === "-v" ? "" : formatted(args[0] === "--" ? args.slice(1) : args)),
  print: ({ args }) => fromShell(echoed(args)),
  cat: concatenated,
  tee: passed,
  sort: passed,
  uniq: passed,
  head: passed,
  tail: passed,
  tac: passed,
  nl: changed,
  cut: changed,
  tr: changed,
  sed: changed,
  awk: changed,
  perl: (call) => (call.stdin.origin === "shell" ? changed(call) : computed),
  grep: (call) => (call.args.some((arg) => /^-[a-z]*v/.test(arg)) ? passed(call) : program(FILLED)),
  rev: (call) => decoded(call, (text) => [...text].reverse().join("")),
  base64: (call) =>
    call.args.some((arg) => /^-[a-z]*[dD]|^--dec/.test(arg))
      ? decoded(call, (text) => Buffer.from(text, "base64").toString())
      : changed(call),
  base32: (call) => decoded(call, () => UNKNOWN),
  xxd: (call) =>
    call.args.some((arg) => /^-[a-z]*r/.test(arg))
      ? decoded(call, (text) => Buffer.from(text.replace(/\s/g, ""), "hex").toString())
      : changed(call),
  openssl: (call) => (/^(?:base64|enc)$/.test(call.args[0] ?? "") ? decoded(call, () => UNKNOWN) : computed),
  gunzip: (call) => (call.stdin.isDecoded === true ? decoded(call, () => UNKNOWN) : computed),
  zcat: (call) => (call.stdin.isDecoded === true ? decoded(call, () => UNKNOWN) : computed),
  pwd: ({ cwd }) => program(cwd),
  dirname: ({ args }) => program(parentOf(normal(args[0] ?? "."))),
  basename: ({ args: [path = "", suffix = ""] }) => program(withoutSuffix(baseName(path), suffix)),
  realpath: located,
  readlink: located,
  mktemp: temporary,
  which: ({ args }) =>
    program(
      args
        .filter((arg) => !arg.startsWith("-"))
        .map((arg) => `/usr/bin/${arg}`)
        .join("\n"),
    ),
  command: ({ args }) => program((args[1] ?? "") === "" ? UNKNOWN : `/usr/bin/${args[1]}`),
  ls: listed,
  find: (call) => program(printedByFind(call)),
  fd: (call) => program(printedByFind(call)),
  git: (call) => {
    const git = readGit(call);
    if (git?.verb !== "rev-parse" || !git.args.includes("--show-toplevel")) return computed;
    const root = normal(call.machine.projectRoot);
    return program(isInside(git.cwd, root) ? root : FILLED);
  },
  printenv: ({ args, machine }) => (args[0] === "HOME" ? program(normal(machine.home || "/root")) : computed),
  seq: one,
  date: one,
  whoami: one,
  id: one,
  hostname: one,
  uname: one,
  nproc: one,
  wc: one,
  expr: one,
  stat: one,
  uuidgen: one,
};

function withoutSuffix(text: string, end: string): string {
  return end !== "" && text.endsWith(end) ? text.slice(0, -end.length) : text;
}

function echoed(args: readonly string[]): string {
  let at = 0;
  let hasEscapes = false;
  let end = "\n";
  for (; /^-[neE]+$/.test(args[at] ?? ""); at++) {
    if (args[at]?.includes("e")) hasEscapes = true;
    if (args[at]?.includes("n")) end = "";
  }
  const words = args.slice(at);
  if (words.reduce((sum, word) => sum + word.length, 0) > MAX_OUTPUT) return UNKNOWN;
  const text = words.join(" ");
  return (hasEscapes ? unescaped(text) : text) + end;
}

/** The format is reused until all arguments are consumed. */
function formatted([format = "", ...args]: readonly string[]): string {
  let text = "";
  let used = 0;
  do {
    const before = used;
    text += unescaped(format).replace(
      /%([-+ #0]{0,5}[\d*]{0,9}(?:\.[\d*]{1,9})?)([a-zA-Z%]|\([^)]*\)T)/g,
      (_, _width, kind: string) => {
        if (kind === "%") return "%";
        const arg = args[used++] ?? "";
        if (kind === "b") return unescaped(arg);
        return "sqdic".includes(kind) ? (kind === "c" ? arg.slice(0, 1) : arg) : FILLED;
      },
    );
    if (used === before) break;
  } while (used < args.length && text.length < MAX_OUTPUT);
  return text;
}

const letters: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "",
  b: "",
  f: "\f",
  v: "\v",
  e: "\u001b",
  "\\": "\\",
};

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([ntrabfve\\]))/g,
    (_, hex, unicode, octal, letter) => {
      if (letter !== undefined) return letters[letter] ?? "";
      return String.fromCodePoint(Number.parseInt(hex ?? unicode ?? octal, octal === undefined ? 16 : 8));
    },
  );
}

function concatenated(call: Call): Feed {
  const { operands } = new Options(call.args);
  if (operands.length === 0) return passed(call);
  const feeds = operands.map((path) => (path === "-" ? call.stdin : call.feedOf(path)));
  const texts = feeds.map((feed) => feed?.text ?? UNKNOWN);
  const first = feeds[0];
  return { text: texts.join(""), origin: first?.origin ?? "file", isDecoded: feeds.some((feed) => feed?.isDecoded) };
}

function located({ args, cwd }: Call): Feed {
  const path = args.filter((arg) => !arg.startsWith("-")).at(-1);
  return program(path === undefined ? FILLED : locate(path, cwd));
}

function temporary({ args, cwd, machine, isTmpMoved }: Call): Feed {
  const options = new Options(args, "p", ["--suffix"]);
  const root = normal(options.all("p", "--tmpdir").find((path) => path !== "") ?? (machine.tmpdir || "/tmp"));
  const template = options.operands[0]?.replace(/X{3,}/, FILLED) ?? `tmp.${FILLED}`;
  const isBelowRoot = options.operands.length === 0 || options.has("t", "p", "--tmpdir");
  const place = locate(template, isBelowRoot ? root : cwd);
  const isMade = options.has("d", "--directory") && !options.has("u", "--dry-run") && isTmpMoved !== true;
  const isTemporary = isMade && temporaryRoots(machine).includes(parentOf(place));
  return program(isTemporary ? place.replace(FILLED, MADE) : place);
}

function listed({ args }: Call): Feed {
  const { operands } = new Options(args, "IwT", ["--ignore", "--hide"]);
  const isItself = args.some((arg) => /^-[a-zA-Z]*d/.test(arg));
  // For a directory, ls prints the names in it; for patterns, the paths.
  const names = operands.map((path) => (isItself || /[\uE002\uE003]/.test(path) ? path : STAR));
  return program(names.length === 0 ? STAR : names.join("\n"));
}
