// Finds the files that a sed script writes with `w` and the commands that it runs with `e`.

import { Options } from "./options.ts";

/** sed's scripts, its input files, and whether it edits them in place. */
export function sedScripts(args: readonly string[]): { scripts: string[]; files: string[]; isInPlace: boolean } {
  const options = new Options(args, "efl", ["--expression", "--file", "--line-length"]);
  const given = options.all("e", "--expression");
  const hasScript = given.length > 0 || options.has("f", "--file");
  return {
    scripts: hasScript ? given : options.operands.slice(0, 1),
    files: hasScript ? options.operands : options.operands.slice(1),
    isInPlace: args.some((arg) => /^-[nErsuzb]*i/.test(arg)) || options.has("--in-place"),
  };
}

export interface SedEffects {
  files: string[];
  commands: string[];
}

export function readSed(script: string): SedEffects {
  const effects: SedEffects = { files: [], commands: [] };
  let at = 0;
  while (at < script.length) {
    at = skipAddress(script, at);
    const command = script[at++];
    if (command === "s" || command === "y") at = substitution(script, at, effects);
    else if (command === "w" || command === "W") at = file(script, at, effects);
    else if (command === "e") {
      const end = endOfLine(script, at);
      effects.commands.push(script.slice(at, end).trim());
      at = end;
    } else if (command !== undefined && "aic".includes(command)) at = endOfText(script, at);
    else if (command !== undefined && "btT:q".includes(command)) at = endOfCommand(script, at);
    else if (command !== undefined && "rR#v".includes(command)) at = endOfLine(script, at);
  }
  return effects;
}

/** Blanks, separators, `1,5`, `/re/I,$`, `\cREc`, `!`. */
function skipAddress(script: string, start: number): number {
  let at = start;
  for (; at < script.length; at++) {
    const letter = script[at] as string;
    if (letter === "/") at = endOfPart(script, at + 1, "/");
    else if (letter === "\\") {
      at = endOfPart(script, at + 2, script[at + 1] ?? "/");
    } else if (!/[\s;{}\d,$~+!IM]/.test(letter)) return at;
  }
  return at;
}

/** The index of the next delimiter that is not escaped. */
function endOfPart(script: string, start: number, delimiter: string): number {
  for (let at = start; at < script.length; at++) {
    if (script[at] === "\\") at++;
    else if (script[at] === delimiter) return at;
  }
  return script.length;
}

function substitution(script: string, start: number, effects: SedEffects): number {
  const delimiter = script[start] ?? "/";
  const middle = endOfPart(script, start + 1, delimiter);
  let at = endOfPart(script, middle + 1, delimiter) + 1;
  for (; at < script.length && /[\dgpiImMew]/.test(script[at] as string); at++) {
    if (script[at] === "w") return file(script, at + 1, effects);
  }
  return at;
}

function file(script: string, start: number, effects: SedEffects): number {
  const end = endOfLine(script, start);
  const path = script.slice(start, end).trim();
  if (path !== "") effects.files.push(path);
  return end;
}

/** The text of `a`, `i` and `c` continues after a backslash. */
function endOfText(script: string, start: number): number {
  let end = endOfLine(script, start);
  while (end < script.length && script[end - 1] === "\\") end = endOfLine(script, end + 1);
  return end;
}

function endOfLine(script: string, start: number): number {
  const end = script.indexOf("\n", start);
  return end < 0 ? script.length : end;
}

function endOfCommand(script: string, start: number): number {
  let at = start;
  while (at < script.length && !";\n}".includes(script[at] as string)) at++;
  return at;
}
