// A shape is text in which private-use characters stand for unknown parts (holes), such as the value of an unset variable. Holes survive
// quoting, joining and repeated parsing.

/** Any text, possibly empty. */
export const UNKNOWN = "\uE000";
/** Any text that is not empty. */
export const FILLED = "\uE001";
/** `*` in a file name pattern. */
export const STAR = "\uE002";
/** `?` or `[...]` in a file name pattern. */
export const ANY = "\uE003";
/** A list of names from outside the command line. */
export const MANY = "\uE004";
/** The output of a program. */
export const PRINTED = "\uE005";

/** In a name that `mktemp -d` has made: a known name that no command line can contain. */
export const MADE = "\uE006";

export const STAR_OR_ANY = /[\uE002\uE003]/g;

const holes = /[\uE000-\uE005]/;
const allHoles = /[\uE000-\uE005]/g;

/** Called for every path, in hooks too, where the first use of a regular expression costs more than this loop. */
export function isKnown(shape: string): boolean {
  for (let at = 0; at < shape.length; at++) {
    const code = shape.charCodeAt(at);
    if (code >= 0xe000 && code <= 0xe005) return false;
  }
  return true;
}

/** Whether the shape is nothing but holes that may be empty: `$UNSET`. */
export function isUnknown(shape: string): boolean {
  return /^[\uE000\uE004\uE005]+$/.test(shape);
}

/** Whether a shell would expand it to file names. */
export function isPattern(shape: string): boolean {
  return /[\uE002\uE003]/.test(shape);
}

/** The text without its holes. */
export function knownPart(shape: string): string {
  return isKnown(shape) ? shape : shape.replace(allHoles, "");
}

/** For messages: holes as a user would write them. */
export function shown(shape: string): string {
  const text = shape
    .replace(allHoles, (hole) => (hole === STAR ? "*" : hole === ANY ? "?" : "..."))
    .replaceAll(MADE, "...");
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

/** Marks the wildcards in unquoted text. */
export function withGlobs(text: string): string {
  return /[*?[]/.test(text) ? text.replace(/\*/g, STAR).replace(/\?|\[[^\]/]{1,64}\]/g, ANY) : text;
}

/** Whether the shape can match the text. Backtracks only to the last hole, so it cannot become exponential. */
export function canBe(shape: string, text: string): boolean {
  let at = 0;
  let reached = 0;
  let lastHole = -1;
  let resume = 0;
  while (reached < text.length) {
    const letter = shape[at];
    if (letter !== undefined && (letter === text[reached] || letter === ANY)) {
      at++;
      reached++;
    } else if (letter !== undefined && holes.test(letter)) {
      lastHole = at++;
      resume = reached;
    } else if (lastHole >= 0) {
      at = lastHole + 1;
      reached = ++resume;
    } else {
      return false;
    }
  }
  while (at < shape.length && holes.test(shape[at] as string) && shape[at] !== ANY) at++;
  return at === shape.length;
}
