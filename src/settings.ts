// Every setting, once: name, kind, default, meaning; and the one resolver. No library: hooks load it on every tool call.
// Precedence: exported variable, then the workspace's .env, then the extension's .env, then the default. Empty means unset.

import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type DurationUnit, parseDuration } from "./duration.ts";
import { errno, MaestroError, reasonOf } from "./errors.ts";

interface Definition<T> {
  default: T;
  meaning: string;
  /** What a value must be; used in the message when it is not. */
  expects: string;
  parse: (value: string) => T | undefined;
  /** Something to tell the user about a legal value. */
  caution?: (value: T) => string | undefined;
}

export const definitions = {
  MAESTRO_STATE_DIR: string(
    ".gemini",
    "Directory for plans, session state and dispatch results, relative to the project or absolute",
  ),
  MAESTRO_EXECUTION_MODE: oneOf(
    ["parallel", "sequential", "ask"],
    "ask",
    "How phases are carried out; `ask` puts the choice to the user before anything runs",
  ),
  MAESTRO_MAX_CONCURRENT: integer(0, 0, "Agents running at the same time; 0 means all that are ready"),
  MAESTRO_STAGGER_DELAY: integer(5, 0, "Seconds between two launches of agents that call a model"),
  MAESTRO_AGENT_TIMEOUT: {
    ...duration(10, "m", "Minutes after which an attempt is stopped, or a time such as `90s`"),
    expects: "a positive integer",
    caution: (minutes: number) =>
      minutes > 60 ? `MAESTRO_AGENT_TIMEOUT is ${minutes} minutes: an agent that hangs is noticed late` : undefined,
  },
  MAESTRO_MAX_RETRIES: integer(2, 0, "Automatic retries of a failed phase; after that a person decides"),
  MAESTRO_QUOTA_DELAY: duration(
    5,
    "s",
    "Seconds of the first wait after the provider refused a request, doubling up to 5 minutes",
  ),
  MAESTRO_AUTO_ARCHIVE: boolean(true, "Archive a session as soon as it is completed"),
  MAESTRO_CLEANUP_DISPATCH: boolean(false, "Remove the prompt files of a batch after it has run"),
  MAESTRO_DEFAULT_MODEL: string("", "Model for all agents; unset: the one in the agent's front matter"),
  MAESTRO_WRITER_MODEL: string("", "Model for technical-writer only; wins over MAESTRO_DEFAULT_MODEL"),
  MAESTRO_GEMINI_EXTRA_ARGS: string("", "Arguments appended to every gemini command line"),
  MAESTRO_PRICES: string("", "JSON file with prices in dollars per million tokens, by model, over the built-in ones"),
  MAESTRO_DISABLED_AGENTS: string("", "Comma-separated agents that must not be used"),
};

/** Read from the environment only: a repository must not be able to choose where agents come from. */
export const EXTENSION_PATH = "MAESTRO_EXTENSION_PATH";

export type SettingName = keyof typeof definitions;
export type Settings = { [Name in SettingName]: (typeof definitions)[Name]["default"] };
export type SettingSource = "environment" | "workspace .env" | "extension .env" | "default";

