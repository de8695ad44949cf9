// Parses durations as people write them: 90s, 10m, 1.5h, 250ms, or a bare number in the unit that the setting names.

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
export type DurationUnit = keyof typeof units;

/** Milliseconds; undefined when the text is not a duration. */
export function parseDuration(text: string, bareUnit: DurationUnit): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$|^(\d{1,9})$/.exec(text.trim());
  if (match === null) return undefined;
  const [, amount, unit, bare] = match;
  return Math.round(Number(amount ?? bare) * units[(unit as DurationUnit | undefined) ?? bareUnit]);
}
