// Where settings come from: the environment, the project's .env, the extension's .env; and the state directory, the one setting every
// program needs first. A project's .env comes with the repository, or an agent wrote it: it may tighten settings, never loosen them
// (docs/security.md). Kept apart from settings.ts, so that hooks that only look for a session do not load every setting.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { parseDotenv } from "./dotenv.ts";
import { errno, MaestroError, reasonOf } from "./errors.ts";
import { EXTENSION_PATH } from "./extension-path.ts";

export type SettingSource = "environment" | "workspace .env" | "extension .env" | "default";
export type Environment = Readonly<Record<string, string | undefined>>;
export type Layer = [SettingSource, Environment];

export const STATE_DIR = "MAESTRO_STATE_DIR";
/** The engine sets it for an attempt that works in a worktree. */
export const ATTEMPT_STATE_DIR = "MAESTRO_ATTEMPT_STATE_DIR";
export const DEFAULT_STATE_DIR = ".gemini";
export const ONE_LINE = "text without line breaks";

/** The value if it is valid text, otherwise undefined. */
export function settingLine(value: string): string | undefined {
  return /[\n\r\0]/.test(value) ? undefined : value;
}

/** Resolves only the state directory, so an invalid value of another setting does not matter. */
export function resolveStateDirectory(projectRoot: string, env: Environment): string {
  const layers = layersOf(projectRoot, env).filter(([source, variables]) => {
    const own = source === "workspace .env" ? given(variables, STATE_DIR) : undefined;
    return own === undefined || staysInside(own);
  });
  const [source, variables] = layerWith(STATE_DIR, layers) ?? ["default" as const, {}];
  const value = given(variables, STATE_DIR) ?? DEFAULT_STATE_DIR;
  return settingLine(value.trim()) ?? refuse(STATE_DIR, ONE_LINE, value, source);
}

/** Whether a path is lexically below the project and not inside .git. Does not follow links. */
export function staysInside(path: string): boolean {
  const names = path.trim().split(/[\\/]/);
  if (/^(?:[\\/~]|[A-Za-z]:)/.test(path.trim())) return false;
  return !names.some((name) => name === ".." || name.toLowerCase() === ".git");
}

function layerWith(name: string, layers: readonly Layer[]): Layer | undefined {
  return layers.find(([, variables]) => given(variables, name) !== undefined);
}

export function refuse(name: string, expected: string, value: string, source: SettingSource): never {
  throw new MaestroError("config", `${name} must be ${expected} (got: ${value})`, {
    ...(source === "environment" ? {} : { hint: `It is set in the ${source}.` }),
  });
}

export function layersOf(projectRoot: string, env: Environment): Layer[] {
  // In a worktree the state directory is always the project's, whatever the extension's settings say.
  const attempt = given(env, ATTEMPT_STATE_DIR);
  const project = readEnvFile(`${projectRoot}/.env`);
  const exported = usersOwn(env, projectRoot);
  return [
    ["environment", attempt === undefined ? exported : { ...exported, [STATE_DIR]: attempt }],
    ["workspace .env", project],
    ["extension .env", readEnvFile(`${extensionHome(exported)}/.env`)],
  ];
}

/** Variables that configure Maestro or locate its records, except those the engine sets for an attempt: no file may remove those. */
const steering = /^(?:XDG_|MAESTRO_(?!(?:AGENT|PHASE|ATTEMPT|ATTEMPT_STATE_DIR|SESSION|RUN)$))/;

/**
 * The environment without the values that come from an env file of the project. Gemini CLI loads such a file into its own environment, and
 * hooks, servers and commands inherit the values as if the user had exported them. So a variable with the same value in both is attributed to
 * the file, as Maestro reads it or as the CLI reads it.
 */
export function usersOwn(env: Environment, projectRoot: string): Environment {
  if (given(env, "GEMINI_CLI") === undefined && given(env, "GEMINI_PROJECT_DIR") === undefined) return env;
  const names = Object.keys(env).filter((name) => steering.test(name));
  if (names.length === 0) return env;
  const files = filesOfProject(projectRoot, env).map((text) => ({ ours: parseEnv(text), theirs: parseDotenv(text) }));
  const isFromFile = (name: string) =>
    files.some(({ ours, theirs }) => ours[name] === env[name] || theirs.get(name) === env[name]);
  const shared = names.filter(isFromFile);
  if (shared.length === 0) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !shared.includes(name)));
}

/** The env files that Gemini CLI may load here: of the project, and of the directories above it up to the home, whose files are the user's own. */
function filesOfProject(projectRoot: string, env: Environment): string[] {
  const home = given(env, "HOME") ?? homedir();
  const directories = [projectRoot];
  for (let at = dirname(projectRoot); at !== home && at !== directories.at(-1); at = dirname(at)) directories.push(at);
  const paths = directories.flatMap((directory) => [`${directory}/.gemini/.env`, `${directory}/.env`]);
  return paths.filter(isFile).map(readable);
}

/** Empty for a file that this user may not read: Gemini CLI cannot read it either. */
function readable(path: string): string {
  try {
    return beginningOf(path);
  } catch (error) {
    if (errno(error) === "EACCES") return "";
    throw new MaestroError("config", `Cannot read settings from ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** The directory the user installed the extension in, which holds its `.env`. */
function extensionHome(env: Environment): string {
  return given(env, EXTENSION_PATH) ?? `${given(env, "HOME") ?? homedir()}/.gemini/extensions/maestro`;
}

export function given(variables: Environment, name: string): string | undefined {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return value === undefined || value.trim() === "" ? undefined : value;
}

export function readEnvFile(path: string): Environment {
  if (!isFile(path)) return {};
  try {
    return parseEnv(beginningOf(path));
  } catch (error) {
    throw new MaestroError("config", `Cannot read settings from ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Longer than any real settings file, and short enough for every hook to read. */
const MAX_ENV_BYTES = 256 * 1024;

/** The file's text; of a longer file, only the complete lines within the limit. */
function beginningOf(path: string): string {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.allocUnsafe(Math.min(MAX_ENV_BYTES, statSync(path).size));
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(fd, bytes, length, bytes.length - length, null);
    }
    const text = bytes.toString("utf8", 0, length);
    return length < MAX_ENV_BYTES ? text : text.slice(0, text.lastIndexOf("\n") + 1);
  } finally {
    closeSync(fd);
  }
}

/** A path that is not a file (some tools keep a directory named .env) or that is not readable holds no settings. */
function isFile(path: string): boolean {
  try {
    // `throwIfNoEntry: false` avoids building an Error, which would be most of a hook's cost here.
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "ELOOP"].includes(errno(error) ?? "")) return false;
    throw error;
  }
}

/** Parses KEY=value lines: optional `export`, quotes, `#` comments, CRLF, BOM. The last assignment wins; nothing is expanded. */
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
