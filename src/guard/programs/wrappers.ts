// Programs that run another command: env, sudo, timeout, xargs, bash -c and others. The inner command is judged too.

import { locate } from "../paths.ts";
import { type Call, type Inner, quotedWord } from "../shell/call.ts";
import { isUnknown, MANY } from "../shell/shape.ts";
import { innerOfFind } from "./find.ts";
import { innerOfGit } from "./git/git.ts";
import { Options } from "./options.ts";
import { innerOfShell, isShell, script } from "./shells.ts";

/** How to find the inner command: options that take a value, the number of operands before it, a required subcommand. */
interface Prefix {
  letters?: string;
  long?: readonly string[];
  operands?: number;
  /** `NAME=value` words precede the command. */
  variables?: boolean;
  verb?: readonly string[];
}

const packageRunner = { letters: "pcw", long: ["--package", "--workspace", "--cache"] };

const prefixes: Record<string, Prefix> = {
  command: {},
  builtin: {},
  exec: { letters: "a" },
  noglob: {},
  nocorrect: {},
  sudo: {
    letters: "ugpChDrtTRU",
    long: ["--user", "--group", "--prompt", "--chdir", "--host", "--role", "--type", "--close-from", "--chroot"],
    variables: true,
  },
  doas: { letters: "uC" },
  pkexec: { long: ["--user"] },
  nice: { letters: "n", long: ["--adjustment"] },
  ionice: { letters: "cnptu", long: ["--class", "--classdata"] },
  chrt: { letters: "TPD", operands: 1 },
  taskset: { operands: 1 },
  numactl: { letters: "NmCipP" },
  prlimit: {},
  setarch: { operands: 1 },
  nohup: {},
  setsid: {},
  stdbuf: { letters: "ioe", long: ["--input", "--output", "--error"] },
  time: { letters: "of", long: ["--output", "--format"] },
  timeout: { letters: "ks", long: ["--kill-after", "--signal"], operands: 1 },
  gtimeout: { letters: "ks", long: ["--kill-after", "--signal"], operands: 1 },
  chronic: {},
  unbuffer: {},
  caffeinate: { letters: "tw" },
  strace: { letters: "aeEoOpPsuX" },
  ltrace: { letters: "aeloPsuX" },
  fakeroot: { letters: "lsbi" },
  firejail: {},
  proxychains: { letters: "f" },
  proxychains4: { letters: "f" },
  torsocks: {},
  rlwrap: {},
  winpty: {},
  "xvfb-run": { letters: "nsefpw" },
  "dbus-run-session": {},
  "systemd-run": { letters: "pHMEt", long: ["--unit", "--property", "--slice"] },
  chroot: { operands: 1 },
  unshare: { letters: "SGRw" },
  nsenter: { letters: "tSG" },
  busybox: {},
  toybox: {},
  shx: {},
  npx: packageRunner,
  pnpx: packageRunner,
  bunx: packageRunner,
  pnpm: { ...packageRunner, verb: ["exec", "dlx"] },
  yarn: { ...packageRunner, verb: ["exec", "dlx"] },
  bun: { verb: ["x"] },
  bundle: { verb: ["exec"] },
  poetry: { verb: ["run"] },
  pipenv: { verb: ["run"] },
  pdm: { verb: ["run"] },
  hatch: { verb: ["run"] },
  rye: { verb: ["run"] },
  uv: { letters: "p", long: ["--with", "--python", "--project", "--directory"], verb: ["run"] },
  conda: { letters: "np", long: ["--name", "--prefix"], verb: ["run"] },
  mise: { verb: ["exec", "x"] },
  asdf: { verb: ["exec"] },
  direnv: { operands: 1, verb: ["exec"] },
  rustup: { operands: 1, verb: ["run"] },
  doppler: { letters: "pc", verb: ["run"] },
  op: { verb: ["run"] },
  dotenv: { letters: "efpv", variables: true },
  dotenvx: { letters: "f", verb: ["run"] },
  "cross-env": { variables: true },
  "env-cmd": { letters: "f" },
};

/** The commands inside this one; empty when it is not a wrapper. */
export function innerOf(call: Call): Inner[] {
  const { name, args } = call;
  if (name === "env") return innerOfEnv(call);
  if (name === "xargs" || name === "gxargs") return innerOfXargs(call);
  if (name === "parallel") return innerOfParallel(call);
  if (isShell(name)) return innerOfShell(call);
  const special = Object.hasOwn(lines, name) ? lines[name]?.(call) : [...innerOfGit(call), ...innerOfFind(call)];
  if (special !== undefined && special.length > 0) return special;
  // `command -v x` only looks the program up.
  if (name === "command" && /^-[pvV]*[vV]/.test(args[0] ?? "")) return [];
  const prefix = Object.hasOwn(prefixes, name) ? prefixes[name] : undefined;
  return prefix === undefined ? [] : behindPrefix(args, prefix);
}

