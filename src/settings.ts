// Defines every setting once: name, type, default, meaning and what a project's .env may do with it; and resolves them all. It uses no
// library, because hooks load it. Precedence: exported variable, then the project's .env, then the extension's .env, then the default.
// Empty means unset.

import { AMOUNTS_EXPECTED, amountsText, parseAmounts, tighterText } from "./amounts.ts";
import { type DurationUnit, parseDuration } from "./duration.ts";
import { MaestroError } from "./errors.ts";
import { EXCHANGE_EXPECTED, exchangeAddress, QUEUE_EXPECTED, queueAddress } from "./secrets/remote-address.ts";
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

/** What a project's .env may do with a setting. It comes with the repository, or an agent wrote it, so it is not trusted. */
type FromProject<T> =
  | { rule: "obeyed" }
  | { rule: "ignored"; because: string }
  /** Obeyed if it is at least as strict as the user's own value. */
  | { rule: "tightens"; stricter: (own: T, proposed: T) => T }
  /** Obeyed if it is a path below the project. */
  | { rule: "inside" }
  /** Offered to the user as the proposed choice. */
  | { rule: "proposed" };

interface Definition<T> {
  default: T;
  meaning: string;
  /** What a value must be, for the error message. */
  expects: string;
  parse: (value: string) => T | undefined;
  /** Absent means obeyed. */
  fromProject?: FromProject<T>;
  /** A warning about a valid but questionable value. */
  caution?: (value: T) => string | undefined;
  /** The value is a secret: no message and no output shows it. */
  isSecret?: true;
  /** An invalid value may contain a secret: the message does not quote it. */
  isUnquoted?: true;
}

const inside = { rule: "inside" } as const;
/** As many characters as 128 bits have in hexadecimal form. */
export const MIN_KEY_CHARS = 32;

