// Paths and globs as lists of segments, and whether two of them can name the same file; when in doubt, they overlap. Hand-written, because
// it compares globs with globs, and no pattern of a plan may hang a regular expression.

export interface Pattern {
  /** The normalised text, equal for equivalent patterns. */
  text: string;
  segments: readonly string[];
  symbols: readonly Symbols[];
  /** The number of leading segments that are literal names. */
  literal: number;
  /** Without wildcards: one file, or a directory when something else is below it. */
  isPath: boolean;
}

/** What a segment matches, piece by piece: a character, "?" for any one, "*" for any number, "[a-z]" for one of these. */
export type Symbols = string | readonly string[];

export const MAX_ALTERNATIVES = 64;

/** The alternatives of a path with brace sets; undefined when there are more than MAX_ALTERNATIVES. */
export function expandPatternBraces(path: string): string[] | undefined {
  if (!path.includes("{")) return [path];
  const done: string[] = [];
  const open = [path.replace(/\{[^{},/]*\.\.[^{},/]*\}/g, "*")];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // The innermost set; the enclosing ones follow in later rounds.
    const set = /\{([^{}]*,[^{}]*)\}/.exec(next);
    if (set === null) {
      done.push(next);
      continue;
    }
    const [before, after] = [next.slice(0, set.index), next.slice(set.index + set[0].length)];
    for (const choice of (set[1] ?? "").split(",").reverse()) open.push(before + choice + after);
    if (open.length + done.length > MAX_ALTERNATIVES) return undefined;
  }
  return [...new Set(done)];
}

/** The segments after resolving "." and ".."; undefined when the path may leave the directory it starts in. */
export function segmentsOf(path: string): string[] | undefined {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    // "**" may match nothing, and then ".." would climb above the root.
    else if (segments.length === 0 || segments.pop() === "**") return undefined;
  }
  return segments;
}

/** A directory covers everything below it. */
export function patternOf(path: readonly string[], isDirectory: boolean): Pattern {
  const segments = isDirectory ? [...path, "**"] : path;
  const wild = segments.findIndex(isWild);
  const isPath = wild === -1 || !segments.some((segment) => /[*?]|[@!+]\(/.test(segment));
  const symbols = wild === -1 ? segments : segments.map(symbolsOf);
  return { text: segments.join("/"), segments, symbols, literal: wild === -1 ? segments.length : wild, isPath };
}

/** Whether some path matches both, or one is a path and the other is below it. */
export function overlap(a: Pattern, b: Pattern): boolean {
  return isAbove(a, b) || isAbove(b, a) || meet(a.symbols, b.symbols, "**", segmentsMeet);
}

/**
 * Whether the pattern names a real file (its path by segments), is a directory above it, or matches it. No character of the file is a
 * wildcard. A file named like the pattern, such as "[id].tsx", counts as named by it. An extended glob is treated as "*".
 */
export function covers(pattern: Pattern, file: readonly string[]): boolean {
  const { segments, isPath } = pattern;
  if (isPath && segments.length < file.length) return segments.every((segment, at) => segment === file[at]);
  const last = segments.length - 1;
  // A pattern that ends in "**" covers what is below, so the file's directory has to match it.
  const isBelow = segments[last] === "**";
  // A fast path: most files differ in their last name.
  if (last >= 0 && !isBelow && !names(pattern, last, file.at(-1) ?? "")) return false;
  const length = isBelow ? file.length - 1 : file.length;
  return matches(segments, length, "**", (at, from) => (names(pattern, at, file[from] ?? "") ? 1 : 0));
}

function names({ segments, symbols }: Pattern, at: number, name: string): boolean {
  if (segments[at] === name) return true;
  const wanted = symbols[at] ?? "";
  if (typeof wanted === "string" || !endsAlike(wanted.at(-1) ?? "", name)) return false;
  return matches(wanted, name.length, "*", (index, from) => taken(wanted[index] ?? "", name, from));
}

function endsAlike(symbol: string, name: string): boolean {
  return symbol === "*" || isChoice(symbol) || symbol === name[name.length - 1];
}

/** Whether it matches one of several characters. */
function isChoice(symbol: string): boolean {
  return symbol === "?" || symbol.length > 2;
}

/** The number of characters of the name that the symbol matches at this place; 0 when it does not match. */
function taken(symbol: string, name: string, from: number): number {
  if (!isChoice(symbol)) return name[from] === symbol ? 1 : 0;
  const char = String.fromCodePoint(name.codePointAt(from) ?? 0);
  return symbol === "?" || classHas(symbol, char) ? char.length : 0;
}

/** Whether a pattern matches all of a sequence, where `star` matches any length and `take` says how much any other item matches. */
function matches(
  pattern: readonly string[],
  length: number,
  star: string,
  take: (at: number, from: number) => number,
): boolean {
  let [at, from, lastStar, behindStar] = [0, 0, -1, 0];
  while (from < length) {
    const took = at < pattern.length && pattern[at] !== star ? take(at, from) : 0;
    if (took > 0) {
      at += 1;
      from += took;
    } else if (pattern[at] === star) {
      lastStar = at;
      behindStar = from;
      at += 1;
    } else {
      if (lastStar === -1) return false;
      // The star takes one more item.
      behindStar += 1;
      at = lastStar + 1;
      from = behindStar;
    }
  }
  while (pattern[at] === star) at += 1;
  return at === pattern.length;
}

function isAbove(a: Pattern, b: Pattern): boolean {
  return a.isPath && a.segments.every((segment, at) => segment === b.segments[at]);
}

/** Whether some name matches both segments; neither is "**". */
export function segmentsMeet(a: Symbols, b: Symbols): boolean {
  return typeof a === "string" && typeof b === "string" ? a === b : meet(a, b, "*", symbolsMeet);
}

export function symbolsOf(segment: string): Symbols {
  if (segment === "**" || !isWild(segment)) return segment;
  return segment.replace(/[@!+?*]\(.*\)/g, "*").match(/\[[^\]]+\]|./gs) ?? [];
}