export function isWrapper(name: string): boolean {
  return Object.hasOwn(prefixes, name) || Object.hasOwn(lines, name) || /^(?:env|g?xargs|parallel)$/.test(name);
}

function behindPrefix(args: readonly string[], prefix: Prefix): Inner[] {
  let rest = args;
  if (prefix.verb !== undefined) {
    const at = args.findIndex((arg) => !arg.startsWith("-"));
    if (!prefix.verb.includes(args[at] ?? "")) return [];
    rest = args.slice(at + 1);
  }
  const { start, variables } = skipOptions(rest, prefix);
  const argv = rest.slice(start + (prefix.operands ?? 0));
  if (argv[0] === "--") argv.shift();
  return argv.length === 0 ? [] : [{ argv, variables }];
}

function skipOptions(args: readonly string[], prefix: Prefix): { start: number; variables: [string, string][] } {
  const variables: [string, string][] = [];
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === "--") return { start: at + 1, variables };
    const variable = prefix.variables ? /^(\w+)=(.*)$/s.exec(arg) : null;
    if (variable !== null) variables.push([variable[1] as string, variable[2] as string]);
    else if (arg.startsWith("--")) at += prefix.long?.includes(arg) ? 1 : 0;
    else if (arg.startsWith("-") && arg.length > 1) at += takesNext(arg, prefix.letters ?? "") ? 1 : 0;
    else if (!isUnknown(arg)) break;
  }
  return { start: at, variables };
}

/** Whether the last letter of a cluster takes the next word. */
function takesNext(cluster: string, letters: string): boolean {
  for (let at = 1; at < cluster.length; at++) {
    if (letters.includes(cluster[at] as string)) return at === cluster.length - 1;
  }
  return false;
}

function innerOfEnv({ args, cwd }: Call): Inner[] {
  const variables: [string, string][] = [];
  let directory = cwd;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    const variable = /^(\w+)=(.*)$/s.exec(arg);
    const [split] = new Options([arg, args[at + 1] ?? ""], "S", ["--split-string"]).all("S", "--split-string");
    if (arg.startsWith("-") && split !== undefined) {
      const isAttached = arg !== "-S" && !/^-[^-]*S$/.test(arg) && arg !== "--split-string";
      const rest = args.slice(at + (isAttached ? 1 : 2)).map(quotedWord);
      return [{ code: `${split} ${rest.join(" ")}`, cwd: directory, variables }];
    }
    if (variable !== null) variables.push([variable[1] as string, variable[2] as string]);
    else if (/^(?:-C|--chdir)$/.test(arg)) directory = locate(args[++at] ?? "", directory);
    else if (/^--chdir=/.test(arg)) directory = locate(arg.slice(8), directory);
    else if (/^(?:-u|--unset)$/.test(arg)) at++;
    else if (!arg.startsWith("-") && !isUnknown(arg)) return [{ argv: args.slice(at), cwd: directory, variables }];
  }
  return [];
}

const xargsLong = ["--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-chars", "--process-slot-var"];

function innerOfXargs({ args, stdin }: Call): Inner[] {
  const spec = { letters: "adEIJLnPRSs", long: xargsLong };
  const { start } = skipOptions(args, spec);
  const options = new Options(args.slice(0, start), spec.letters, xargsLong);
  const place = options.has("i") ? "{}" : (options.all("I", "J", "--replace")[0] ?? undefined);
  const separator = options.has("0", "--null") ? /[\0\n]/ : place !== undefined || options.has("d") ? "\n" : /\s+/;
  const isList = stdin.origin !== "terminal" && !options.has("a", "--arg-file") && !isUnknown(stdin.text);
  const items = isList ? stdin.text.split(separator).filter((item) => item !== "") : [MANY];
  const command = start < args.length ? args.slice(start) : ["echo"];
  if (place === undefined) return [{ argv: [...command, ...items.slice(0, 256)] }];
  const mark = place === "" ? "{}" : place;
  return items.slice(0, 32).map((item) => ({ argv: command.map((word) => word.replaceAll(mark, item)) }));
}

