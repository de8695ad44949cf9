// Reads the user's git settings that affect the files of a repository. Changes nothing.

import { join } from "node:path";
import { toRaw } from "./names.ts";
import type { Repository } from "./repository.ts";
import { type GitAnswer, runGit } from "./run.ts";
import { blockingKindAt } from "./snapshot/file-kind.ts";

/** A query needs only a few small files. */
const QUESTION_MS = 30_000;

export type Config = ReadonlyMap<string, string>;

/** Every setting that the user's git would use here, by its name in lower case; the last value wins. */
export async function readConfig(project: string): Promise<Config> {
  const { stdout } = await askGit(project, ["config", "--list", "--show-scope", "-z"], [0]);
  const fields = stdout.toString().split("\0");
  const config = new Map<string, string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, setting = ""] = [fields[at], fields[at + 1]];
    // Maestro's own settings from the command line.
    if (scope === "command") continue;
    const line = setting.indexOf("\n");
    config.set(line < 0 ? setting : setting.slice(0, line), line < 0 ? "true" : setting.slice(line + 1));
  }
  return config;
}

export function isOn(config: Config, name: string, otherwise: boolean): boolean {
  const value = config.get(name)?.toLowerCase();
  if (value === undefined) return otherwise;
  return !["false", "no", "off", "0", ""].includes(value);
}

export function autocrlf(config: Config): Repository["autocrlf"] {
  if (config.get("core.autocrlf")?.toLowerCase() === "input") return "input";
  return isOn(config, "core.autocrlf", false) ? "true" : "false";
}

export async function excludesFile(project: string, config: Config): Promise<string | undefined> {
  if (config.get("core.excludesfile") === undefined) return userFile("ignore");
  const { stdout } = await askGit(project, ["config", "--type=path", "-z", "--get", "core.excludesFile"], [0]);
  return stdout.toString().replace(/\0$/, "");
}

export function attributesFile(config: Config): string | undefined {
  const given = config.get("core.attributesfile");
  const path = given === undefined ? userFile("attributes") : given.replace(/^~(?=\/)/, process.env.HOME ?? "~");
  // A repository can name any file, and git would wait for a FIFO.
  return path === undefined || blockingKindAt(toRaw(path)) !== undefined ? undefined : path;
}

/** git's default when nothing is configured. */
function userFile(name: string): string | undefined {
  const { XDG_CONFIG_HOME: config, HOME: home } = process.env;
  if (config) return join(config, "git", name);
  return home ? join(home, ".config", "git", name) : undefined;
}

/** A query about the repository that includes the user's and the system's settings. */
export function askGit(cwd: string, args: readonly string[], codes: readonly number[]): Promise<GitAnswer> {
  return runGit({ args, cwd, codes, config: "machine", timeoutMs: QUESTION_MS });
}
