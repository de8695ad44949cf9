// Compares words while ignoring case, punctuation, emoji and decoration, and recognises the ways to say "nothing".

/** Lower-case words with single spaces: `**N/A**.` is `n a`. */
export function words(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The letters alone, so that `1. Files Created (2)`, `files_created` and `filesCreated` are the same name. */
export function letters(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}]*\d{1,3}[.)]|\(\d{1,6}\)/gu, "")
    .replace(/[^\p{L}\p{N}]+/gu, "");
}

const emptySigns = /^(?:[-–—∅"'`*_\s]|\(\s*\)|\[\s*\]|\{\s*\})+$/u;
const emptyPhrases =
  /^(?:na|nil|null|empty|not applicable|none none|(?:none|nothing|no|zero|0)(?: (?:yet|so far|to report))?(?: (?:new|existing|known|key|other))?(?: (?:files?|changes?|interfaces?|patterns?|integration points?|assumptions?|warnings?|issues?))?(?: (?:were|was|have been))?(?: (?:created|modified|deleted|changed|added|removed|updated|introduced|established|identified|made|needed|required))?)$/;

/** Whether a value says "nothing here": `none`, `N/A`, `-`, `[]`, `[none yet]`, `No files were deleted.` */
export function isNone(text: string): boolean {
  if (text.length > 100) return false;
  const plain = text.replace(/\bn(?:\/a\b|\.a\.)/gi, "none");
  // "no/changes" and "none.ts" are paths.
  return emptySigns.test(text) || (!/[/\\]|\.\w/.test(plain) && emptyPhrases.test(words(plain)));
}
