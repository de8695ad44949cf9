// Reads the Downstream Context of a report: what later phases need to know, in the five lists of the session state.

import { contextKeys, type DownstreamContext, emptyContext } from "./downstream-context.ts";
import { contextKey } from "./keys.ts";
import { type Item, paragraphsOf, readFields } from "./markdown/fields.ts";
import type { Line } from "./markdown/lines.ts";
import { bracketed } from "./markdown/lists.ts";
import { isNone } from "./markdown/words.ts";

/** Null for a section that says nothing. Text without a known field name is kept as an integration point. */
export function contextOf(lines: readonly Line[]): DownstreamContext | null {
  const { fields, loose } = readFields(lines, contextKey);
  const said = [...fields, { key: "integration_points" as const, items: loose }];
  if (said.every(({ items }) => items.length === 0)) return null;

  const context = emptyContext();
  for (const key of contextKeys) {
    const texts = said.filter((field) => field.key === key).flatMap(({ items }) => textsOf(items));
    context[key] = [...new Set(texts)];
  }
  return context;
}

function textsOf(items: readonly Item[]): string[] {
  const texts = paragraphsOf(items).flatMap(({ text }) => bracketed(text) ?? [text]);
  return texts.map((text) => text.replace(/\s+/gu, " ").trim()).filter((text) => text !== "" && !isNone(text));
}
