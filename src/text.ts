// Makes text from outside (a model, a file, a terminal) safe to show and store. No other string helpers live here. Hidden characters are
// kept on input, because a path or a command must not change; they are escaped when shown.

const escapeSequences =
  // OSC, DCS, SOS, PM and APC that are closed on their line (an unclosed one must not swallow the text); CSI; two-character escapes. No
  // alternative can start inside another one, so matching is linear.
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]?/g;
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Removes terminal escapes and control characters; keeps tab and newline; CRLF and lone CR become newlines. */
export function stripControls(text: string): string {
  return text.replace(escapeSequences, "").replace(/\r\n?/g, "\n").replace(controls, "");
}

/** Only text beyond ASCII needs the slower search. */
const beyondAscii = /[^\t\n -~]/;

/**
 * Characters that are invisible or reorder the text: bidirectional marks, zero-width characters, fillers, tags, variation selectors,
 * separators that are not line ends, and noncharacters.
 */
const invisible = String.raw`\p{Default_Ignorable_Code_Point}|[\u2028\u2029\ufff9-\ufffb]|\p{Noncharacter_Code_Point}`;
const emoji = String.raw`\p{Extended_Pictographic}`;

/**
 * Built when a text needs them: V8 examines a literal with Unicode properties whenever it reads the file, which takes half a millisecond of
 * the start of every hook.
 */
interface Patterns {
  hidden: RegExp;
  joined: RegExp;
  /** A variation selector after an emoji or digit; a joiner between letters of a script that uses joiners. */
  ordinary: RegExp;
  unwritten: RegExp;
}
let built: Patterns | undefined;

function patterns(): Patterns {
  built ??= {
    hidden: new RegExp(invisible, "gu"),
    joined: new RegExp(`${emoji}[\\u{1f3fb}-\\u{1f3ff}\\ufe0f]?\\u200d(?=${emoji})`, "gu"),
    ordinary: new RegExp(
      `(?<=[${emoji}#*0-9])[\\ufe0e\\ufe0f]|(?<=[\\u0600-\\u0dff])[\\u200c\\u200d](?=[\\u0600-\\u0dff])`,
      "gu",
    ),
    unwritten: new RegExp(`[\\u007f-\\u009f]|${invisible}`, "gu"),
  };
  return built;
}

export function hasHidden(text: string): boolean {
  return revealed(text) !== text;
}

/**
 * Escapes hidden characters so that a person can read them, such as \u202e. Emoji made of several characters, and joiners that a script
 * needs, stay.
 */
export function revealed(text: string): string {
  if (!beyondAscii.test(text)) return text;
  const { hidden, joined, ordinary } = patterns();
  if (text.search(hidden) === -1) return text;
  const kept = new Set<number>();
  for (const { index, 0: found } of text.matchAll(joined)) kept.add(index + found.length - 1);
  for (const { index } of text.matchAll(ordinary)) kept.add(index);
  return text.replace(hidden, (character, index: number) => (kept.has(index) ? character : spelled(character)));
}

function spelled(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

/** Equivalent JSON in which nothing acts on a terminal: JSON itself allows these characters unescaped. */
export function plainJson(json: string): string {
  return beyondAscii.test(json) ? json.replace(patterns().unwritten, escapedUnits) : json;
}

function escapedUnits(character: string): string {
  return [...Array(character.length).keys()].map((at) => `\\u${unitAt(character, at)}`).join("");
}

function unitAt(text: string, at: number): string {
  return text.charCodeAt(at).toString(16).padStart(4, "0");
}

/** A word of a command that the user may paste, quoted for a shell if necessary. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
