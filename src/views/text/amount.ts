// Formats counts and money for people.

/** "12,345" */
export function grouped(count: number): string {
  // The first call of toLocaleString loads the data of all languages.
  return Number.isSafeInteger(count) ? withCommas(String(count)) : count.toLocaleString("en-US");
}

function withCommas(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** At most six columns: "950", "48.2k", "1.3M". */
export function compact(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
  return count < 999_950_000 ? `${(count / 1_000_000).toFixed(1)}M` : `${(count / 1e9).toFixed(1)}G`;
}

/** Rounded to cents; below one cent, as many digits as needed. */
export function dollars(amount: number): string {
  if (amount >= 0.01 || amount === 0) return `$${grouped2(amount)}`;
  return amount < 0.0001 ? "<$0.0001" : `$${amount.toFixed(4)}`;
}

function grouped2(amount: number): string {
  const [whole = "0", fraction = "00"] = amount.toFixed(2).split(".");
  return `${withCommas(whole)}.${fraction}`;
}

export function plural(count: number, noun: string): string {
  return `${grouped(count)} ${count === 1 ? noun : `${noun}s`}`;
}
