// The width of a text in terminal columns: CJK and emoji take two, combining marks and colour codes none.

const colorCodes = /\u001b\[[0-9;]*m|[\ufdd0-\ufdd6]/g;
const printableAscii = /^[ -~]*$/;
const emoji = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|\p{Regional_Indicator}|[#*0-9]\uFE0F)/u;
const invisible = /^[\p{Mark}\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Unicode's East Asian Wide and Fullwidth, first and last of each block; gaps inside a block do not occur in text. */
const wideBlocks: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6b],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18d08],
  [0x1aff0, 0x1b2fb],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];

let segmenter: Intl.Segmenter | undefined;

/** Created on first use, because that takes longer than most commands. */
function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

export function displayWidth(text: string): number {
  const shown = text.replace(colorCodes, "");
  if (printableAscii.test(shown)) return shown.length;
  let width = 0;
  for (const { segment } of graphemesOf(shown)) width += graphemeWidth(segment);
  return width;
}

/** The longest prefix of `text` that fits into `width` columns; never half a character. */
export function beginning(text: string, width: number): string {
  if (printableAscii.test(text)) return text.slice(0, Math.max(0, width));
  let kept = "";
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return kept;
}

function graphemeWidth(grapheme: string): number {
  if (emoji.test(grapheme)) return 2;
  if (invisible.test(grapheme)) return 0;
  const point = grapheme.codePointAt(0) ?? 0;
  return wideBlocks.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}
