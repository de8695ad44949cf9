// The file that describes a custom runtime, and everything that can be wrong with it. docs/runtimes.md explains each field.

import type { Tier } from "../../agents/tiers.ts";
import { parseJson } from "../../handoff/output/json.ts";
import * as is from "../../shape.ts";

const MAX_TEXT = 1_000;
const MAX_WORDS = 100;

const words = is.list(is.refined(is.text(MAX_TEXT), withoutNul), MAX_WORDS);
/** A JSON pointer (RFC 6901) to a value of the program's output. */
const pointer = is.matching(
  /^(?:\/(?:[^~/]|~[01])*){1,20}$/,
  'a JSON pointer that starts with "/", such as "/usage/input"',
);
const tokens = is.object({
  input: pointer,
  output: pointer,
  cached: is.optional(pointer),
  thoughts: is.optional(pointer),
  model: is.optional(pointer),
  input_excludes_cached: is.optional(is.boolean),
});
const event = is.object({
  text: is.optional(pointer),
  tool: is.optional(pointer),
  input: is.optional(pointer),
  failed: is.optional(pointer),
  error: is.optional(pointer),
  tokens: is.optional(tokens),
  end: is.optional(is.yes),
});
export type EventRule = is.TypeOf<typeof event>;
export type TokenRule = is.TypeOf<typeof tokens>;

const lines = is.object({
  form: is.only("json-lines"),
  type: is.optional(pointer),
  events: is.record(is.text(MAX_TEXT), event),
});
const document = is.object({
  form: is.only("json"),
  text: pointer,
  error: is.optional(pointer),
  tokens: is.optional(tokens),
});
const plain = is.object({ form: is.only("text") });

export type Output = is.TypeOf<typeof lines> | is.TypeOf<typeof document> | is.TypeOf<typeof plain>;
const forms: Readonly<Record<string, is.Shape<unknown>>> = { "json-lines": lines, json: document, text: plain };
const output: is.Shape<Output> = (value) => {
  const form = is.isObject(value) ? value.form : undefined;
  const shape = typeof form === "string" && Object.hasOwn(forms, form) ? forms[form] : undefined;
  if (shape !== undefined) return shape(value);
  if (!is.isObject(value)) return { path: [], expected: "an object" };
  return { path: ["form"], expected: `one of ${Object.keys(forms).join(", ")}` };
};

const tiers = is.object({
  "read-only": is.optional(words),
  "read-shell": is.optional(words),
  "read-write": is.optional(words),
  full: is.optional(words),
});

const variable = is.matching(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable");
const exitCodes = is.list(is.integer(1, 255), MAX_WORDS);

const fields = {
  name: is.matching(/^[a-z][a-z0-9-]{0,31}$/, "lower-case letters, digits and hyphens, at most 32, a letter first"),
  program: is.refined(is.path, programForm),
  args: words,
  model_args: is.optional(words),
  prompt: is.optional(is.oneOf(["stdin", "file"])),
  output,
  exit_codes: is.optional(is.object({ quota: is.optional(exitCodes), auth: is.optional(exitCodes) })),
  credentials: is.optional(is.list(variable, MAX_WORDS)),
  environment: is.optional(is.record(variable, is.refined(is.text(MAX_TEXT), withoutNul))),
  tiers,
  held_by: is.optional(is.text(MAX_TEXT)),
  install: is.optional(is.text(MAX_TEXT)),
  sign_in: is.optional(is.text(MAX_TEXT)),
  at_once: is.optional(is.integer(1, 1000)),
  limits: is.optional(is.list(is.text(MAX_TEXT), MAX_WORDS)),
};

export type Description = is.TypeOfFields<typeof fields>;

/** The description, or everything that is wrong with it: one sentence per field. `taken`: names of built-in runtimes. */
export function readDescription(text: string, taken: readonly string[]): Description | { problems: string[] } {
  const value = parseJson(text);
  if (value === undefined) return { problems: ["it must be JSON"] };
  const faults = is.allFaults(fields, value);
  if (faults.length > 0) return { problems: faults.map((one) => is.faultText(one)) };
  const description = value as Description;
  const problems = [
    ...nameProblems(description, taken),
    ...placeholderProblems(description),
    ...endProblems(description),
  ];
  return problems.length === 0 ? description : { problems };
}

function nameProblems({ name }: Description, taken: readonly string[]): string[] {
  return taken.includes(name) ? [`name must be another one: ${name} is built in`] : [];
}

/** What `args` may contain; the model stands in `model_args` alone, because a run may name none. */
const placeholders: Readonly<Record<"args" | "model_args" | "tiers", readonly string[]>> = {
  args: ["{prompt}", "{agent}", "{tier}"],
  model_args: ["{model}"],
  tiers: [],
};

function placeholderProblems({ args, model_args: model = [], tiers: held, prompt }: Description): string[] {
  const given: [keyof typeof placeholders, string, readonly string[]][] = [
    ["args", "args", args],
    ["model_args", "model_args", model],
    ...Object.entries(held).map(([tier, list]): ["tiers", string, string[]] => ["tiers", `tiers.${tier}`, list ?? []]),
  ];
  const unknown = given.flatMap(([kind, field, list]) => {
    const found = list.flatMap((word) => word.match(/\{[a-z_]+\}/g) ?? []);
    const strange = found.filter((one) => !placeholders[kind].includes(one));
    const allowed = placeholders[kind].join(", ") || "no placeholder";
    return strange.map((one) => `${field} must not contain ${one}: it may contain ${allowed}`);
  });
  const hasPrompt = args.some((word) => word.includes("{prompt}"));
  if (hasPrompt === (prompt === "file")) return unknown;
  return [
    ...unknown,
    hasPrompt ? 'prompt must be "file" when args contain {prompt}' : 'args must contain {prompt} when prompt is "file"',
  ];
}

function endProblems({ output: out }: Description): string[] {
  if (out.form !== "json-lines" || Object.values(out.events).some(({ end }) => end === true)) return [];
  return [
    'output.events must contain an event with "end": true: without it Maestro cannot distinguish an answer from a crash',
  ];
}

function withoutNul(value: string): is.Fault | undefined {
  return value.includes("\0") ? { path: [], expected: "text without NUL" } : undefined;
}

function programForm(value: string): is.Fault | undefined {
  if (!value.includes("/") || /^(?:\/|\.\/)/.test(value)) return undefined;
  return {
    path: [],
    expected: 'a name on PATH, an absolute path, or a path that starts with "./", from the directory of the file',
  };
}

/** The tiers that the program holds, in the order of what they allow. */
export function tiersOf({ tiers: held }: Description): Tier[] {
  const all: readonly Tier[] = ["read-only", "read-shell", "read-write", "full"];
  return all.filter((tier) => held[tier] !== undefined);
}
