// What ps, pgrep, pidof and lsof print: process ids, tracked through filters together with the processes they belong to.

import { type Call, computed, type Feed } from "../shell/call.ts";
import { isUnknown } from "../shell/shape.ts";
import { Options } from "./options.ts";
import { exactly, patternsOf, powershell } from "./process-patterns.ts";
import { everyProcess, hasIds, idsOf, narrowed, type Processes } from "./processes.ts";

/** Undefined for a command that does not list processes. */
export function listedProcesses({ name, args }: Call): Feed | undefined {
  const found = Object.hasOwn(lists, name) ? lists[name]?.(args) : undefined;
  if (found === undefined) return undefined;
  return found.length === 0 ? computed : { text: `${found.map(idsOf).join("\n")}\n`, origin: "program" };
}

const lists: Record<string, (args: readonly string[]) => Processes[]> = {
  ps: byPs,
  pgrep: patternsOf,
  pidof: (args) => new Options(args, "oS").operands.filter((name) => !isUnknown(name)).map(exactly),
  lsof: byLsof,
  "Get-Process": powershell,
};

function byPs(args: readonly string[]): Processes[] {
  const chosen = args.flatMap((arg, i) => (/^-[A-Za-z]*C$/.test(args[i - 1] ?? "") ? arg.split(",") : []));
  if (chosen.length > 0) return chosen.map(exactly);
  // Processes with given ids, and their children.
  const isGiven = args.some((arg) => /^-?[a-zA-Z]*[pqs]$|^-[pqs]\d|^--(?:pid|ppid|quick-pid|sid)/.test(arg));
  return isGiven ? [] : [everyProcess];
}

function byLsof(args: readonly string[]): Processes[] {
  const commands = args.flatMap((arg, i) => (args[i - 1] === "-c" ? [arg] : /^-c./.test(arg) ? [arg.slice(2)] : []));
  if (commands.length > 0) return commands.map((name) => ({ by: "name", patterns: [name] }));
  const isLimited = args.some((arg, i) => {
    if (/^-[a-zA-Z]*i./.test(arg)) return true;
    const before = args[i - 1] ?? "";
    // Everything that is open below the current directory.
    if (/^\+[dD]$/.test(before) && /^(?:\/|\.{1,2}\/?)$/.test(arg)) return false;
    return !/^[-+]/.test(arg) && !/^-[a-zA-Z]*[ucgs]$/.test(before);
  });
  return isLimited || args.some((arg) => /^-[a-zA-Z]*p/.test(arg)) ? [] : [everyProcess];
}

/** The ids that a filter leaves; undefined when its input contains none. */
export function filteredProcesses({ name, args, stdin }: Call): Feed | undefined {
  if (!hasIds(stdin.text)) return undefined;
  let { text } = stdin;
  for (const pattern of patternsIn(name, args)) text = narrowed(text, pattern);
  // `awk '{ print "kill " $2 }' | sh`.
  if (name !== "grep" && /\bkill\b/.test(args.join(" "))) text = `kill ${text}`;
  return { ...stdin, text, isHeredoc: false };
}

function patternsIn(name: string, args: readonly string[]): string[] {
  if (name === "grep") return ofGrep(args);
  if (name !== "awk" && name !== "sed") return [];
  const [script = ""] = new Options(args, name === "awk" ? "FvfeilE" : "ef").operands;
  const expressions = [...script.matchAll(/(!\s*)?\/((?:[^/\\\n]|\\.)+)\//g)].flatMap(([, not, text = ""]) =>
    not ? [] : text,
  );
  const texts = [...script.matchAll(/[=~]\s*"([^"\n]{2,})"/g)].map((found) => found[1] ?? "");
  // `s/a/b/` changes lines and drops none.
  return name === "sed" && /^s\W/.test(script) ? [] : [...expressions, ...texts];
}

/** -v and -o do not narrow the list to a pattern. */
function ofGrep(args: readonly string[]): string[] {
  const options = new Options(args, "efmABCd", ["--regexp", "--file", "--max-count"]);
  if (options.has("v", "--invert-match", "o", "--only-matching")) return [];
  const given = options.all("e", "--regexp");
  const patterns = given.length > 0 ? given : options.operands.slice(0, 1);
  const isFixed = options.has("F", "--fixed-strings");
  const texts = patterns.map((pattern) => (isFixed ? pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : pattern));
  return texts.length === 0 ? [] : [texts.join("|")];
}
