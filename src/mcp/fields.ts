// The field types of tool inputs. Parsing is lenient (numbers as text, text as numbers, hyphens for underscores), the result is strict:
// every text has a length limit and no control characters. `meta` is published to the client; the rest applies when a call is parsed.

import * as z from "zod";
import { normalizeAgentName } from "../agents/names.ts";
import { isModelName } from "../session/event-parts.ts";
import { stripControls } from "../text.ts";

const loose = { type: ["string", "integer"] };

export function textField(max: number, description?: string) {
  return z
    .string({ error: "must be a string" })
    .max(max, { error: `must not be longer than ${max} characters` })
    .transform(stripControls)
    .refine((value) => value.trim() !== "", { error: "must not be empty" })
    .meta(described({}, description));
}

/** A text that is kept unchanged. */
export function verbatim(max: number, description?: string) {
  return z
    .string({ error: "must be a string" })
    .max(max, { error: `must not be longer than ${max} characters` })
    .meta(described({}, description));
}

/** One text, or a list of them. */
export function textsField(max: number, most: number, description?: string) {
  const error = `must be a string, or a list of at most ${most} strings`;
  return z
    .preprocess(
      (value) => (typeof value === "string" ? [value] : value),
      z.array(textField(max), { error }).min(1, { error }).max(most, { error }),
    )
    .meta(described({ type: ["string", "array"], items: { type: "string" } }, description));
}

/** `true` for all of them, or a list of texts. `false` counts as absent. */
export function allOrListField(max: number, most: number, description?: string) {
  const error = `must be true, or a list of at most ${most} strings`;
  return z
    .preprocess(
      (value) => (value === false ? undefined : value),
      z.union([z.literal(true), z.array(textField(max)).max(most)], { error }).optional(),
    )
    .meta(described({ type: ["boolean", "array"], items: { type: "string" } }, description));
}

/** The name of a model, which becomes an argument of a command line. */
export function modelField() {
  const error = "must be the name of a model";
  return z
    .string({ error })
    .transform((value) => value.trim())
    .refine(isModelName, { error })
    .meta({ type: "string" });
}

/** A phase id: 5 and "5" are the same. */
export function id(description?: string) {
  const error = "must be a phase id: a string or an integer";
  return z
    .preprocess(
      (value) => (Number.isSafeInteger(value) ? String(value) : typeof value === "string" ? value.trim() : value),
      z.string({ error }).min(1, { error }).max(64, { error: "must not be longer than 64 characters" }),
    )
    .meta(described(loose, description));
}

/** An agent name, normalized. */
export function agentName() {
  const error = "must be an agent name such as code-reviewer";
  return z
    .preprocess(
      (value) => (typeof value === "string" ? normalizeAgentName(value) : value),
      z.string({ error }).regex(/^[a-z0-9][a-z0-9-]{0,63}$/, { error }),
    )
    .meta({ type: "string" });
}

export function countField(description?: string) {
  const error = "must be an integer, 0 or more";
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

/** One of a few words. Published as a plain string, because the client's own check would reject a wrong word without naming the field. */
export function word<const Choice extends string>(choices: readonly Choice[]) {
  return oneOf(choices).meta({ type: "string", description: choices.join(" | ") });
}

/** One of a few words, enforced by the client. */
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

/** A duration: "90s", "20m", or a number of minutes. */
export function timeField(description?: string) {
  return z
    .preprocess(
      (value) => (typeof value === "number" ? String(value) : value),
      z.string({ error: "must be a duration such as 90s or 20m" }).max(20, { error: "is too long" }),
    )
    .meta(described(loose, description));
}

function described(published: object, description: string | undefined): Record<string, unknown> {
  return { ...published, ...(description === undefined ? {} : { description }) };
}
