// The canonical name of a program: without its directory, and the same for all its implementations.

import { baseName } from "../paths.ts";
import { canBe, isKnown, knownPart } from "../shell/shape.ts";

const other: Record<string, string> = {
  gawk: "awk",
  mawk: "awk",
  nawk: "awk",
  egrep: "grep",
  fgrep: "grep",
  ggrep: "grep",
  rg: "grep",
  fdfind: "fd",
  ssed: "sed",
  pushd: "cd",
  chdir: "cd",
  ".": "source",
};
const gnu =
  /^g(?=(?:sed|tee|rm|dd|cp|mv|ln|cat|echo|printf|head|tail|sort|uniq|cut|tr|tac|truncate|install|find|xargs|timeout|env|touch|base64|shuf|nl|paste|join|readlink|realpath|mktemp|sponge)$)/;

/** A hole in the middle of a name is most likely empty: `e${x}cho`. */
export function programName(word: string): string {
  const base = baseName(knownPart(word)).replace(/\.exe$/i, "");
  // On a case-insensitive file system, /bin/RM runs too.
  const name = /^[A-Z]{2,}$/.test(base) ? base.toLowerCase() : base;
  return Object.hasOwn(other, name) ? (other[name] as string) : name.replace(gnu, "");
}

const worthGuessing = [
  "rm",
  "sh",
  "bash",
  "echo",
  "printf",
  "cat",
  "tee",
  "dd",
  "sed",
  "git",
  "cp",
  "mv",
  "python3",
  "perl",
  "kill",
  "pkill",
  "killall",
];

/** The programs that a pattern such as `/bin/r?` can match. */
export function guessedNames(word: string): string[] {
  if (isKnown(word) || !/[\uE002\uE003]/.test(word)) return [];
  return worthGuessing.filter((name) => canBe(baseName(word), name));
}
