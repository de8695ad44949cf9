// cp, mv, ln, install, rsync, scp: the paths that they create or overwrite.

import { baseName, isInside, locate, normal, parentOf } from "../paths.ts";
import type { Call } from "../shell/call.ts";
import { descriptorOf } from "../shell/redirect.ts";
import { isKnown, STAR } from "../shell/shape.ts";
import { Options } from "./options.ts";

const letters: Record<string, string> = { install: "mgoSt", rsync: "efTBM", scp: "cFiJloPSX", ln: "tS" };

export interface Copy {
  source: string;
  /** As in the command: relative to its directory. */
  path: string;
  isContent: boolean;
}

export function copied(call: Call): Copy[] {
  const options = new Options(call.args, letters[call.name] ?? "tS", [
    "--target-directory",
    "--suffix",
    "--mode",
    "--owner",
    "--group",
  ]);
  if (call.name === "install" && options.has("d", "--directory")) return [];
  const [into] = options.all("t", "--target-directory");
  const { operands } = options;
  const sources = into === undefined ? operands.slice(0, Math.max(1, operands.length - 1)) : operands;
  // `ln -s target` creates a link of the same name in the current directory.
  const target = into ?? (operands.length > 1 ? operands.at(-1) : call.name === "ln" ? "." : undefined);
  if (target === undefined || isRemote(target)) return [];
  const isDirectory =
    into !== undefined ||
    sources.length > 1 ||
    looksLikeDirectory(target) ||
    isKnownDirectory(locate(target, call.cwd), call);
  return sources.map((source) => ({
    source,
    path: isDirectory ? `${target}/${nameOf(source)}` : target,
    isContent: isOwnText(source, call),
  }));
}

/** The links that a command creates, each with its target. */
export function linkedBy(call: Call): [place: string, target: string][] {
  const { name, args, cwd } = call;
  if (name !== "ln" && name !== "link" && name !== "cp") return [];
  const options = new Options(args, letters[name] ?? "tS");
  const isSymbolic = options.has("s", "--symbolic", "--symbolic-link");
  if (name === "cp" && !isSymbolic && !options.has("l", "--link")) return [];
  // The target of a symbolic link is relative to the link's directory.
  const isRelativeToLink = isSymbolic && name === "ln" && !options.has("r", "--relative");
  return copied({ ...call, name: name === "link" ? "ln" : name }).map(({ source, path }) => {
    const place = locate(path, cwd);
    return [place, locate(source, isRelativeToLink ? parentOf(place) : cwd)];
  });
}

/** A link stays a link when it is moved or copied. */
export function carriedBy(call: Call): [from: string, to: string][] {
  if (call.name !== "mv" && call.name !== "cp") return [];
  return copied(call).map(({ source, path }) => [locate(source, call.cwd), locate(path, call.cwd)]);
}

function isRemote(path: string): boolean {
  return /^[^/]*:/.test(path);
}

function looksLikeDirectory(path: string): boolean {
  return path.endsWith("/") || /^\.{1,2}$/.test(baseName(normal(path))) || /(?:^|\/)\.(?:git|gemini|ssh)$/.test(path);
}

/** The home directory, the project and their parents are directories. */
function isKnownDirectory(place: string, { machine }: Call): boolean {
  return [machine.home, machine.projectRoot].some((one) => one !== undefined && isInside(normal(one), place));
}

/** A source that is a whole directory brings unknown names. */
function nameOf(source: string): string {
  const name = baseName(source.replace(/^[^/]*:/, ""));
  return /^\.{0,2}$/.test(name) ? STAR : name;
}

/** Standard input, a process substitution or /dev/null: text from the command line itself. */
function isOwnText(source: string, { cwd, name }: Call): boolean {
  if (!isKnown(source) || name === "ln") return false;
  const path = locate(source, cwd);
  return descriptorOf(path) !== undefined || path === "/dev/null";
}
