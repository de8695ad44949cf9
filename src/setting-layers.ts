// Where settings come from: the environment, the project's .env, the extension's .env; and the one setting that everybody needs first.
// A project's .env comes with the repository, or an agent left it: it may tighten settings, never loosen them (docs/security.md).
// A file of its own, because hooks that look for a session should not pay for all the others.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { errno, MaestroError, reasonOf } from "./errors.ts";
import { EXTENSION_PATH } from "./extension-path.ts";

export type SettingSource = "environment" | "workspace .env" | "extension .env" | "default";
export type Environment = Readonly<Record<string, string | undefined>>;
export type Layer = [SettingSource, Environment];

export const STATE_DIR = "MAESTRO_STATE_DIR";
/** Given by the engine to an attempt that works in a worktree. */
export const ATTEMPT_STATE_DIR = "MAESTRO_ATTEMPT_STATE_DIR";
export const DEFAULT_STATE_DIR = ".gemini";
export const ONE_LINE = "text without line breaks";

/** What a value of text may be. */
export function settingLine(value: string): string | undefined {
  return /[\n\r\0]/.test(value) ? undefined : value;
}

/** Whatever is wrong with the other settings. */
export function resolveStateDirectory(projectRoot: string, env: Environment): string {
  const layers = layersOf(projectRoot, env).filter(
    ([source, variables]) => source !== "workspace .env" || staysInside(given(variables, STATE_DIR) ?? ""),
  );
  const [source, variables] = layerWith(STATE_DIR, layers) ?? ["default" as const, {}];
  const value = given(variables, STATE_DIR) ?? DEFAULT_STATE_DIR;
  return settingLine(value.trim()) ?? refuse(STATE_DIR, ONE_LINE, value, source);
}

/** Whether a path, by its letters, names something below the project that is not git's. */
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
  // In a worktree the state is the project's, whatever the extension's own settings say of it.
  const attempt = given(env, ATTEMPT_STATE_DIR);
  const project = readEnvFile(`${projectRoot}/.env`);
  const exported = usersOwn(env, project);
  return [
    ["environment", attempt === undefined ? exported : { ...exported, [STATE_DIR]: attempt }],
    ["workspace .env", project],
    ["extension .env", readEnvFile(`${extensionHome(exported)}/.env`)],
  ];
}

/** How Maestro works, and where its records are. Not what the engine tells an attempt: no file may take that away. */
const steering = /^(?:XDG_|MAESTRO_(?!(?:AGENT|PHASE|ATTEMPT|ATTEMPT_STATE_DIR|SESSION|RUN)$))/;

/**
 * The environment without what a project's .env says in it. Gemini CLI loads that file into its own environment, which hooks, servers and
 * commands inherit as if the user had exported it: a value that is the same there as in the file is taken for the file's.
 */
export function usersOwn(env: Environment, project: Environment): Environment {
  if (given(env, "GEMINI_CLI") === undefined && given(env, "GEMINI_PROJECT_DIR") === undefined) return env;
  const shared = Object.keys(project).filter((name) => steering.test(name) && project[name] === env[name]);
  if (shared.length === 0) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !shared.includes(name)));
}

/** The extension's own directory as the user installed it: where its `.env` is. */
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

/** No file of settings is longer, and every hook reads it. */
const MAX_ENV_BYTES = 256 * 1024;

/** Of a longer file the whole lines at its beginning. */
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

/** Anything but a file (some tools keep a directory of that name) holds no settings, nor does what nobody here may look at. */
function isFile(path: string): boolean {
  try {
    // Without a file there is no error to be made: that would be most of what a hook spends here.
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
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
