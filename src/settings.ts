// Every setting, once: name, kind, default, meaning, what a project's .env may do with it; and the one resolver. No library: hooks load it.
// Precedence: exported variable, then the project's .env, then the extension's .env, then the default. Empty means unset.

import { type DurationUnit, parseDuration } from "./duration.ts";
import { MaestroError } from "./errors.ts";
import {
  DEFAULT_STATE_DIR,
  type Environment,
  given,
  type Layer,
  layersOf,
  ONE_LINE,
  refuse,
  type SettingSource,
  STATE_DIR,
  settingLine,
  staysInside,
} from "./setting-layers.ts";

/** A project's .env comes with the repository, or an agent left it. What it may do with a setting, and why not more. */
type FromProject<T> =
  | { rule: "obeyed" }
  | { rule: "ignored"; because: string }
  /** Obeyed as far as it is no looser than the user's own value. */
  | { rule: "tightens"; stricter: (own: T, proposed: T) => T }
  /** A path below the project is obeyed. */
  | { rule: "inside" }
  /** The user is asked, with this as the proposal. */
  | { rule: "proposed" };

interface Definition<T> {
  default: T;
  meaning: string;
  /** What a value must be; used in the message when it is not. */
  expects: string;
  parse: (value: string) => T | undefined;
  /** Absent: obeyed. */
  fromProject?: FromProject<T>;
  /** Something to tell the user about a legal value. */
  caution?: (value: T) => string | undefined;
}

const inside = { rule: "inside" } as const;

export const definitions = {
  [STATE_DIR]: {
    ...string(
      DEFAULT_STATE_DIR,
      "Directory for plans, session state and dispatch results, relative to the project or absolute",
    ),
    fromProject: inside,
  },
  MAESTRO_EXECUTION_MODE: {
    ...oneOf(
      ["parallel", "sequential", "ask"],
      "ask",
      "How phases are run; `ask` puts the choice to the user before anything runs",
    ),
    fromProject: { rule: "proposed" } as const,
  },
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
  MAESTRO_DEFAULT_MODEL: model("Model for all agents; unset: the one in the agent's front matter"),
  MAESTRO_WRITER_MODEL: model("Model for technical-writer only; wins over MAESTRO_DEFAULT_MODEL"),
  MAESTRO_GEMINI_EXTRA_ARGS: {
    ...string("", "Arguments appended to every gemini command line"),
    fromProject: ignored("arguments can switch protections off"),
  },
  MAESTRO_PRICES: {
    ...string("", "JSON file with prices in dollars per million tokens, by model, over the built-in ones"),
    fromProject: inside,
  },
  MAESTRO_ISOLATION: {
    ...oneOf(
      ["auto", "worktree", "none"],
      "auto",
      "A git worktree for each attempt, or one tree for all; `auto` uses worktrees where attempts run side by side",
    ),
    fromProject: tightens(["none", "auto", "worktree"]),
  },
  MAESTRO_OWNERSHIP: {
    ...oneOf(
      ["auto", "strict", "warn"],
      "auto",
      "Changes outside a phase's files are rejected or warned about; `auto` is strict in parallel mode and warns otherwise",
    ),
    fromProject: tightens(["warn", "auto", "strict"]),
  },
  MAESTRO_SANDBOX: {
    ...boolean(false, "Confine agents to their worktree; needs Linux with bubblewrap"),
    fromProject: tightens([false, true]),
  },
  MAESTRO_WORKTREE_SETUP: {
    ...string("", "Command that makes a new worktree ready, before its agent starts"),
    fromProject: ignored("it is a command that would be run"),
  },
  MAESTRO_KEEP_REFS: {
    ...integer(10, 0, "Sessions whose work is kept in refs/maestro after they ended"),
    fromProject: { rule: "tightens" as const, stricter: (own: number, proposed: number) => Math.max(own, proposed) },
  },
  MAESTRO_DISABLED_AGENTS: {
    ...string("", "Comma-separated agents that must not be used"),
    fromProject: {
      rule: "tightens" as const,
      stricter: (own: string, proposed: string) => [own, proposed].filter((names) => names !== "").join(","),
    },
  },
};

export type SettingName = keyof typeof definitions;
export type Settings = { [Name in SettingName]: (typeof definitions)[Name]["default"] };

