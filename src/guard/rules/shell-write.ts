// shell-write: content that the shell writes into a file. Files must be written with write_file and replace.

import { baseName, locate } from "../paths.ts";
import { printsLiteral } from "../programs/code.ts";
import { readGit } from "../programs/git/command.ts";
import { interpretedBy } from "../programs/interpreters.ts";
import { isBase64, writtenBy } from "../programs/written.ts";
import type { Call } from "../shell/call.ts";
import { descriptorOf, isDevice } from "../shell/redirect.ts";
import { shown } from "../shell/shape.ts";
import { type Denial, denyContent } from "../verdict.ts";
import { isThrowAway } from "./content.ts";
import { refuseDestination } from "./sensitive.ts";

/** Programs that print their arguments or their input unchanged. */
const sayers = new Set(["echo", "printf", "print", "cat", "yes", "dd"]);
/** Programs that pass text on, changed or unchanged. */
const filters = new Set(
  "tac rev nl head tail cut paste join sort uniq tr sed awk grep egrep fgrep zgrep rg ag ack fold fmt expand unexpand column comm pr shuf base64 base32 basenc xxd iconv jq yq gron envsubst tee sponge ts more less bat batcat".split(
    " ",
  ),
);
/** Their output is their own, unless their input comes from the command line. */
const unpackers = new Set([
  "gunzip",
  "zcat",
  "gzip",
  "bzip2",
  "bunzip2",
  "xz",
  "unxz",
  "zstd",
  "unzstd",
  "uudecode",
  "m4",
  "cpp",
  "tclsh",
]);

/** Files named in arguments: checks first whether they may be written at all, then whether content is written. */
export function judgeWritten(call: Call): Denial | undefined {
  let found: string | undefined;
  for (const { path, isContent } of writtenBy(call)) {
    const place = locate(path, call.cwd);
    if (descriptorOf(place) !== undefined || isDevice(place) || path === "-") continue;
    const refused = refuseDestination(place, call.machine);
    if (refused !== undefined) return refused;
    if (isContent && !isFree(path, place, call)) found ??= path;
  }
  return found === undefined ? undefined : denyContent(call.name, found);
}

/** A text with blanks stands for files that are not known, such as those that a patch names. */
function isFree(path: string, place: string, { machine }: Call): boolean {
  return machine.areWritesFree === true || (!path.includes(" ") && isThrowAway(place, machine));
}

/** Content that goes through standard output into a file, and heredocs of cat. */
export function judgeOutput(call: Call): Denial | undefined {
  const { name, stdin, stdout, machine } = call;
  if (machine.areWritesFree || (stdout.kind === "file" && isThrowAway(stdout.path, machine))) return undefined;
  const isRead = stdin.isHeredoc === true && readsStdin(call.args);
  if (name === "cat" && isRead && stdout.kind !== "captured" && !isForState(call)) {
    const target = stdout.kind === "file" ? shown(baseName(stdout.path)) : "a heredoc";
    return denyContent(name, target);
  }
  const git = readGit(call);
  const isPatch = git !== undefined && (git.verb === "apply" || git.verb === "am") && readsStdin(git.args);
  if (isPatch && stdin.origin === "shell") return denyContent(`git ${git.verb}`, "the patched files");
  if (stdout.kind !== "file" || !isContent(call, stdout.path)) return undefined;
  return denyContent(name, shown(baseName(stdout.path)));
}

/** No file operand, or one that names standard input. */
function readsStdin(args: readonly string[]): boolean {
  const files = args.filter((arg) => !/^-./.test(arg));
  return files.length === 0 || files.some((file) => file === "-" || file === "/dev/stdin");
}

function isForState({ stdout }: Call): boolean {
  return stdout.kind === "pipe" && stdout.isState === true;
}

function isContent(call: Call, path: string): boolean {
  const { name, args, stdin } = call;
  if (sayers.has(name)) return true;
  // Selected lines of a program's output are still a log.
  if (filters.has(name)) return !(stdin.origin === "program" && isLog(path));
  if (name === "openssl") return isBase64(args);
  if (unpackers.has(name)) return stdin.origin === "shell";
  if (name === "date") return args.some((arg) => /[A-Za-z]{4}/.test(arg.replace(/^[^+].*|%[-_0^#]?[A-Za-z]/gs, "")));
  if (name === "seq") return args.some((arg) => /^-f|^--format/.test(arg));
  const codes = isLog(path) ? [] : (interpretedBy(call)?.codes ?? []);
  return codes.some(printsLiteral);
}

function isLog(path: string): boolean {
  return /\.log(?:\.|$)|\/logs?\//.test(path);
}
