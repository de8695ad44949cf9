// Every setting, once: name, kind, default, meaning; and the one resolver. No library: hooks load it on every tool call.
// Precedence: exported variable, then the workspace's .env, then the extension's .env, then the default. Empty means unset.

import { type DurationUnit, parseDuration } from "./duration.ts";
import { MaestroError } from "./errors.ts";
import {
  DEFAULT_STATE_DIR,
  type Environment,
  given,
  type Layer,
  layersOf,
  layerWith,
  ONE_LINE,
  oneLine,
  refuse,
  type SettingSource,
  STATE_DIR,
} from "./setting-layers.ts";

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
  [STATE_DIR]: string(
    DEFAULT_STATE_DIR,
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
  MAESTRO_ISOLATION: oneOf(
    ["auto", "worktree", "none"],
    "auto",
    "A git worktree for each attempt, or one tree for all; `auto` uses worktrees where attempts run side by side",
  ),
  MAESTRO_OWNERSHIP: oneOf(
    ["auto", "strict", "warn"],
    "auto",
    "Changes outside a phase's files are refused or told; `auto` is strict in parallel mode and warns otherwise",
  ),
  MAESTRO_SANDBOX: boolean(false, "Let agents write to their worktree only; needs Linux with bubblewrap"),
  MAESTRO_WORKTREE_SETUP: string("", "Command that makes a new worktree ready, before its agent starts"),
  MAESTRO_KEEP_REFS: integer(10, 0, "Sessions whose work is kept in refs/maestro after they ended"),
  MAESTRO_DISABLED_AGENTS: string("", "Comma-separated agents that must not be used"),
};

export type SettingName = keyof typeof definitions;
export type Settings = { [Name in SettingName]: (typeof definitions)[Name]["default"] };

export interface ResolvedSettings {
  values: Settings;
  sources: Record<SettingName, SettingSource>;
  cautions: string[];
}

/** All settings, or an error that names the first bad value and where it came from. */
export function resolveSettings(projectRoot: string, env: Environment): ResolvedSettings {
  const layers = layersOf(projectRoot, env);
  const values: Record<string, unknown> = {};
  const sources: Record<string, SettingSource> = {};
  const cautions: string[] = [];
  for (const [name, definition] of Object.entries(definitions) as [SettingName, Definition<unknown>][]) {
    const { value, source } = resolve(name, definition, layers);
    sources[name] = source;
    values[name] = value;
    const caution = definition.caution?.(value);
    if (caution !== undefined) cautions.push(caution);
  }
  return { values: values as Settings, sources: sources as ResolvedSettings["sources"], cautions };
}

/** For somebody who must go on: what cannot be read has its default, and is complained about. */
export function tolerantSettings(projectRoot: string, env: Environment, complain: (problem: string) => void): Settings {
  const layers = layersOf(projectRoot, env);
  const values: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries(definitions) as [SettingName, Definition<unknown>][]) {
    try {
      values[name] = resolve(name, definition, layers).value;
    } catch (error) {
      if (!(error instanceof MaestroError)) throw error;
      values[name] = definition.default;
      complain([error.message, error.hint].filter((part) => part !== undefined).join(" "));
    }
  }
  return values as Settings;
}

function resolve<T>(
  name: SettingName,
  definition: Definition<T>,
  layers: readonly Layer[],
): { value: T; source: SettingSource } {
  const layer = layerWith(name, layers);
  if (layer === undefined) return { value: definition.default, source: "default" };
  const [source, variables] = layer;
  const written = given(variables, name) ?? "";
  return { value: definition.parse(written.trim()) ?? refuse(name, definition.expects, written, source), source };
}

function string(fallback: string, meaning: string): Definition<string> {
  return {
    default: fallback,
    meaning,
    expects: ONE_LINE,
    parse: oneLine,
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