export const definitions = {
  [STATE_DIR]: {
    ...string(
      DEFAULT_STATE_DIR,
      "Directory for plans, session state and dispatch results, relative to the project or absolute",
    ),
    fromProject: inside,
  },
  MAESTRO_EXECUTION_MODE: {
    ...oneOf(["parallel", "sequential", "ask"], "ask", "How phases run; `ask` asks the user before anything runs"),
    fromProject: { rule: "proposed" } as const,
  },
  MAESTRO_MAX_CONCURRENT: integer(0, 0, "Maximum number of agents running at the same time; 0 means no limit"),
  MAESTRO_STAGGER_DELAY: integer(5, 0, "Seconds between two launches of agents that call a model"),
  MAESTRO_AGENT_TIMEOUT: {
    ...duration(10, "m", "Minutes after which an attempt is stopped, or a duration such as `90s`"),
    expects: "a positive integer of minutes, or a duration such as 90s",
    caution: (minutes: number) =>
      minutes > 60 ? `MAESTRO_AGENT_TIMEOUT is ${minutes} minutes: a hanging agent is noticed late` : undefined,
  },
  MAESTRO_MAX_RETRIES: integer(2, 0, "Automatic retries of a failed phase; after that the user decides"),
  MAESTRO_QUOTA_DELAY: duration(
    5,
    "s",
    "Seconds before the first retry after the provider rejects a request, doubling up to 5 minutes",
  ),
  MAESTRO_BUDGET: {
    ...string("", "The most that a session may spend, as in `5usd,2Mtok,300req`; it pauses before it would spend more"),
    expects: AMOUNTS_EXPECTED,
    parse: (value: string) => {
      const amounts = parseAmounts(value);
      return amounts === undefined ? undefined : amountsText(amounts);
    },
    fromProject: { rule: "tightens" as const, stricter: tighterText },
  },
  MAESTRO_AUTO_ARCHIVE: boolean(true, "Archive a session as soon as it is completed"),
  MAESTRO_CLEANUP_DISPATCH: boolean(false, "Delete the prompt files of a run or dispatch after it has ended"),
  MAESTRO_DEFAULT_MODEL: model("Model for all agents; unset: the model in the agent's front matter"),
  MAESTRO_WRITER_MODEL: model("Model for technical-writer only; overrides MAESTRO_DEFAULT_MODEL"),
  MAESTRO_GEMINI_EXTRA_ARGS: {
    ...string("", "Arguments appended to every gemini command line"),
    fromProject: ignored("arguments can disable protections"),
  },
  MAESTRO_RUNTIMES: {
    ...string("", "Runtime by agent, as in `*=gemini, coder=claude`; overrides --runtime"),
    fromProject: ignored("a project must not choose which of your accounts is used"),
  },
  MAESTRO_PRICES: {
    ...string("", "JSON file with prices in dollars per million tokens by model; overrides the built-in prices"),
    fromProject: inside,
  },
  MAESTRO_ISOLATION: {
    ...oneOf(
      ["auto", "worktree", "none"],
      "auto",
      "`worktree` gives each attempt a git worktree, `none` runs all attempts in the project; `auto` uses worktrees when attempts run in parallel",
    ),
    fromProject: tightens(["none", "auto", "worktree"]),
  },
  MAESTRO_OWNERSHIP: {
    ...oneOf(
      ["auto", "strict", "warn"],
      "auto",
      "Reject (`strict`) or warn about changes outside a phase's files; `auto` is strict in parallel mode and warns otherwise",
    ),
    fromProject: tightens(["warn", "auto", "strict"]),
  },
  MAESTRO_SANDBOX: {
    ...boolean(false, "Confine agents to their worktree; needs Linux with bubblewrap"),
    fromProject: tightens([false, true]),
  },
  MAESTRO_WORKTREE_SETUP: {
    ...string("", "Command that prepares a new worktree before its agent starts"),
    fromProject: ignored("Maestro would run it as a command"),
  },
  MAESTRO_PASS_ENV: {
    ...string(
      "",
      "Exported variables that agents and commands get besides the allowed ones: names and globs, as in `DATABASE_URL,APP_*`",
    ),
    expects: "a list of variable names and globs",
    parse: (value: string) => (/^[A-Za-z_*?][\w*?]*(?:[\s,]+[A-Za-z_*?][\w*?]*)*$/.test(value) ? value : undefined),
    fromProject: ignored("a project must not choose which of your variables agents get"),
  },
  MAESTRO_GUARD: {
    ...oneOf(
      ["auto", "always", "off"],
      "auto",
      "Where the guard applies: `always`: every rule in every conversation; `auto`: rules against damage everywhere, the other rules in agents and during a session; `off`: only in agents",
    ),
    fromProject: tightens(["off", "auto", "always"]),
  },
  MAESTRO_KEEP_REFS: {
    ...integer(10, 0, "Number of ended sessions whose work is kept in refs/maestro"),
    fromProject: { rule: "tightens" as const, stricter: (own: number, proposed: number) => Math.max(own, proposed) },
  },
  MAESTRO_DISABLED_AGENTS: {
    ...string("", "Comma-separated agents that must not be used"),
    fromProject: {
      rule: "tightens" as const,
      stricter: (own: string, proposed: string) => [own, proposed].filter((names) => names !== "").join(","),
    },
  },
  MAESTRO_WORKERS: {
    ...string(
      "",
      "Address of the queue that workers take attempts from, as in `redis://host:6379`; unset: attempts run here",
    ),
    expects: QUEUE_EXPECTED,
    parse: queueAddress,
    fromProject: ignored("a project must not choose which machines run its attempts"),
    // An invalid value may be an address with a password.
    isUnquoted: true as const,
  },
  MAESTRO_EXCHANGE: {
    ...string("", "Address of the git repository through which attempts reach workers and their work comes back"),
    expects: EXCHANGE_EXPECTED,
    parse: exchangeAddress,
    fromProject: ignored("a project must not choose where your files are sent"),
    isUnquoted: true as const,
  },
  MAESTRO_WORKER_KEY: {
    ...string("", "Secret that engine and workers sign orders and results with; at least 32 characters"),
    expects: "at least 32 characters, such as what `openssl rand -hex 32` prints",
    parse: (value: string) => (value.length >= MIN_KEY_CHARS ? settingLine(value) : undefined),
    fromProject: ignored("a project must not choose whose orders a worker runs"),
    isSecret: true as const,
  },
  MAESTRO_WORKER_KEY_FILE: {
    ...string("", "File with that secret, used when MAESTRO_WORKER_KEY is not set"),
    fromProject: ignored("a project must not choose whose orders a worker runs"),
  },
  MAESTRO_QUEUE_PASSWORD: {
    ...string("", "Password of the queue"),
    fromProject: ignored("a project must not choose which machines run its attempts"),
    isSecret: true as const,
  },
  MAESTRO_WORKER_LEASE: workerTime(
    60,
    "s",
    "Seconds without a heartbeat of a worker after which its attempt is given up",
  ),
  MAESTRO_WORKER_RENEWAL: workerTime(
    10,
    "s",
    "Seconds between two heartbeats of a worker; at most a third of the lease",
  ),
  MAESTRO_WORKER_SWEEP: workerTime(15, "s", "Seconds between two searches for attempts whose worker sent no heartbeat"),
  MAESTRO_ORPHAN_LIMIT: workerTime(
    10,
    "m",
    "Minutes without an engine after which a worker stops the agent and keeps its work",
  ),
};

