// Recognizes git pathspecs that mean everything: `.`, `:/`, `'*'` and exclusions alone name no file.

import { isInside, locate, normal } from "../../paths.ts";
import { knownPart, withGlobs } from "../../shell/shape.ts";

interface Pathspec {
  path: string;
  /** `:/x`, `:(top)x`: from the top of the repository. */
  isTop: boolean;
  isExcluded: boolean;
}

function readPathspec(text: string): Pathspec {
  const long = /^:\(([^)]*)\)(.*)$/s.exec(text);
  if (long !== null) {
    const words = (long[1] ?? "").split(",").map((word) => word.trim());
    return { path: long[2] ?? "", isTop: words.includes("top"), isExcluded: words.includes("exclude") };
  }
  const [, signs = "", path = text] = /^:([/!^]+):?(.*)$/s.exec(text) ?? [];
  return { path, isTop: signs.includes("/"), isExcluded: /[!^]/.test(signs) };
}

/** The directory that these pathspecs cover as a whole; undefined when they name something specific. */
export function sweptBy(pathspecs: readonly string[], cwd: string, project: string): string | undefined {
  const specs = pathspecs.map(readPathspec);
  const named = specs.filter(({ isExcluded }) => !isExcluded);
  if (named.length === 0) return specs.length === 0 ? undefined : cwd;
  for (const { path, isTop } of named) {
    const place = wholePlace(path, isTop ? project : cwd, project);
    if (place !== undefined) return place;
  }
  return undefined;
}

function wholePlace(path: string, from: string, project: string): string | undefined {
  const names = normal(withGlobs(path)).split("/");
  while (names.length > 0 && isBroad(names.at(-1) as string)) names.pop();
  const rest = names.join("/");
  if (rest === "" || rest === ".") return path.startsWith("/") ? "/" : from;
  if (/^\.\.(?:\/\.\.)*$/.test(rest)) return locate(rest, from);
  if (!rest.startsWith("/") && !rest.startsWith("..")) return undefined;
  const place = locate(rest, from);
  return isInside(project, place) || place === from ? place : undefined;
}

/** `*`, `?*`, `[a-z]*`, `*.*`, `*e*`: a pattern that matches almost every name. */
function isBroad(name: string): boolean {
  if (!/[\uE002\uE003]/.test(name) || /[\uE000\uE001\uE004\uE005]/.test(name)) return false;
  const letters = knownPart(name).replace(/[^\p{L}\p{N}]/gu, "").length;
  return letters === 0 || (letters === 1 && !knownPart(name).includes("."));
}
