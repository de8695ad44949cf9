// Extracts token usage from Gemini CLI's statistics, in either output format. Unknown is null, never 0.

import { isObject } from "../../shape.ts";
import { stripControls } from "../../text.ts";

export interface Tokens {
  /** Prompt tokens, including cached ones. */
  input: number;
  /** The candidates' tokens, without thoughts. */
  output: number;
  cached: number;
}

/** The share of one model; its name is null when only totals are known. */
export interface ModelTokens extends Tokens {
  model: string | null;
  /** Not included in the output. */
  thoughts: number;
}

/** Null when nothing is known; a model without counts is left out. */
export function tokensByModel(stats: unknown): ModelTokens[] | null {
  if (!isObject(stats)) return null;
  const models = isObject(stats.models) ? Object.entries(stats.models) : [];
  const known = models.flatMap(([name, counts]) => modelTokens(name, counts) ?? []);
  if (known.length > 0) return known;
  const total = modelTokens(null, stats);
  return total === null ? null : [total];
}

function modelTokens(name: string | null, model: unknown): ModelTokens | null {
  if (!isObject(model)) return null;
  const counts = isObject(model.tokens) ? model.tokens : model;
  const usage = usageOf(counts);
  if (usage === null) return null;
  const thoughts = count(counts.thoughts) ?? unnamed(counts, usage);
  return { model: name === null ? null : stripControls(name), ...usage, thoughts };
}

/** `stream-json` does not name the thoughts; they are what the total has beyond input and output. */
function unnamed(counts: Record<string, unknown>, { input, output }: Tokens): number {
  return Math.max(0, (count(counts.total_tokens) ?? 0) - input - output);
}

/** `-o json`: models.<name>.tokens{prompt, candidates, cached, input}; `stream-json`: totals, and the same per model. */
export function tokensOf(stats: unknown): Tokens | null {
  if (!isObject(stats)) return null;
  const models = isObject(stats.models) ? Object.values(stats.models).filter(isObject) : [];
  return (
    usageOf(stats) ??
    models
      .map((model) => usageOf(isObject(model.tokens) ? model.tokens : model))
      .reduce((sum, one) => (sum !== null && one !== null ? add(sum, one) : (sum ?? one)), null)
  );
}

function usageOf(counts: Record<string, unknown>): Tokens | null {
  const cached = count(counts.cached);
  const uncached = count(counts.input);
  const input =
    count(counts.input_tokens) ?? count(counts.prompt) ?? (uncached === null ? null : uncached + (cached ?? 0));
  const output = count(counts.output_tokens) ?? count(counts.candidates);
  if (input === null && output === null && cached === null) return null;
  return { input: input ?? cached ?? 0, output: output ?? 0, cached: cached ?? 0 };
}

/** A larger number is a mistake, and would spoil the sums. */
const MOST_TOKENS = 1e12;

/** An integer, or a string of digits: strings in the statistics have corrupted totals before. */
function count(value: unknown): number | null {
  const number = typeof value === "string" && /^\s*\d{1,16}\s*$/.test(value) ? Number(value) : value;
  const isCount = Number.isSafeInteger(number) && (number as number) >= 0 && (number as number) <= MOST_TOKENS;
  return isCount ? (number as number) : null;
}

function add(a: Tokens, b: Tokens): Tokens {
  return { input: a.input + b.input, output: a.output + b.output, cached: a.cached + b.cached };
}
