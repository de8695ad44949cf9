// The words in which two versions of a line differ: the longest common sequence of words, blanks and signs. Pure.

export interface WordPart {
  text: string;
  isChanged: boolean;
}

/** The parts of the line before, and of the line after. */
export function changedWords(before: string, after: string): [before: WordPart[], after: WordPart[]] {
  const [one, other] = [wordsOf(before), wordsOf(after)];
  const width = other.length + 1;
  // The length of the longest common sequence of what follows each pair of places.
  const common = new Uint16Array((one.length + 1) * width);
  for (let at = one.length - 1; at >= 0; at -= 1) {
    for (let to = other.length - 1; to >= 0; to -= 1) {
      const isSame = one[at] === other[to];
      const [down = 0, right = 0] = [common[(at + 1) * width + to], common[at * width + to + 1]];
      common[at * width + to] = isSame ? (common[(at + 1) * width + to + 1] ?? 0) + 1 : Math.max(down, right);
    }
  }
  const parts: [WordPart[], WordPart[]] = [[], []];
  for (let at = 0, to = 0; at < one.length || to < other.length; ) {
    const [left, right] = [one[at], other[to]];
    if (left !== undefined && left === right) {
      put(parts[0], left, false);
      put(parts[1], left, false);
      at += 1;
      to += 1;
    } else if (right === undefined || (left !== undefined && isBetter(common, width, at, to))) {
      put(parts[0], left ?? "", true);
      at += 1;
    } else {
      put(parts[1], right, true);
      to += 1;
    }
  }
  return parts;
}

function isBetter(common: Uint16Array, width: number, at: number, to: number): boolean {
  return (common[(at + 1) * width + to] ?? 0) >= (common[at * width + to + 1] ?? 0);
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** Neighbours of the same kind become one part. */
function put(parts: WordPart[], text: string, isChanged: boolean): void {
  const last = parts.at(-1);
  if (last?.isChanged === isChanged) last.text += text;
  else parts.push({ text, isChanged });
}
