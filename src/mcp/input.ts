// The arguments of a call: a loose published schema, and strict parsing. Both come from the fields of the tool's actions. The schema is
// loose because the client's check against it does not say which key is wrong; parsing here names every problem at once.

import * as z from "zod";
import { nearest } from "../agents/nearest.ts";
import { MaestroError } from "../errors.ts";
import { choice } from "./fields.ts";
import { type InputShape, ONLY, type Tool, type ToolAction } from "./tool.ts";

/** Gemini CLI adds this key to every call; Maestro does not use it. */
const IGNORED = "wait_for_previous";

/** A flat schema: the fields of all actions side by side. */
export function publishedSchema({ actions }: Tool): { type: "object"; [key: string]: unknown } {
  const fields = Object.assign({}, ...Object.values(actions).map(({ input }) => input)) as InputShape;
  const names = Object.keys(actions);
  const hasActions = names[0] !== ONLY;
  const shape = hasActions ? { action: choice(names), ...fields } : fields;
  const schema = z.toJSONSchema(z.object(shape), {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => loosen(jsonSchema),
  });
  const required = hasActions ? ["action"] : Object.keys(fields).filter((key) => !isOptional(fields, key));
  return { type: "object", properties: schema.properties ?? {}, ...(required.length === 0 ? {} : { required }) };
}

const published = new Set(["type", "description", "enum", "properties", "items"]);

/** Removes limits and requirements from the schema; `readInput` checks them with messages that name the key. */
function loosen(schema: object): void {
  for (const key of Object.keys(schema)) {
    if (!published.has(key)) delete (schema as Record<string, unknown>)[key];
  }
}

/** The action of a call and its parsed input; throws one error that names everything that is wrong. */
export function readToolInput(tool: Tool, args: unknown): { action: ToolAction; input: never } {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw new MaestroError("usage", `${tool.name} takes an object of named arguments`);
  }
  // Models write null for arguments that they leave out.
  const given = Object.fromEntries(Object.entries(args).filter(([key, value]) => key !== IGNORED && value !== null));
  const name = actionOf(tool, given);
  const action = tool.actions[name] as ToolAction;
  if (name !== ONLY) delete given.action;
  const read = z.object(action.input).safeParse(given);
  const problems = [...unknownKeys(action, given, name), ...(read.success ? [] : wrongValues(read.error, given, name))];
  if (problems.length > 0) throw new MaestroError("usage", problems.join(". "), { hint: usage(action, name) });
  return { action, input: read.data as never };
}

function actionOf({ name, actions }: Tool, given: Record<string, unknown>): string {
  const names = Object.keys(actions);
  if (names[0] === ONLY) return ONLY;
  const wanted = given.action;
  const hint = `action is one of ${names.join(", ")}.`;
  if (wanted === undefined) throw new MaestroError("usage", `Missing "action" for ${name}`, { hint });
  const normal = typeof wanted === "string" ? wanted.trim().toLowerCase().replaceAll("-", "_") : "";
  if (Object.hasOwn(actions, normal)) return normal;
  const near = nearest(normal, names);
  const suggestion = near === undefined ? "" : ` (did you mean "${near}"?)`;
  throw new MaestroError("usage", `${name} has no action ${shown(wanted)}${suggestion}`, { hint });
}

const MAX_KEYS_NAMED = 10;

function unknownKeys({ input }: ToolAction, given: object, name: string): string[] {
  const known = Object.keys(input);
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(input, key));
  if (unknown.length === 0) return [];
  const named = unknown.slice(0, MAX_KEYS_NAMED).map((key) => {
    const near = nearest(key, known);
    return near === undefined ? shown(key) : `${shown(key)} (did you mean "${near}"?)`;
  });
  const more = unknown.length > MAX_KEYS_NAMED ? ", ..." : "";
  const takes = known.length === 0 ? "nothing" : known.join(", ");
  const keys = unknown.length === 1 ? "key" : "keys";
  return [`Unknown ${keys} ${named.join(", ")}${more}${behind(name)}; it takes ${takes}`];
}

function wrongValues(error: z.ZodError, given: Record<string, unknown>, name: string): string[] {
  return error.issues.flatMap(({ path, message, code, ...issue }) => {
    const at = path.map(String).join(".");
    if (code === "unrecognized_keys" && "keys" in issue) {
      return (issue.keys as string[]).map((key) => `Unknown key ${shown(`${at}.${key}`)}${behind(name)}`);
    }
    const value = valueAt(given, path);
    if (value === undefined) return [`Missing ${shown(at)}${behind(name)}`];
    return [`${shown(at)} ${message} (got: ${shown(value)})`];
  });
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], given);
}

function usage({ input }: ToolAction, name: string): string {
  const keys = Object.keys(input);
  const needed = keys.filter((key) => !isOptional(input, key));
  const other = keys.filter((key) => isOptional(input, key));
  const what = name === ONLY ? "It" : name;
  const needs = needed.length === 0 ? `${what} needs nothing` : `${what} needs ${needed.join(", ")}`;
  return `${needs}${other.length === 0 ? "" : `; it may have ${other.join(", ")}`}.`;
}

function isOptional(input: InputShape, key: string): boolean {
  return input[key]?.safeParse(undefined).success === true;
}

function behind(name: string): string {
  return name === ONLY ? "" : ` for action ${name}`;
}

/** A value of the call for a message: quoted and shortened. */
function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 60 ? `${json.slice(0, 57)}...` : json;
}
