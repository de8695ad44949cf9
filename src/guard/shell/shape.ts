// A shape is text with holes: private-use characters stand for what a shell would put there and nobody can know beforehand.
// They pass through quoting, joining and parsing again like any other letter.

/** Any text, perhaps none. */
export const UNKNOWN = "\uE000";
/** Any text, but some. */
export const FILLED = "\uE001";
/** `*` of a file name pattern. */
export const STAR = "\uE002";
/** `?` or `[...]` of a file name pattern. */
export const ANY = "\uE003";
/** A list of names that comes from elsewhere. */
export const MANY = "\uE004";
/** What a program prints. */
export const PRINTED = "\uE005";

const holes = /[\uE000-\uE005]/;
const allHoles = /[\uE000-\uE005]/g;

/** Asked of every path, by hooks too, in which the first use of an expression costs more than this. */
export function isKnown(shape: string): boolean {
  for (let at = 0; at < shape.length; at++) {
    const code = shape.charCodeAt(at);
    if (code >= 0xe000 && code <= 0xe005) return false;
  }
  return true;
}

/** Text that may be missing altogether: `$UNSET`. */
export function isUnknown(shape: string): boolean {
  return /^[\uE000\uE004\uE005]+$/.test(shape);
}

/** Whether a shell would look for file names with it. */
export function isPattern(shape: string): boolean {
  return /[\uE002\uE003]/.test(shape);
}

/** What is known of it. */
export function knownPart(shape: string): string {
  return isKnown(shape) ? shape : shape.replace(allHoles, "");
}

/** As a person would have written it. */
export function shown(shape: string): string {
  const text = shape.replace(allHoles, (hole) => (hole === STAR ? "*" : hole === ANY ? "?" : "..."));
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

/** Unquoted text in which the shell would look for file names. */
export function withGlobs(text: string): string {
  return /[*?[]/.test(text) ? text.replace(/\*/g, STAR).replace(/\?|\[[^\]/]{1,64}\]/g, ANY) : text;
}

/** Whether the shape can stand for the text. Linear but for the last hole, as two fingers are enough. */
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
