// Which processes the arguments of pkill, pgrep and PowerShell select.

import { isUnknown } from "../shell/shape.ts";
import { Options } from "./options.ts";
import { everyProcess, hasIds, type Processes } from "./processes.ts";

export function exactly(name: string): Processes {
  return { by: "exact", patterns: [name] };
}

export const signal =
  /^-(?:\d+|(?:SIG)?(?:HUP|INT|QUIT|ILL|TRAP|ABRT|IOT|BUS|FPE|KILL|USR1|SEGV|USR2|PIPE|ALRM|TERM|STKFLT|CHLD|CONT|STOP|TSTP|TTIN|TTOU|URG|XCPU|XFSZ|VTALRM|PROF|WINCH|IO|POLL|PWR|SYS))$/i;

const selecting = [
  "--parent",
  "--pgroup",
  "--group",
  "--session",
  "--terminal",
  "--euid",
  "--uid",
  "--pidfile",
  "--signal",
];

/** The selection of pkill and pgrep; empty when it is limited to children, a group or a pid file. */
export function patternsOf(args: readonly string[]): Processes[] {
  const options = new Options(
    args.filter((arg) => !signal.test(arg)),
    "PgGstuUFrd",
    [...selecting, "--delimiter", "--runstates"],
  );
  const parents = options.all("P", "--parent");
  const isOwn = parents.every((parent) => parent !== "1" && parent !== "0" && !hasIds(parent));
  if (isOwn && (parents.length > 0 || options.has("g", "--pgroup", "s", "--session", "F", "--pidfile"))) return [];
  if (options.has("v", "--inverse") || !isOwn) return [everyProcess];
  const isByUser = options.has("t", "--terminal", "u", "--euid", "U", "--uid", "G", "--group");
  const [pattern] = options.operands;
  if (pattern === undefined) return isByUser ? [everyProcess] : [];
  if (isUnknown(pattern)) return [everyProcess];
  const isWhole = options.has("x", "--exact");
  const isLine = options.has("f", "--full");
  if (isWhole && !isLine && /^[\w -]*$/.test(pattern)) return [exactly(pattern)];
  const text = isWhole ? `^(${pattern})$` : pattern;
  return [{ by: isLine ? "line" : "name", patterns: [text] }];
}

/** `Stop-Process -Name node`, and the same for Get-Process. */
export function powershell(args: readonly string[]): Processes[] {
  const names = args.filter(
    (arg, i) => /^-(?:Process)?Name$/i.test(args[i - 1] ?? "") || (i === 0 && /^[A-Za-z]/.test(arg)),
  );
  return names.flatMap((name) => name.split(",")).map(exactly);
}
