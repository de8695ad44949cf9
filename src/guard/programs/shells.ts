// Shells and the code they run: `-c`, standard input, a process substitution.

import type { Call, Feed, Inner } from "../shell/call.ts";
import { isKnown, isUnknown } from "../shell/shape.ts";
import { type Denial, deny } from "../verdict.ts";

const names = new Set(
  "sh bash dash zsh ksh ksh93 mksh ash rbash yash fish csh tcsh pwsh powershell cmd at batch".split(" "),
);

/** Shells with another grammar: code that does not parse may still be valid. */
const foreign = new Set(["pwsh", "powershell", "cmd", "fish", "csh", "tcsh"]);

export function isShell(name: string): boolean {
  return names.has(name);
}

export function innerOfShell(call: Call): Inner[] {
  if (call.name === "at" || call.name === "batch") return script(call.stdin, []);
  const { code, operands, isStdin } = readShell(call.name, call.args);
  if (code !== undefined && isUnknown(code)) return [];
  if (code !== undefined) return [{ code, ...named(operands), isGuess: foreign.has(call.name) }];
  const [path] = operands;
  if (path === undefined || isStdin) return script(call.stdin, operands);
  const feed = call.feedOf(path);
  return feed === undefined ? [] : script(feed, operands.slice(1));
}

/** The words after the code: the first is `$0`. */
function named([zero, ...positional]: readonly string[]): Pick<Inner, "zero" | "positional"> {
  return zero === undefined ? { positional } : { zero, positional };
}

/** Denies code that was encoded only to be unreadable. */
export function judgeShell(call: Call): Denial | undefined {
  if (!isShell(call.name)) return undefined;
  const { code, operands } = readShell(call.name, call.args);
  const feed = operands[0] === undefined ? call.stdin : call.feedOf(operands[0]);
  if (code !== undefined || feed?.isDecoded !== true || isKnown(feed.text)) return undefined;
  return deny(
    "unparsable",
    "This runs code that is decoded at run time, so it cannot be checked. Write the commands out.",
  );
}

/** The code that a shell reads from standard input. */
export function script(feed: Feed, positional: readonly string[]): Inner[] {
  const isCode = feed.origin === "shell" || (feed.origin !== "terminal" && !isUnknown(feed.text));
  return isCode ? [{ code: feed.text, positional, stdin: { text: "", origin: "terminal" } }] : [];
}

interface ShellArguments {
  code?: string;
  operands: string[];
  isStdin: boolean;
}

function readShell(name: string, args: readonly string[]): ShellArguments {
  if (name === "pwsh" || name === "powershell" || name === "cmd") return readForeign(args);
  let isCode = false;
  let isStdin = false;
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === "--" || arg === "-") {
      at++;
      break;
    }
    if (/^--(?:rcfile|init-file)$/.test(arg)) at++;
    else if (/^--command(?:=|$)/.test(arg))
      return { code: arg.includes("=") ? arg.slice(10) : (args[at + 1] ?? ""), operands: [], isStdin };
    else if (/^[-+][^-]/.test(arg)) {
      if (arg.startsWith("-") && /^-[A-Za-z]*c/.test(arg)) isCode = true;
      if (arg.startsWith("-") && arg.includes("s")) isStdin = true;
      // `-o pipefail`, `-euo pipefail`, `-O extglob`.
      if (/[oO]$/.test(arg)) at++;
    } else if (!arg.startsWith("--") && !isUnknown(arg)) break;
  }
  const operands = args.slice(at);
  if (!isCode) return { operands, isStdin };
  const [code = "", ...rest] = operands;
  return { code, operands: rest, isStdin };
}

/** `pwsh -Command "..."`, `cmd /c ...`: their redirections look the same. */
function readForeign(args: readonly string[]): ShellArguments {
  const at = args.findIndex((arg) => /^(?:-c|-command|\/c|\/k)$/i.test(arg));
  return at < 0
    ? { operands: ["script"], isStdin: false }
    : { code: args.slice(at + 1).join(" "), operands: [], isStdin: false };
}
