// Whether a text reports an exhausted quota, and how long the provider asks to wait.

const signs = [
  /\bstatus[ _]?(?:code)?["']?\s?[:=]?\s?429\b/i,
  /\bcode\\?["']?:\s?429\b/,
  /\bRESOURCE_EXHAUSTED\b|\bresource has been exhausted\b/i,
  /\b(?:quota|rate limit) exceeded\b|\bexceeded your (?:current )?quota\b/i,
  /\bexhausted your (?:daily quota|capacity)\b/i,
  // With capitals it is the name of the HTTP status.
  /\bToo Many Requests\b/,
];

export function tellsOfQuota(text: string): boolean {
  return signs.some((sign) => sign.test(text));
}

/** Checks new lines on stderr. A failed tool call does not count: a web page may answer 429 to it. */
export function quotaSign(stderr: string): { retryAfterMs: number | null } | null {
  const own = stderr.replace(/^Error executing tool .*$/gm, "");
  return tellsOfQuota(own) ? { retryAfterMs: retryHint(own) } : null;
}

const unit = "(?:ms|milliseconds?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])";
const duration = `(?:\\d{1,9}(?:\\.\\d{1,9})?\\s?${unit}\\s?){1,4}`;

/** `retryDelay: "12s"`, `Please retry in 3.2s`, `Suggested retry after 12s`, `will reset after 1h2m`; not the CLI's own `Retrying after`. */
const spoken = new RegExp(
  `(?:\\bretryDelay[\\\\"']{0,3}\\s?[:=]\\s?[\\\\"']{0,3}|\\bretry (?:in|after) |\\breset (?:in|after) )(${duration})`,
  "gi",
);
/** `retry-after: 7`, a header in seconds, and `retryDelayMs: 7000`, a field of the CLI's error. */
const counted = /\b(retry-after|retryDelayMs)[\\"']{0,3}\s?[:=]\s?[\\"']{0,3}(\d{1,12}(?:\.\d{1,9})?)(?![\w.-])/gi;

/** No provider asks for more than a day; a longer wait is a mistake or an attack. */
const LONGEST_MS = 24 * 3_600_000;

/** The last hint in a text, in milliseconds; null without one. */
export function retryHint(text: string): number | null {
  const hints = [
    ...[...text.matchAll(spoken)].map((match) => ({ at: match.index, ms: milliseconds(match[1] ?? "") })),
    ...[...text.matchAll(counted)].map((match) => ({
      at: match.index,
      ms: Number(match[2]) * (match[1]?.toLowerCase() === "retry-after" ? 1000 : 1),
    })),
  ];
  const last = hints.sort((a, b) => a.at - b.at).at(-1);
  return last === undefined || last.ms <= 0 ? null : Math.min(Math.ceil(last.ms), LONGEST_MS);
}

const part = /(\d+(?:\.\d+)?)\s?(ms|mil|h|m|s)/gi;

function milliseconds(duration: string): number {
  const units: Record<string, number> = { ms: 1, mil: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return [...duration.matchAll(part)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (units[(unit ?? "").toLowerCase()] ?? 0),
    0,
  );
}
