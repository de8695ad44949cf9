// The kinds of fields that tools take. Read generously (numbers as text, text as numbers, hyphens for underscores), kept strictly:
// every text has a limit and no control characters. `meta` is what is published; the rest is for whoever reads the call.

import * as z from "zod";
import { normalizeAgentName } from "../agents/names.ts";
import { stripControls } from "../text.ts";

const loose = { type: ["string", "integer"] };

export function textField(max: number, description?: string) {
  return z
    .string({ error: "must be a text" })
    .max(max, { error: `must not be longer than ${max} characters` })
    .transform(stripControls)
    .refine((value) => value.trim() !== "", { error: "must not be empty" })
    .meta(described({}, description));
}

/** A text that is kept byte for byte. */
export function verbatim(max: number, description?: string) {
  return z
    .string({ error: "must be a text" })
    .max(max, { error: `must not be longer than ${max} characters` })
    .meta(described({}, description));
}

/** The id of a phase: 5 and "5" are the same. */
export function id(description?: string) {
  const error = "must be the id of a phase: a text or a whole number";
  return z
    .preprocess(
      (value) => (Number.isSafeInteger(value) ? String(value) : typeof value === "string" ? value.trim() : value),
      z.string({ error }).min(1, { error }).max(64, { error: "must not be longer than 64 characters" }),
    )
    .meta(described(loose, description));
}

/** The name of an agent, in its one spelling. */
export function agentName() {
  const error = "must be the name of an agent, such as code-reviewer";
  return z
    .preprocess(
      (value) => (typeof value === "string" ? normalizeAgentName(value) : value),
      z.string({ error }).regex(/^[a-z0-9][a-z0-9-]{0,63}$/, { error }),
    )
    .meta({ type: "string" });
}

export function countField(description?: string) {
  const error = "must be a whole number, 0 or more";
  return z
    .preprocess(
      (value) => (typeof value === "string" && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value),
      z.int({ error }).nonnegative({ error }),
    )
    .meta(described(loose, description));
}

export function flagField(description?: string) {
  const words: Record<string, boolean> = { true: true, false: false };
  return z
    .preprocess(
      (value) => (typeof value === "string" ? (words[value.trim().toLowerCase()] ?? value) : value),
      z.boolean({ error: "must be true or false" }),
    )
    .meta(described({ type: ["boolean", "string"] }, description));
}

/** One of a few words. Published as text: the client's own check would refuse another one without naming the field. */
export function word<const Choice extends string>(choices: readonly Choice[]) {
  return oneOf(choices).meta({ type: "string", description: choices.join(" | ") });
}

/** One of a few words that the client is to hold the model to. */
export function choice<const Choice extends string>(choices: readonly Choice[], description?: string) {
  return oneOf(choices).meta(described({ type: "string", enum: [...choices] }, description));
}

function oneOf<const Choice extends string>(choices: readonly Choice[]) {
  const error = `must be one of ${choices.join(", ")}`;
  const isChoice = (value: string): value is Choice => choices.some((choice) => choice === value);
  return z.preprocess(
    (value) => (typeof value === "string" ? value.trim().toLowerCase().replaceAll("-", "_") : value),
    z.string({ error }).refine(isChoice, { error }),
  );
}

/** A length of time: "90s", "20m", or a number of minutes. */
export function timeField(description?: string) {
  return z
    .preprocess(
      (value) => (typeof value === "number" ? String(value) : value),
      z.string({ error: "must be a length of time such as 90s or 20m" }).max(20, { error: "is too long" }),
    )
    .meta(described(loose, description));
}

function described(published: object, description: string | undefined): Record<string, unknown> {
  return { ...published, ...(description === undefined ? {} : { description }) };
}
