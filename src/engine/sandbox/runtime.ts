// Mounts what Gemini CLI needs from a home: credentials, settings, extensions. Conversations are left out, and files it writes are copies.

import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Environment } from "../../setting-layers.ts";
import { keepCertificates } from "./home.ts";
import {
  containsAny,
  entriesOf,
  isAbsent,
  isPlain,
  isReadable,
  keep,
  keepExcept,
  lead,
  look,
  type Mounts,
  put,
  putEmpty,
  realOf,
  statOf,
} from "./mounts.ts";

/** Variables that name files which Gemini CLI reads. */
const named = [
  "GOOGLE_APPLICATION_CREDENTIALS",
  ...["GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"],
];

/** In ~/.gemini: the list of projects, which comes from conversations. */
const PROJECTS = "projects.json";
/** In ~/.gemini: directories that the CLI reads. The others hold conversations, or belong to other programs. */
const directories: ReadonlySet<string> = new Set(
  "acknowledgments agents bin commands extensions hooks policies skills themes".split(" "),
);
const MAX_INSTALL_BYTES = 64 * 1024;

/** `vital`: directories that must not become visible because a variable or an extension names a path around them. */
export function keepRuntime(
  mounts: Mounts,
  home: string | undefined,
  env: Environment,
  vital: readonly string[],
): void {
  const base = env.GEMINI_CLI_HOME || home;
  const directory =
    base !== undefined && isAbsolute(base) ? mountSettings(mounts, realOf(base) ?? base, vital) : undefined;
  const needed = [...named.map((name) => env[name] ?? ""), ...signIn(env, home, directory)];
  for (const path of needed) if (statOf(path)?.isFile()) keep(mounts, path);
  keepCertificates(mounts, env, vital);
}

/** Credential files that the CLI finds by itself. */
function signIn(env: Environment, home: string | undefined, directory: string | undefined): string[] {
  if (home === undefined || !isAbsolute(home)) return [];
  const isKeyGiven = env.GEMINI_API_KEY || env.GOOGLE_API_KEY || env.GOOGLE_APPLICATION_CREDENTIALS;
  if (isKeyGiven) return [];
  if (env.GOOGLE_GENAI_USE_VERTEXAI === "true") {
    const ofGcloud = env.CLOUDSDK_CONFIG || join(home, ".config", "gcloud");
    return [join(ofGcloud, "application_default_credentials.json")];
  }
  // The CLI reads ~/.env only when its own directory has no credentials.
  const others = [".env", "oauth_creds.json"].map((name) =>
    join(directory ?? home, directory === undefined ? "" : name),
  );
  return directory !== undefined && others.some((path) => statOf(path)?.isFile()) ? [] : [join(home, ".env")];
}

/** Mounts the CLI's settings and returns their directory; undefined when it does not exist. */
function mountSettings(mounts: Mounts, home: string, vital: readonly string[]): string | undefined {
  const wanted = join(home, ".gemini");
  const directory = lead(mounts, wanted);
  if (directory === undefined) {
    if (isAbsent(mounts, wanted)) put(mounts, { kind: "empty", path: wanted, writable: true });
    return undefined;
  }
  putEmpty(mounts, directory, true);
  for (const { name } of entriesOf(directory)) {
    const path = join(directory, name);
    const from = realOf(path);
    const stat = from === undefined ? undefined : statOf(from);
    if (from === undefined || !isPlain(stat)) continue;
    if (stat?.isFile()) {
      if (name !== PROJECTS && isReadable(from)) put(mounts, { kind: "copy", path, from });
    } else if (directories.has(name) && !containsAny(from, vital)) keep(mounts, path);
  }
  for (const source of linkedExtensions(join(directory, "extensions"))) {
    const real = lead(mounts, source);
    if (real !== undefined && !containsAny(real, vital)) keepExcept(mounts, real, (name) => name.startsWith("."));
  }
  return directory;
}

/** The source directories of extensions that are installed as links. */
function linkedExtensions(directory: string): string[] {
  return entriesOf(directory).flatMap(({ name }) => {
    const file = join(directory, name, ".gemini-extension-install.json");
    const stat = statOf(file);
    if (!stat?.isFile() || stat.size > MAX_INSTALL_BYTES) return [];
    const source = sourceIn(look(() => readFileSync(file, "utf8")) ?? "");
    return source !== undefined && isAbsolute(source) ? [source] : [];
  });
}

function sourceIn(text: string): string | undefined {
  try {
    const { type, source } = JSON.parse(text);
    return type === "link" && typeof source === "string" ? source : undefined;
  } catch (error) {
    // The CLI does not load an extension with a damaged file either.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
