// The guard: a tool call in, a verdict out. Pure: it looks at nothing but its arguments.

import type { Machine } from "./machine.ts";
import { locate } from "./paths.ts";
import { judgeFile } from "./rules/file.ts";
import { Walk } from "./shell/walk.ts";
import { type Denial, deny, type Verdict } from "./verdict.ts";

const MAX_BYTES = 256 * 1024;
/** Shorter commands cannot hold enough of anything. */
const MAX_UNCOUNTED = 400;

export function judgeCommand(command: string, machine: Machine): Verdict {
  return tooMuch(command) ?? walked(command, machine) ?? { verdict: "allow" };
}

function walked(command: string, machine: Machine): Denial | undefined {
  try {
    return new Walk(machine).judge(command);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return deny("too-deep", "This command is nested too deeply to be judged. Split it into simple commands.");
  }
}

/** `run_shell_command`, `write_file` and `replace` are judged; other tools are nobody's business here. */
export function judgeToolCall(toolName: string, input: Readonly<Record<string, unknown>>, machine: Machine): Verdict {
  if (toolName === "run_shell_command") {
    const directory = input.dir_path ?? input.directory;
    const cwd = typeof directory === "string" ? locate(directory, machine.cwd ?? machine.projectRoot) : machine.cwd;
    const { command } = input;
    const place = cwd === undefined ? machine : { ...machine, cwd };
    return typeof command === "string" ? judgeCommand(command, place) : { verdict: "allow" };
  }
  return toolName === "write_file" || toolName === "replace" ? judgeFile(input, machine) : { verdict: "allow" };
}

/** What would take the parser too long. Its time grows with the square of some counts, so these are bounded first. */
function tooMuch(command: string): Denial | undefined {
  if (command.length > MAX_BYTES || Buffer.byteLength(command) > MAX_BYTES) {
    return deny(
      "too-large",
      "This command is larger than 256 kB. Put content into files with write_file and run smaller commands.",
    );
  }
  return command.length > MAX_UNCOUNTED && isSwarming(command)
    ? deny(
        "too-deep",
        "This command nests or repeats its operators beyond what can be judged. Split it into simple commands.",
      )
    : undefined;
}

const MAX_BRACES = 1000;

/** What a parser's time grows with. One expression each: a loop over the letters is compiled and thrown away again and again. */
function isSwarming(command: string): boolean {
  // Nothing in a long text between single quotes is an operator; but in a heredoc a quote is a letter like any other.
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
