// The guard's entry point: takes a tool call, returns a verdict. Pure: it uses nothing but its arguments.

import { judgedAs } from "./judged-tools.ts";
import type { Machine } from "./machine.ts";
import { locate } from "./paths.ts";
import { judgeFile } from "./rules/file.ts";
import { Walk } from "./shell/walk.ts";
import { type Denial, deny, type Verdict } from "./verdict.ts";

const MAX_BYTES = 256 * 1024;
/** A shorter command cannot contain enough operators to be slow. */
const MAX_UNCOUNTED = 400;

export function judgeCommand(command: string, machine: Machine): Verdict {
  return denyOversized(command) ?? denyByWalk(command, machine) ?? { verdict: "allow" };
}

function denyByWalk(command: string, machine: Machine): Denial | undefined {
  try {
    return new Walk(machine).judge(command);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return deny("too-deep", "This command is nested too deeply to check. Split it into simple commands.");
  }
}

/** A call of a tool that the guard does not judge is allowed. */
export function judgeToolCall(toolName: string, input: Readonly<Record<string, unknown>>, ground: Machine): Verdict {
  const judged = judgedAs(toolName);
  if (judged === undefined) return { verdict: "allow" };
  return judged === "file" ? judgeFile(input, ground) : judgeShellCall(input, ground);
}

/** A call of the shell tool: its command, in the directory that the call names. */
export function judgeShellCall(input: Readonly<Record<string, unknown>>, ground: Machine): Verdict {
  const directory = input.dir_path ?? input.directory;
  const cwd = typeof directory === "string" ? locate(directory, ground.cwd ?? ground.projectRoot) : ground.cwd;
  const { command } = input;
  const place = cwd === undefined ? ground : { ...ground, cwd };
  return typeof command === "string" ? judgeCommand(command, place) : { verdict: "allow" };
}

/** Denies commands that the parser would take too long for: its time grows with the square of some counts, so they are limited first. */
function denyOversized(command: string): Denial | undefined {
  if (command.length > MAX_BYTES || Buffer.byteLength(command) > MAX_BYTES) {
    return deny(
      "too-large",
      "This command is larger than 256 kB. Put content into files with write_file and run smaller commands.",
    );
  }
  return command.length > MAX_UNCOUNTED && hasTooManyOperators(command)
    ? deny("too-deep", "This command has too many operators to check. Split it into simple commands.")
    : undefined;
}

const MAX_BRACES = 1000;

/** Counts what the parser's time grows with. Uses expressions because V8 optimizes a loop over characters and discards it repeatedly. */
function hasTooManyOperators(command: string): boolean {
  // Text in single quotes contains no operators, except in a heredoc, where a quote is an ordinary character.
  const text = /<<|"/.test(command) ? command : command.replace(/'[^']*'/g, "''");
  const has = (piece: string, what: RegExp, most: number) => (piece.match(what)?.length ?? 0) > most;
  return (
    has(text, /[;|&<>\n]/g, 10_000) ||
    has(text, /\$/g, 20_000) ||
    has(text, /`|\$[{(]/g, 5000) ||
    has(text, /<</g, 1000) ||
    has(text, /\$\[/g, 200) ||
    text.split(/[\s'"]+/).some((word) => word.length > MAX_BRACES && has(word, /\{/g, MAX_BRACES))
  );
}
