// Reads Gemini CLI's directory in the user's home: trusted folders, extensions and settings. Never writes. A missing or unreadable file
// counts as empty.

import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { errno } from "../../errors.ts";
import type { Environment } from "../../setting-layers.ts";

/** The directory that Gemini CLI uses as the user's home. */
export function geminiHome(env: Environment): string {
  return env.GEMINI_CLI_HOME || env.HOME || homedir();
}

/** The content of trustedFolders.json, unchecked. */
export function readTrustRules(env: Environment): unknown {
  return readJson(env.GEMINI_CLI_TRUSTED_FOLDERS_PATH || join(geminiHome(env), ".gemini", "trustedFolders.json"));
}

/** The text of a project's Gemini CLI settings; undefined when it has none. */
export function readProjectSettings(root: string): string | undefined {
  return attempt(() => readFileSync(projectSettings(root), "utf8"));
}

/**
 * The names of the installed extensions with hooks, the rules that say where each is enabled, and the settings, highest precedence last.
 * `trusted`: a trusted project, whose settings count too.
 */
export function readGeminiState(
  env: Environment,
  trusted: string | null,
): { extensions: string[]; enablement: unknown; settings: unknown[] } {
  const directory = join(geminiHome(env), ".gemini");
  const extensions = join(directory, "extensions");
  const system = env.GEMINI_CLI_SYSTEM_SETTINGS_PATH || systemSettings();
  const defaults = env.GEMINI_CLI_SYSTEM_DEFAULTS_PATH || join(dirname(system), "system-defaults.json");
  const ofProject = trusted === null ? [] : [projectSettings(trusted)];
  return {
    extensions: namesIn(extensions).flatMap((name) => extensionAt(join(extensions, name)) ?? []),
    enablement: readJson(join(extensions, "extension-enablement.json")),
    settings: [defaults, join(directory, "settings.json"), ...ofProject, system].map(readJson),
  };
}

/** The real path, or `path` itself when it cannot be resolved. */
export function realOrSame(path: string): string {
  return attempt(() => realpathSync.native(path)) ?? path;
}

function projectSettings(root: string): string {
  return join(root, ".gemini", "settings.json");
}

function systemSettings(): string {
  if (process.platform === "darwin") return "/Library/Application Support/GeminiCli/settings.json";
  return process.platform === "win32" ? "C:\\ProgramData\\gemini-cli\\settings.json" : "/etc/gemini-cli/settings.json";
}

/** The name in an extension's manifest; undefined when it has no hooks. A linked extension is read from its source. */
function extensionAt(directory: string): string | undefined {
  const metadata = readJson(join(directory, ".gemini-extension-install.json"));
  const isLink = textAt(metadata, "type") === "link";
  const place = (isLink ? textAt(metadata, "source") : undefined) ?? directory;
  if (readJson(join(place, "hooks", "hooks.json")) === undefined) return undefined;
  return textAt(readJson(join(place, "gemini-extension.json")), "name");
}

function textAt(value: unknown, key: string): string | undefined {
  const found = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof found === "string" ? found : undefined;
}

function namesIn(directory: string): string[] {
  return attempt(() => readdirSync(directory)) ?? [];
}

/** Accepts JSON with comments, as Gemini CLI does. */
function readJson(path: string): unknown {
  const text = attempt(() => readFileSync(path, "utf8"));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(withoutComments(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function withoutComments(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, quoted?: string) => quoted ?? "");
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}
