// Editors that change files in place, and code in sed, awk and scripting languages that writes files.

import type { Call } from "../shell/call.ts";
import { shown } from "../shell/shape.ts";
import { readAwk } from "./awk-script.ts";
import { effectsOf } from "./code.ts";
import { interpretedBy } from "./interpreters.ts";
import { Options } from "./options.ts";
import { readSed, sedScripts } from "./sed-script.ts";

interface Edited {
  path: string;
  isContent: true;
}

export function edited(call: Call): Edited[] {
  const editor = Object.hasOwn(editors, call.name) ? editors[call.name] : undefined;
  const paths = editor === undefined ? byCode(call) : editor(call);
  return paths.map((path) => ({ path, isContent: true }));
}

const editors: Record<string, (call: Call) => string[]> = {
  sed: bySed,
  awk: byAwk,
  ed: byEd,
  red: byEd,
  ex: ({ args }) => named(vimFiles(args)),
  vi: byVim,
  vim: byVim,
  nvim: byVim,
  view: byVim,
  yq: ({ args }) => (new Options(args, "oIp").has("i", "--inplace", "--in-place") ? named(args.slice(-1)) : []),
  sd: ({ args }) => new Options(args, "nf").operands.slice(2),
  rpl: ({ args }) => new Options(args, "x").operands.slice(2),
  xmlstarlet: ({ args }) => (args.some((arg) => arg === "-L" || arg === "--inplace") ? named(args.slice(-1)) : []),
};

function named(paths: readonly string[]): string[] {
  return paths.length > 0 ? [...paths] : ["a file"];
}

function byEd({ args }: Call): string[] {
  const options = new Options(args, "p");
  return options.has("V", "--version", "--help") ? [] : named(options.operands);
}

function bySed({ args }: Call): string[] {
  const { scripts, files, isInPlace } = sedScripts(args);
  const written = scripts.flatMap((script) => readSed(script).files);
  return isInPlace ? [...named(files), ...written] : written;
}

function byAwk({ args }: Call): string[] {
  const options = new Options(args, "FvfeilE", ["--field-separator", "--assign", "--file", "--include", "--source"]);
  const given = options.all("e", "--source");
  const hasProgram = given.length > 0 || options.has("f", "--file");
  const programs = hasProgram ? given : options.operands.slice(0, 1);
  const written = programs.flatMap((program) => readAwk(program).files.map((path) => path ?? "a computed name"));
  const isInPlace = options.all("i", "--include").some((library) => /^inplace/.test(library));
  return isInPlace ? [...named(options.operands.slice(hasProgram ? 0 : 1)), ...written] : written;
}

const saves = /(?:^|[|:\s%])(?:w|wq|wqa|wa|x|xa|xit|wri|write|up|update|sav|saveas|exit|norm\w*.*ZZ)!?(?:\s|$|[|])/;

function byVim({ args }: Call): string[] {
  const commands = args.flatMap((arg, i) => {
    if (/^(?:-c|--cmd|-S)$/.test(args[i - 1] ?? "")) return [arg];
    return arg.startsWith("+") ? [arg.slice(1)] : arg.startsWith("-c") && arg.length > 2 ? [arg.slice(2)] : [];
  });
  const isScripted = args.some((arg) => /^-[a-zA-Z]*[eE]?s$/.test(arg) && arg !== "--headless");
  return isScripted || commands.some((command) => saves.test(command.slice(0, 2000))) ? named(vimFiles(args)) : [];
}

function vimFiles(args: readonly string[]): string[] {
  return args.filter((arg, i) => !/^[-+]/.test(arg) && !/^(?:-c|--cmd|-S|-s|-u)$/.test(args[i - 1] ?? ""));
}

function byCode(call: Call): string[] {
  const interpreted = interpretedBy(call);
  if (interpreted === undefined) return [];
  const { codes, language, isInPlace, files } = interpreted;
  const written = codes.flatMap((code) => effectsOf(code, language, call.machine.home ?? "/root").writes);
  return [
    ...(isInPlace ? files : []),
    ...written.map((path) => (path === undefined ? "a computed name" : shown(path))),
  ];
}