export interface ResolvedSettings {
  values: Settings;
  sources: Record<SettingName, SettingSource>;
  /** What to tell the user: odd values, and what the project's .env says in vain. */
  cautions: string[];
  /** The execution mode that the project's .env proposes, unless the user has set one. */
  proposedMode: Exclude<Settings["MAESTRO_EXECUTION_MODE"], "ask"> | null;
}

interface Resolved<T> {
  value: T;
  source: SettingSource;
  /** Why the project's value does not count. */
  ignored?: string;
  proposal?: T;
}

/** All settings, or an error that names the first bad value and where it came from. */
export function resolveSettings(projectRoot: string, env: Environment): ResolvedSettings {
  const layers = layersOf(projectRoot, env);
  const values: Record<string, unknown> = {};
  const sources: Record<string, SettingSource> = {};
  const cautions: string[] = [];
  let proposedMode: ResolvedSettings["proposedMode"] = null;
  for (const [name, definition] of Object.entries(definitions) as [SettingName, Definition<unknown>][]) {
    const { value, source, ignored: because, proposal } = resolve(name, definition, layers);
    sources[name] = source;
    values[name] = value;
    const caution = definition.caution?.(value);
    if (caution !== undefined) cautions.push(caution);
    if (because !== undefined) cautions.push(ignoredText(name, `${projectRoot}/.env`, because));
    if (proposal !== undefined) proposedMode = proposal as ResolvedSettings["proposedMode"];
  }
  return { values: values as Settings, sources: sources as ResolvedSettings["sources"], cautions, proposedMode };
}

function ignoredText(name: string, file: string, because: string): string {
  return `${name} in ${file} is ignored: ${because}. If you want it, export it in your shell: export ${name}=...`;
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

/** An exported value is the user's own and wins. What the project's file says counts only as far as its rule allows. */
function resolve<T>(name: SettingName, definition: Definition<T>, layers: readonly Layer[]): Resolved<T> {
  const [first] = layers.filter(([source]) => source === "environment");
  const exported = first === undefined ? undefined : read(name, definition, first);
  if (exported !== undefined) return exported;
  const extension = layers.find(([source]) => source === "extension .env");
  const own = (extension === undefined ? undefined : read(name, definition, extension)) ?? {
    value: definition.default,
    source: "default" as const,
  };
  const project = layers.find(([source, variables]) => source === "workspace .env" && given(variables, name));
  return project === undefined ? own : withProject(name, definition, own, project);
}

function withProject<T>(name: SettingName, definition: Definition<T>, own: Resolved<T>, project: Layer): Resolved<T> {
  const { fromProject = { rule: "obeyed" } } = definition;
  if (fromProject.rule === "ignored") return { ...own, ignored: fromProject.because };
  if (fromProject.rule === "inside" && !staysInside(given(project[1], name) ?? "")) {
    return { ...own, ignored: "it leads out of the project" };
  }
  const proposed = read(name, definition, project) as Resolved<T>;
  if (fromProject.rule === "tightens") {
    const value = fromProject.stricter(own.value, proposed.value);
    const isLooser = value === own.value && proposed.value !== own.value;
    return isLooser ? { ...own, ignored: "it would lower a protection" } : { value, source: proposed.source };
  }
  if (fromProject.rule !== "proposed") return proposed;
  // To ask is always possible; to know the answer in advance is for the user.
  if (proposed.value === definition.default || own.source !== "default") {
    return proposed.value === definition.default ? proposed : own;
  }
  return { ...own, proposal: proposed.value };
}

function read<T>(name: string, definition: Definition<T>, [source, variables]: Layer): Resolved<T> | undefined {
  const written = given(variables, name);
  if (written === undefined) return undefined;
  return { value: definition.parse(written.trim()) ?? refuse(name, definition.expects, written, source), source };
}

function string(fallback: string, meaning: string): Definition<string> {
  return {
    default: fallback,
    meaning,
    expects: ONE_LINE,
    parse: settingLine,
  };
}

/** Goes to a command line, where it must not be taken for an option. */
function model(meaning: string): Definition<string> {
  const parse = (value: string) => (/^[A-Za-z0-9][\w.:/@-]{0,127}$/.test(value) ? value : undefined);
  return { default: "", meaning, expects: "the name of a model", parse };
}

function ignored(because: string) {
  return { rule: "ignored", because } as const;
}

/** `order`: the loosest value first. */
function tightens<T>(order: readonly T[]) {
  const stricter = (own: T, proposed: T) => (order.indexOf(proposed) > order.indexOf(own) ? proposed : own);
  return { rule: "tightens" as const, stricter };
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
