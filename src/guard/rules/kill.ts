// kill-process: signals to processes that the agent did not start. Ids, jobs, children and specific patterns are allowed.

import type { Machine } from "../machine.ts";
import { isInside, locate, normal } from "../paths.ts";
import { Options } from "../programs/options.ts";
import { filteredProcesses } from "../programs/process-lists.ts";
import { exactly, patternsOf, powershell, signal } from "../programs/process-patterns.ts";
import { everyProcess, hasIds, type Processes, processesIn, reaches } from "../programs/processes.ts";
import { isHome } from "../project.ts";
import type { Call } from "../shell/call.ts";
import { isKnown, isUnknown, shown } from "../shell/shape.ts";
import { type Denial, deny } from "../verdict.ts";

export function judgeKill(call: Call): Denial | undefined {
  const killer = Object.hasOwn(killers, call.name) ? killers[call.name] : undefined;
  for (const processes of killer?.(call) ?? []) {
    const reached = reaches(processes, call.machine);
    if (reached !== undefined) return refusal(call, reached);
  }
  return undefined;
}

type Killer = (call: Call) => Processes[];

const killers: Record<string, Killer> = {
  kill: byId,
  pkill: ({ args }) => (isProbe(args) ? [] : patternsOf(args)),
  killall: byName,
  skill: byName,
  killall5: () => [everyProcess],
  taskkill: ({ args }) => onWindows(args),
  "Stop-Process": ({ args, stdin }) => [...powershell(args), ...processesIn(stdin.text)],
  spps: ({ args, stdin }) => [...powershell(args), ...processesIn(stdin.text)],
  fuser: byFile,
  fkill: ({ args }) => new Options(args).operands.filter((name) => /^[A-Za-z]/.test(name)).map(exactly),
  loginctl: ({ args }) => (/^(?:kill|terminate)-/.test(args[0] ?? "") ? [everyProcess] : []),
  wmic: ({ args }) => {
    const [, name] = /name\s*(?:=|like)\s*['"]?([\w.-]+)/i.exec(args.join(" ")) ?? [];
    return name !== undefined && /\b(?:delete|terminate)\b/i.test(args.join(" ")) ? [exactly(name)] : [];
  },
  // `ps aux | awk '/node/ { system("kill " $2) }'`.
  awk: (call) => {
    const isRun = /\bkill\b/.test(call.args.join(" ")) && /\bsystem\b|\|\s*"/.test(call.args.join(" "));
    return isRun ? processesIn(filteredProcesses(call)?.text ?? "") : [];
  },
  tmux: ({ args }) => {
    // A socket given with -L or -S belongs to a separate server.
    const isOwn = args.some((arg) => /^-[LS]/.test(arg));
    return args.includes("kill-server") && !isOwn ? [exactly("tmux")] : [];
  },
};

/** Signal 0 only checks whether a process exists. */
function isProbe(args: readonly string[]): boolean {
  return args.some((arg, i) => arg === "-0" || (/^(?:-s|--signal|-n)$/.test(args[i - 1] ?? "") && arg === "0"));
}

function byId({ args }: Call): Processes[] {
  if (/^(?:-[lLV]|--list|--table|--help|--version)$/.test(args[0] ?? "") || isProbe(args)) return [];
  return targetsOf(args).flatMap((target) => {
    if (hasIds(target)) return processesIn(target);
    if (/[\uE002\uE003]/.test(target)) return [everyProcess];
    // All processes (-1), or process 1.
    if (/^-?0*1$/.test(target)) return [everyProcess];
    // The program `kill`, unlike the builtin, also accepts names.
    return isKnown(target) && /^[A-Za-z]/.test(target) ? [exactly(target)] : [];
  });
}

/** The first word with a dash is the signal; later ones are process groups. */
function targetsOf(args: readonly string[]): readonly string[] {
  const [first = "", second = ""] = args;
  if (first === "--") return args.slice(1);
  if (/^(?:-s|-n|-q|--signal|--queue|--timeout)$/.test(first)) return targetsOf(["-0", ...args.slice(2)]);
  if (!first.startsWith("-") || hasIds(first)) return args;
  return second === "--" ? args.slice(2) : args.slice(1);
}

function byName({ args }: Call): Processes[] {
  if (isProbe(args) || args.some((arg) => /^(?:-l|--list|-V|--version|--help)$/.test(arg))) return [];
  const options = new Options(
    args.filter((arg) => !signal.test(arg)),
    "suoyZct",
    ["--signal", "--user", "--older-than", "--younger-than", "--context"],
  );
  const given = [...options.operands, ...options.all("c")];
  if (given.length === 0) return options.has("u", "--user", "t") ? [everyProcess] : [];
  const isPattern = options.has("r", "--regexp", "m");
  return given
    .filter((name) => !isUnknown(name))
    .map((name) => (isPattern ? { by: "name", patterns: [name] } : exactly(name)));
}

/** `/IM node.exe`; Git Bash doubles the slash. */
function onWindows(args: readonly string[]): Processes[] {
  const valuesOf = (name: string) =>
    args.filter((_, i) => (args[i - 1] ?? "").replace(/^(?:\/{1,2}|-)/, "").toLowerCase() === name);
  const images = valuesOf("im");
  if (images.length === 0) return valuesOf("fi").length > 0 && valuesOf("pid").length === 0 ? [everyProcess] : [];
  return images.map((image) => (/[*\uE002]/.test(image) ? everyProcess : exactly(image)));
}

/** Freeing a port or a file is allowed; the processes that use a whole directory or file system include the agent's own CLI. */
function byFile({ args, cwd, machine }: Call): Processes[] {
  const options = new Options(
    args.filter((arg) => !signal.test(arg)),
    "nN",
    ["--namespace"],
  );
  if (!options.has("k", "--kill")) return [];
  if (options.has("m", "M", "c", "--mount", "--ismountpoint")) return [everyProcess];
  const isPort = options.all("n", "--namespace").some((space) => space === "tcp" || space === "udp");
  const paths = options.operands.filter((operand) => !isPort && !/^[^/]*\/(?:tcp|udp)$/.test(operand));
  return paths.some((path) => isCommon(locate(path, cwd), machine)) ? [everyProcess] : [];
}

function isCommon(place: string, machine: Machine): boolean {
  return /[\uE002\uE003]/.test(place) || isInside(normal(machine.projectRoot), place) || isHome(place, machine);
}

function refusal({ name, args }: Call, reached: string): Denial {
  const command = shown([name, ...args].map((word) => (hasIds(word) ? "$(...)" : word)).join(" "));
  return deny(
    "kill-process",
    `"${command}" would also kill processes that you did not start (${reached}): the agent itself, the session or the user's programs. Kill your own child process by its id ("kill $!"), free a port ("kill $(lsof -t -i:3000)"), or match one command line: pkill -f "vite --port 5173".`,
  );
}
