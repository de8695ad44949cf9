// A sed script -> the files it writes with `w` and whether it runs commands with `e`.

export interface SedEffects {
  files: string[];
  runs: boolean;
}

export function readSed(script: string): SedEffects {
  const effects: SedEffects = { files: [], runs: false };
  let at = 0;
  while (at < script.length) {
    at = skipAddress(script, at);
    const command = script[at++];
    if (command === "s" || command === "y") at = substitution(script, at, effects);
    else if (command === "w" || command === "W") at = file(script, at, effects);
    else if (command === "e") {
      effects.runs = true;
      at = endOfLine(script, at);
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

/** The place of the next delimiter that is not escaped. */
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
    if (script[at] === "e") effects.runs = true;
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

/** Text of `a`, `i` and `c` goes on behind a backslash. */
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
