// destructive-rm: recursive removal of directories that must stay, however it is written.

import type { Machine } from "../machine.ts";
import { baseName, locate, normal, parentOf } from "../paths.ts";
import { Options } from "../programs/options.ts";
import type { Call } from "../shell/call.ts";
import { descriptorOf } from "../shell/redirect.ts";
import { FILLED, isKnown, MANY, PRINTED, STAR, shown, UNKNOWN } from "../shell/shape.ts";
import { type Denial, deny } from "../verdict.ts";
import { isSystem, isVital, placeThatStays } from "./places.ts";
import { refuseRemoval } from "./sensitive.ts";
import { refuseLoss } from "./session-places.ts";

const alwaysRecursive = new Set(["rimraf", "del", "del-cli", "trash", "trash-put"]);

export function judgeRemoval(call: Call): Denial | undefined {
  const { name, args, cwd, machine } = call;
  if (name === "rm" || name === "srm" || name === "unlink" || name === "shred" || name === "wipe") {
    const options = new Options(args);
    // `rm $FLAGS /`: the unknown flags may include -r.
    const isRecursive = options.has("r", "R", "--recursive") || args.includes(UNKNOWN);
    return first(options.operands, (operand) => {
      if (isRecursive || operand.endsWith(EVERYTHING)) return refuseTree(operand, cwd, machine);
      return refuseFile(operand, cwd, machine);
    });
  }
  if (alwaysRecursive.has(name))
    return first(new Options(args).operands, (operand) => refuseTree(operand, cwd, machine));
  if (name === "mv") {
    const options = new Options(args, "tS", ["--target-directory", "--suffix"]);
    const isInto = options.has("t", "--target-directory", "--exchange");
    const sources = isInto ? options.operands : options.operands.slice(0, -1);
    return first(sources, (from) => refuseMove(from, cwd, machine));
  }
  return name === "rsync" ? judgeRsync(call) : undefined;
}

/** Everything below a directory, as `find` lists it. */
export const EVERYTHING = `${STAR}${STAR}`;

/** Denies the removal of a tree that must stay. `field` is a word as the shell would pass it. */
export function refuseTree(field: string, cwd: string, machine: Machine): Denial | undefined {
  if (field === "") return undefined;
  if (field.includes(MANY) && field.replaceAll(MANY, "") === "") {
    return refusal("an unknown list of paths", "it");
  }
  if (field.startsWith(`${PRINTED}/`)) return refusePrinted(field, cwd, machine);
  if (field.startsWith(`${UNKNOWN}/`) || field.startsWith(`${MANY}/`)) {
    return refusal("what remains when the variable is empty", shown(field));
  }
  const filled = field.replace(/[\uE000\uE004\uE005]/g, FILLED);
  const refused = refusePlace(filled, cwd, machine);
  if (refused !== undefined || !field.includes(UNKNOWN)) return refused;
  const empty = field.replaceAll(UNKNOWN, "");
  // In the temporary directory any name may be removed.
  const isTemporary = placeThatStays(locate(filled, cwd), machine) === undefined && /^\/tmp\/?$/.test(empty);
  return empty === "" || isTemporary ? undefined : refusePlace(empty, cwd, machine);
}

function refusePlace(field: string, cwd: string, machine: Machine): Denial | undefined {
  const path = locate(field, cwd);
  if (path.startsWith("/") && !cwdIsUnknown(field, cwd)) {
    for (const one of [path, ...throughLinks(path, machine)]) {
      const place = placeThatStays(one, machine);
      const own = () => refuseRemoval(one, machine) ?? refuseLoss(one, machine);
      const refused = place === undefined ? own() : refusal(place, shown(field));
      if (refused !== undefined) return refused;
    }
    return undefined;
  }
  // In an unknown directory, removing a name is allowed, but removing everything or the parent is not.
  if (!cwd.includes(UNKNOWN) || field.startsWith("/") || field.startsWith(FILLED)) return undefined;
  const inside = normal(field);
  const isAll = inside === "." || inside.startsWith("..") || /^[.\uE002\uE003]+$/.test(inside);
  return isAll ? refusal("all of an unknown directory", shown(field)) : undefined;
}

/** `$(npm config get cache)/_npx`: programs usually print something, but removing all of it, or a system path, is denied. */
function refusePrinted(field: string, cwd: string, machine: Machine): Denial | undefined {
  const rest = field.slice(PRINTED.length);
  const isNamed = /[\p{L}\p{N}]/u.test(rest) && !isSystem(normal(rest));
  return isNamed ? undefined : refuseTree(`${UNKNOWN}${rest}`, cwd, machine);
}

function cwdIsUnknown(field: string, cwd: string): boolean {
  return !field.startsWith("/") && cwd.includes(UNKNOWN);
}

function refuseFile(field: string, cwd: string, machine: Machine): Denial | undefined {
  const path = locate(field, cwd);
  if (!path.startsWith("/")) return undefined;
  const [real = path] = throughLinks(path, machine);
  return (
    refuseRemoval(path, machine) ??
    refuseRemoval(real, machine) ??
    refuseLoss(path, machine) ??
    refuseLoss(real, machine)
  );
}

/** The real location when a parent is a link; the link itself may be removed. */
function throughLinks(path: string, { realpath, through }: Machine): string[] {
  const parent = parentOf(path);
  if (!isKnown(parent)) return [];
  const real = realpath?.(parent) ?? through?.(parent) ?? parent;
  return real === parent ? [] : [normal(`${real}/${baseName(path)}`)];
}

/** Moving a tree away removes it from its place. */
function refuseMove(field: string, cwd: string, machine: Machine): Denial | undefined {
  const path = locate(field, cwd);
  if (field === "" || descriptorOf(path) !== undefined) return undefined;
  const [real = path] = throughLinks(path, machine);
  const lost = refuseLoss(path, machine) ?? refuseLoss(real, machine);
  if (lost !== undefined || !isKnown(field)) return lost;
  const own = refuseRemoval(path, machine);
  if (own !== undefined) return own;
  const place = isVital(path, machine) ? placeThatStays(path, machine) : undefined;
  return place === undefined ? undefined : refusal(place, shown(field));
}

/** `rsync --delete` deletes everything in the target that is not in the source. */
function judgeRsync({ args, cwd, machine }: Call): Denial | undefined {
  if (!args.some((arg) => /^--del(?:ete.*)?$/.test(arg))) return undefined;
  const target = new Options(args, "efTBM").operands.at(-1);
  return target === undefined || /^[^/]*:/.test(target) ? undefined : refuseTree(target, cwd, machine);
}

function refusal(place: string, field: string): Denial {
  return deny(
    "destructive-rm",
    `This would remove ${place} (${field}) with everything in it. Name the single directories to remove, below the project root or /tmp.`,
  );
}

function first(operands: readonly string[], judge: (operand: string) => Denial | undefined): Denial | undefined {
  for (const operand of operands) {
    const denial = judge(operand);
    if (denial !== undefined) return denial;
  }
  return undefined;
}
