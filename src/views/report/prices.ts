// What tokens cost, from the built-in list and from the user. A model without an entry has no price, so its cost is unknown.

import type { Usage } from "../../session/events.ts";
import * as is from "../../shape.ts";

/** USD per million tokens. Thoughts are billed as output. */
export interface Price {
  input: number;
  output: number;
  cached?: number | undefined;
}

export type Prices = ReadonlyMap<string, Price>;

/** Made when a file of prices is read: the page of the dashboard has the list alone, and does not load these checks. */
function overrides() {
  const amount = is.number(0);
  return is.record(
    is.matching(/^[\s\S]{1,200}$/, "a name of at most 200 characters"),
    is.object({ input: amount, output: amount, cached: is.optional(amount) }),
  );
}
type Overrides = is.TypeOf<ReturnType<typeof overrides>>;

/**
 * Gemini Developer API, paid tier, standard, text, prompts of up to 200,000 tokens; transcribed from
 * https://ai.google.dev/gemini-api/docs/pricing on 2026-10-07, cached input checked against models.dev. Left out because uncertain:
 * gemini-3.8-flash (introductory until 2026-12-31), gemini-3.6-flash and gemini-3.7-flash (sources disagree).
 */
export const listPrices: Prices = new Map([
  ["gemini-3.5-flash", { input: 1.5, output: 9, cached: 0.15 }],
  ["gemini-3.5-flash-lite", { input: 0.3, output: 2.5, cached: 0.03 }],
  ["gemini-3.1-pro-preview", { input: 2, output: 12, cached: 0.2 }],
  ["gemini-3.1-flash-lite", { input: 0.25, output: 1.5, cached: 0.025 }],
  ["gemini-3-pro-preview", { input: 2, output: 12, cached: 0.2 }],
  ["gemini-3-flash-preview", { input: 0.5, output: 3, cached: 0.05 }],
  ["gemini-2.5-pro", { input: 1.25, output: 10, cached: 0.125 }],
  ["gemini-2.5-flash", { input: 0.3, output: 2.5, cached: 0.03 }],
  ["gemini-2.5-flash-lite", { input: 0.1, output: 0.4, cached: 0.01 }],
]);

/**
 * The user's own prices, which override the list: `{ "<model>": { "input": 1.25, "output": 10, "cached": 0.125 } }` in USD per million
 * tokens.
 */
export function parsePrices(json: unknown): Prices | { error: string } {
  const fault = overrides()(json);
  if (fault === undefined) return new Map([...listPrices, ...Object.entries(json as Overrides)]);
  return { error: `${is.faultText(fault, "prices")} (USD per million tokens: input, output, cached)` };
}

/** The suffix of a model's release, which has the same price. An "-image" or "-lite" is another model. */
const release = /^(?:-(?:preview|exp|latest|customtools|\d+))*$/;

/** The price of the model itself, or of the longest name that it is a release of. */
export function priceOf(model: string | null, prices: Prices): Price | undefined {
  if (model === null) return undefined;
  const names = [...prices.keys()].filter((name) => model.startsWith(name) && release.test(model.slice(name.length)));
  return prices.get(names.reduce((longest, name) => (name.length > longest.length ? name : longest), ""));
}

/** In USD; null when the usage is unknown, or when a model that used tokens has no price. */
export function costOf(usage: readonly Usage[] | null, prices: Prices): number | null {
  if (usage === null) return null;
  let cost = 0;
  for (const used of usage.filter(usedTokens)) {
    const price = priceOf(used.model, prices);
    if (price === undefined) return null;
    const { input, output, cached = input } = price;
    const fresh = Math.max(0, used.input - used.cached);
    cost += fresh * input + used.cached * cached + (used.output + used.thoughts) * output;
  }
  return cost / 1_000_000;
}

/** Models that used tokens and have no price, each once; null means an unnamed model. */
export function unpriced(usage: readonly Usage[], prices: Prices): (string | null)[] {
  const models = usage.filter(usedTokens).map(({ model }) => model);
  return [...new Set(models)].filter((model) => priceOf(model, prices) === undefined);
}

function usedTokens({ input, output, cached, thoughts }: Usage): boolean {
  return input + output + cached + thoughts > 0;
}
