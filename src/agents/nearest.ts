// Suggests the name that the user may have meant. Pure.
import { distance } from "fastest-levenshtein";
import { normalizeAgentName } from "./names.ts";

/** The closest candidate, as given; the first one on a tie; undefined when none is close. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = normalizeAgentName(name);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const offered = normalizeAgentName(candidate);
    const found = distance(wanted, offered);
    if (found < bestDistance && isNear(wanted, offered)) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

/** Compares only the words that the two do not share; otherwise "qa-engineer" would be close to "data-engineer". */
function isNear(wanted: string, offered: string): boolean {
  const left = wordsNotIn(wanted, offered);
  const right = wordsNotIn(offered, wanted);
  const abbreviated = wanted.length > 2 && (offered.startsWith(wanted) || (left !== "" && right.startsWith(left)));
  return abbreviated || distance(left, right) <= tolerance(Math.max(left.length, right.length));
}

function wordsNotIn(name: string, other: string): string {
  const shared = new Set(other.split("-"));
  return name
    .split("-")
    .filter((word) => !shared.has(word))
    .join("-");
}

/** Two edits in a short word (a swap of letters is two), a third of the length of a long one. */
function tolerance(length: number): number {
  return length < 4 ? 1 : Math.max(2, Math.floor(length / 3));
}