export type SettingName = keyof typeof definitions;
export type Settings = { [Name in SettingName]: (typeof definitions)[Name]["default"] };

export interface ResolvedSettings {
  values: Settings;
  sources: Record<SettingName, SettingSource>;
  /** Warnings for the user: questionable values, and ignored values of the project's .env. */
  cautions: string[];
  /** The execution mode that the project's .env proposes, unless the user has set one. */
  proposedMode: Exclude<Settings["MAESTRO_EXECUTION_MODE"], "ask"> | null;
}

interface Resolved<T> {
  value: T;
  source: SettingSource;
  /** Why the project's value is ignored. */
  ignored?: string;
  proposal?: T;
}

/** All settings, or an error that names the first invalid value and its source. */
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

/** Settings for programs that must not fail: an invalid value becomes the default and is reported through `complain`. */
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

/** An exported value is the user's own and wins. The project's file counts only as far as the rule of the setting allows. */
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
    return { ...own, ignored: "it points outside the project" };
  }
  const proposed = read(name, definition, project) as Resolved<T>;
  if (fromProject.rule === "tightens") {
    const value = fromProject.stricter(own.value, proposed.value);
    const isLooser = value === own.value && proposed.value !== own.value;
    return isLooser ? { ...own, ignored: "it would weaken a protection" } : { value, source: proposed.source };
  }
  if (fromProject.rule !== "proposed") return proposed;
  // A project may always ask for `ask`; any other mode is only a proposal, because the user decides.
  if (proposed.value === definition.default || own.source !== "default") {
    return proposed.value === definition.default ? proposed : own;
  }
  return { ...own, proposal: proposed.value };
}

function read<T>(name: string, definition: Definition<T>, [source, variables]: Layer): Resolved<T> | undefined {
  const written = given(variables, name);
  if (written === undefined) return undefined;
  const isShown = definition.isSecret === undefined && definition.isUnquoted === undefined;
  const quoted = isShown ? written : "a value that is not shown";
  return { value: definition.parse(written.trim()) ?? refuse(name, definition.expects, quoted, source), source };
}

/** The value of a setting as it may be shown. */
export function shownSetting(name: SettingName, { values }: Pick<ResolvedSettings, "values">): unknown {
  const { isSecret }: Pick<Definition<unknown>, "isSecret"> = definitions[name];
  const value = values[name];
  return isSecret === undefined || value === "" ? value : "[redacted]";
}

function string(fallback: string, meaning: string): Definition<string> {
  return {
    default: fallback,
    meaning,
    expects: ONE_LINE,
    parse: settingLine,
  };
}

/** The value goes onto a command line, where it must not look like an option. */
function model(meaning: string): Definition<string> {
  const parse = (value: string) => (/^[A-Za-z0-9][\w.:/@-]{0,127}$/.test(value) ? value : undefined);
  return { default: "", meaning, expects: "a model name", parse };
}

function ignored(because: string) {
  return { rule: "ignored", because } as const;
}

/** `order` lists the loosest value first. */
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

/** A bare number is in `unit`, and so is the parsed value. */
function duration(fallback: number, unit: DurationUnit, meaning: string): Definition<number> {
  const one = parseDuration("1", unit) ?? 1;
  const parse = (value: string) => {
    const milliseconds = parseDuration(value, unit) ?? 0;
    return milliseconds > 0 ? milliseconds / one : undefined;
  };
  return { default: fallback, meaning, expects: "a positive number, or a duration such as 90s", parse };
}

/** Engine and workers must agree on it, so a project does not set it. */
function workerTime(fallback: number, unit: DurationUnit, meaning: string) {
  return {
    ...duration(fallback, unit, meaning),
    fromProject: ignored("it must be the same for the engine and its workers"),
  };
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
