// Times of the journal in milliseconds. Every frame of the page reads the same few thousand texts, and parsing one takes longer than
// everything else that is done with it. Pure.

const known = new Map<string, number>();
const MAX_KNOWN = 200_000;

/** NaN for a text that is not a time. */
export function timeOf(text: string | null | undefined): number {
  if (!text) return Number.NaN;
  const before = known.get(text);
  if (before !== undefined) return before;
  if (known.size >= MAX_KNOWN) known.clear();
  const time = Date.parse(text);
  known.set(text, time);
  return time;
}
