// Where the shell may write file content after all: in a throw-away directory that the agent made with `mktemp -d`.

import type { Machine } from "../machine.ts";
import { baseName, isInside, normal, parentOf, pathSegments } from "../paths.ts";
import { isKnown, MADE, STAR_OR_ANY, shown } from "../shell/shape.ts";
import { type Denial, denyContent } from "../verdict.ts";
import { isScratch, temporaryRoots } from "./places.ts";

/** Denies content for `place`, which is a located shape, unless content may be written there. */
export function refuseContent(name: string, place: string, machine: Machine): Denial | undefined {
  const isFree = machine.areWritesFree === true || isThrowAway(place, machine);
  return isFree ? undefined : denyContent(name, shown(baseName(place)));
}

/**
 * Below a directory that `mktemp -d` made in this command line, or that is the user's own, private and without links on the way. A pattern
 * counts only as the last name: elsewhere it may match a link.
 */
export function isThrowAway(path: string, machine: Machine): boolean {
  const place = isPlainPattern(baseName(path)) ? parentOf(path) : path;
  const root = temporaryRoots(machine).find((one) => isInside(place, one));
  if (root === undefined || !isKnown(place) || !isScratch(place, machine)) return false;
  const [name = ""] = pathSegments(place.slice(root.length));
  const top = `${root}/${name}`;
  const own = [machine.stateDir, machine.extensionRoot ?? machine.stateDir].map(normal);
  if (path === top || own.some((one) => isInside(place, one) || isInside(one, place))) return false;
  const real = (one: string) => machine.realpath?.(one) ?? machine.through?.(one) ?? one;
  if (real(place) !== normal(real(root) + place.slice(root.length))) return false;
  return name.includes(MADE) || machine.isOwnScratch?.(top, place) === true;
}

function isPlainPattern(name: string): boolean {
  return !name.startsWith(".") && !isKnown(name) && isKnown(name.replace(STAR_OR_ANY, ""));
}