export interface ResolvedSettings {
  values: Settings;
  sources: Record<SettingName, SettingSource>;
  cautions: string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** All settings, or an error that names the first bad value and where it came from. */
export function resolveSettings(projectRoot: string, env: Environment): ResolvedSettings {
  const layers: [SettingSource, Environment][] = [
    ["environment", env],
    ["workspace .env", readEnvFile(join(projectRoot, ".env"))],
    ["extension .env", readEnvFile(join(extensionHome(env), ".env"))],
  ];
  const values: Record<string, unknown> = {};
  const sources: Record<string, SettingSource> = {};
  const cautions: string[] = [];
  for (const [name, definition] of Object.entries(definitions) as [SettingName, Definition<unknown>][]) {
    const layer = layers.find(([, variables]) => given(variables, name) !== undefined);
    sources[name] = layer?.[0] ?? "default";
    values[name] =
      layer === undefined
        ? definition.default
        : parseValue(name, definition, given(layer[1], name) as string, layer[0]);
    const caution = definition.caution?.(values[name]);
    if (caution !== undefined) cautions.push(caution);
  }
  return { values: values as Settings, sources: sources as ResolvedSettings["sources"], cautions };
}

/** The extension's own directory as the user installed it: where its `.env` is. */
function extensionHome(env: Environment): string {
  return given(env, EXTENSION_PATH) ?? join(given(env, "HOME") ?? homedir(), ".gemini", "extensions", "maestro");
}

function given(variables: Environment, name: string): string | undefined {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return value === undefined || value.trim() === "" ? undefined : value;
}

function parseValue(name: string, definition: Definition<unknown>, value: string, source: SettingSource): unknown {
  const parsed = definition.parse(value.trim());
  if (parsed !== undefined) return parsed;
  throw new MaestroError("config", `${name} must be ${definition.expects} (got: ${value})`, {
    ...(source === "environment" ? {} : { hint: `It is set in the ${source}.` }),
  });
}

export function readEnvFile(path: string): Environment {
  if (!isFile(path)) return {};
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (error) {
    throw new MaestroError("config", `Cannot read settings from ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Anything but a file (some tools keep a directory of that name) holds no settings, nor does what nobody here may look at. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "ELOOP"].includes(errno(error) ?? "")) return false;
    throw error;
  }
}

/** KEY=value lines: optional `export`, quotes, `#` comments, CRLF, BOM. The last assignment wins; nothing is expanded. */
export function parseEnv(text: string): Environment {
  const variables: Record<string, string> = Object.create(null);
  const line = /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\r\n]*))/gm;
  for (const [, name, double, single, bare] of text.replace(/^\uFEFF/, "").matchAll(line)) {
    variables[name as string] =
      double?.replace(/\\(.)/gs, unescaped) ?? single ?? (bare ?? "").replace(/(^|\s)#.*$/, "").trim();
  }
  return variables;
}

function unescaped(_match: string, character: string): string {
  return { n: "\n", r: "\r", t: "\t" }[character] ?? character;
}

function string(fallback: string, meaning: string): Definition<string> {
  return {
    default: fallback,
    meaning,
    expects: "text without line breaks",
    parse: (value) => (/[\n\r\0]/.test(value) ? undefined : value),
  };
}

function integer(fallback: number, least: 0 | 1, meaning: string): Definition<number> {
  const expects = least === 0 ? "a non-negative integer" : "a positive integer";
  const parse = (value: string) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : -1;
    return number >= least ? number : undefined;
  };
  return { default: fallback, meaning, expects, parse };
}

/** A bare number counts in `unit`, and so does the value. */
function duration(fallback: number, unit: DurationUnit, meaning: string): Definition<number> {
  const one = parseDuration("1", unit) ?? 1;
  const parse = (value: string) => {
    const milliseconds = parseDuration(value, unit) ?? 0;
    return milliseconds > 0 ? milliseconds / one : undefined;
  };
  return { default: fallback, meaning, expects: "a positive number, or a time such as 90s", parse };
}

function boolean(fallback: boolean, meaning: string): Definition<boolean> {
  const words: Record<string, boolean> = {
    true: true,
    "1": true,
    yes: true,
    on: true,
    false: false,
    "0": false,
    no: false,
    off: false,
  };
  const parse = (value: string) => (Object.hasOwn(words, value.toLowerCase()) ? words[value.toLowerCase()] : undefined);
  return { default: fallback, meaning, expects: "true or false", parse };
}

function oneOf<const Choice extends string>(
  choices: readonly Choice[],
  fallback: NoInfer<Choice>,
  meaning: string,
): Definition<Choice> {
  return {
    default: fallback,
    meaning,
    expects: `one of ${choices.join(", ")}`,
    parse: (value) => choices.find((choice) => choice === value),
  };
}