function isWild(segment: string): boolean {
  return /[*?[]|[@!+]\(/.test(segment);
}

function symbolsMeet(a: string, b: string): boolean {
  if (a === b || a === "?" || b === "?") return true;
  // Two different classes are treated as names such as "[slug]" and "[id]", which frameworks use for routes.
  if (a.length > 2 && b.length > 2) return false;
  return a.length > 2 ? classHas(a, b) : b.length > 2 && classHas(b, a);
}

function classHas(set: string, char: string): boolean {
  const isNegated = set[1] === "!" || set[1] === "^";
  const members = [...set.slice(isNegated ? 2 : 1, -1)];
  const has = members.some((member, at) => {
    const end = members[at + 2];
    return member === char || (members[at + 1] === "-" && end !== undefined && member <= char && char <= end);
  });
  return has !== isNegated;
}

/** Whether two sequences can match the same thing, where `star` matches any number of items of the other one. */
function meet<Item>(
  a: ArrayLike<Item>,
  b: ArrayLike<Item>,
  star: Item,
  same: (left: Item, right: Item) => boolean,
): boolean {
  // row[j] is 1 when the part of `a` read so far can match the first j items of `b`.
  let row = new Uint8Array(b.length + 1);
  row[0] = 1;
  for (let j = 0; j < b.length && b[j] === star; j++) row[j + 1] = 1;
  for (let i = 0; i < a.length; i++) {
    const left = a[i] as Item;
    const next = new Uint8Array(b.length + 1);
    if (left === star) next[0] = row[0] ?? 0;
    for (let j = 0; j < b.length; j++) {
      const right = b[j] as Item;
      const isMatch =
        left === star || right === star ? row[j + 1] === 1 || next[j] === 1 : row[j] === 1 && same(left, right);
      if (isMatch) next[j + 1] = 1;
    }
    if (!next.includes(1)) return false;
    row = next;
  }
  return row[b.length] === 1;
}