/** GNU parallel joins its words and passes them to a shell. */
function innerOfParallel({ args, stdin }: Call): Inner[] {
  const { start } = skipOptions(args, { letters: "jInNSadL", long: ["--jobs", "--colsep", "--joblog", "--results"] });
  const end = args.findIndex((arg, i) => i >= start && /^:::/.test(arg));
  const code = args.slice(start, end < 0 ? args.length : end).join(" ");
  const known = stdin.origin === "terminal" || isUnknown(stdin.text) ? [MANY] : stdin.text.split("\n");
  const items = end < 0 ? known : args.slice(end + 1).filter((arg) => !/^:::/.test(arg));
  return items
    .filter((item) => item !== "")
    .slice(0, 32)
    .map((item) => ({
      code: /\{[./#%]*\}/.test(code) ? code.replace(/\{[./#%]*\}/g, item) : `${code} ${quotedWord(item)}`,
    }));
}

type Reader = (call: Call) => Inner[];

/** Programs that pass a line of text to a shell. */
const lines: Record<string, Reader> = {
  watch: ({ args }) => joined(args, { letters: "nq", long: ["--interval"] }),
  su: (call) => {
    const code = optionCode(call, "cgGsTw", ["--command", "--shell", "--group"]);
    return code.length > 0 ? code : script(call.stdin, []);
  },
  sg: (call) => optionCode(call, "c", []),
  sudo: (call) => {
    const inner = behindPrefix(call.args, prefixes.sudo ?? {});
    const isShell = call.args.some((arg) => /^-[A-Za-z]*[si]$|^--(?:shell|login)$/.test(arg));
    return inner.length === 0 && isShell ? script(call.stdin, []) : inner;
  },
  runuser: (call) => optionCode(call, "cugGsTw", ["--command", "--shell", "--user"]),
  flock: (call) => {
    const code = optionCode(call, "cwE", ["--command", "--timeout"]);
    return code.length > 0 ? code : behindPrefix(call.args, { letters: "wE", long: ["--timeout"], operands: 1 });
  },
  script: ({ args, cwd }) => {
    const options = new Options(args, "cIOBTEomt", ["--command"]);
    const path = locate(options.operands[0] ?? "typescript", cwd);
    const stdout = path.startsWith("/dev/") ? undefined : { kind: "file" as const, path };
    return options.all("c", "--command").map((code) => ({ code, ...(stdout === undefined ? {} : { stdout }) }));
  },
  hyperfine: ({ args }) => each(args, "wrmMpcCnSis", ["--warmup", "--runs", "--prepare", "--cleanup", "--export-json"]),
  concurrently: ({ args }) => each(args, "ncp", ["--names", "--kill-others-on-fail"]),
  nodemon: (call) => optionCode(call, "xwie", ["--exec", "--watch", "--ext", "--ignore"]),
  entr: ({ args }) => (args.some((arg) => /^-[a-z]*s/.test(arg)) ? each(args, "", []) : behindPrefix(args, {})),
  npm: (call) => {
    const isExec = call.args[0] === "exec" || call.args[0] === "x";
    const code = isExec ? optionCode(call, "cp", ["--call", "--package"]) : [];
    return code.length > 0 ? code : behindPrefix(call.args, { ...packageRunner, verb: ["exec", "x"] });
  },
  npx: (call) => {
    // After the name of a program, options belong to that program.
    const { start } = skipOptions(call.args, {
      letters: "pcw",
      long: ["--package", "--workspace", "--cache", "--call"],
    });
    const code = optionCode({ ...call, args: call.args.slice(0, start) }, "cp", ["--call", "--package"]);
    return code.length > 0 ? code : behindPrefix(call.args, packageRunner);
  },
  make: ({ args, stdin }) => {
    const isOwn =
      stdin.origin === "shell" &&
      args.some((arg, i) => /^(?:-|\/dev\/stdin)$/.test(arg) && /f$/.test(args[i - 1] ?? ""));
    const given = new Options(args, "fCjloWE", ["--eval"]).all("E", "--eval");
    const lines = [...(isOwn ? stdin.text.split("\n") : []), ...given.flatMap((text) => text.split("\n"))];
    // A recipe is a line of its own, or follows its target after a semicolon.
    const recipes = lines.flatMap((line) => /^\t(.*)|^[^\t#=]*:[^=;]*;(.*)/s.exec(line)?.slice(1) ?? []);
    const codes = recipes.filter((code) => code !== undefined && code.trim() !== "");
    return codes.slice(0, 64).map((code) => ({ code: code.replace(/^[\s@+-]+/, ""), isGuess: true }));
  },
  "nix-shell": (call) => optionCode(call, "pAI", ["--run", "--command"]),
  tmux: ({ args }) => {
    const at = args.findIndex((arg) =>
      /^(?:new-session|new|new-window|neww|split-window|splitw|run-shell|run)$/.test(arg),
    );
    return at < 0 ? [] : joined(args.slice(at + 1), { letters: "cefFnstxy" });
  },
  screen: ({ args }) => behindPrefix(args, { letters: "SceTpts" }),
};

function joined(args: readonly string[], prefix: Prefix): Inner[] {
  const { start } = skipOptions(args, prefix);
  return start < args.length ? [{ code: args.slice(start).join(" ") }] : [];
}

function each(args: readonly string[], letters: string, long: readonly string[]): Inner[] {
  return new Options(args, letters, long).operands.map((code) => ({ code, isGuess: true }));
}

const codeOptions = ["c", "x", "--command", "--call", "--exec", "--run"];

function optionCode({ args, name }: Call, letters: string, long: readonly string[]): Inner[] {
  const options = new Options(args, letters, long);
  const names = codeOptions.filter((option) => option !== "x" || name === "nodemon");
  return options
    .all(...names)
    .filter((code) => code !== "")
    .map((code) => ({ code }));
}
