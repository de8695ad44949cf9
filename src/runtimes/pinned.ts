// What an agent's program starts with for every variable that steers it: the user's own value or nothing, so that no env file of a project
// can give it another. A program that loads env files leaves alone what is set, also what is set to nothing.

import { EXTENSION_PATH } from "../extension-path.ts";
import { definitions } from "../settings.ts";
import { isSteering, namesIn, namesSet } from "./steering.ts";

/** An env file that an agent's program could load. */
export interface EnvFile {
  path: string;
  text: string;
}

export interface EnvFiles {
  /** Of the project, and of directories above it. */
  project: readonly EnvFile[];
  /** The user's own, in the home directory: believed. */
  home: EnvFile | null;
}

/** Names in a file of the project that agents do not get from there. */
export interface Ignored {
  path: string;
  names: string[];
}

const both = (names: readonly string[]) => names.flatMap((name) => [name, name.toLowerCase()]);

/**
 * Pinned whatever the files hold, where somebody may write one between our look and the program's. Only names for which nothing is the same as
 * unset; the others are pinned when a file names them.
 */
export const wellKnown: readonly string[] = [
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_EXTRA_CA_CERTS"],
  ...["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV"],
  ...both(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]),
  ...Object.keys(definitions),
  ...[EXTENSION_PATH, "MAESTRO_GUARD", "MAESTRO_ATTEMPT_STATE_DIR", "MAESTRO_CRASH_AT"],
  // It makes a program clean the variables of its hooks, and the marks of the attempt with them.
  ...["GITHUB_SHA", "SURFACE"],
];

/** Where nothing would mean something else than unset: what an agent's program takes by itself. */
const neutral: Readonly<Record<string, string>> = {
  CODE_ASSIST_ENDPOINT: "https://cloudcode-pa.googleapis.com",
  GOOGLE_CLOUD_UNIVERSE_DOMAIN: "googleapis.com",
  SEATBELT_PROFILE: "permissive-open",
  GEMINI_TELEMETRY_TARGET: "local",
  GEMINI_TELEMETRY_OTLP_PROTOCOL: "grpc",
  GEMINI_TELEMETRY_OTLP_ENDPOINT: "http://localhost:4317",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4317",
};

/** They say where the user's own files are, so the user's own files cannot say it. */
const firstOfAll = new Set(["PATH", "HOME", "USERPROFILE", "GEMINI_CLI_HOME"]);

/** Not taken from a plain `.env`, as the CLI has it. */
const notFromPlainFile = /^(?:DEBUG|DEBUG_MODE|GEMINI_CLI_IDE_SERVER_STDIO_(?:COMMAND|ARGS))$/;

/**
 * The variables to start an agent's program with, in front of those that we give it ourselves. `exported`: what reaches agents of the user's
 * environment. `always`: names that are pinned whatever the files hold.
 */
export function pinnedVariables(
  exported: Readonly<Record<string, string>>,
  files: EnvFiles,
  always: readonly string[],
): Record<string, string> {
  const ofHome = homeValues(files.home);
  const named = files.project.flatMap(({ text }) => [...namesIn(text)].filter(isSteering));
  const byUpper = new Map(Object.entries(exported).map(([name, value]) => [name.toUpperCase(), value]));
  const pins: Record<string, string> = {};
  for (const name of new Set([...always, ...named, ...ofHome.keys()])) {
    // A proxy is written in either case, and a program that reads both must find the same.
    pins[name] = exported[name] ?? byUpper.get(name.toUpperCase()) ?? ofHome.get(name) ?? neutral[name] ?? "";
  }
  return { ...pins, ...exported };
}

function homeValues(home: EnvFile | null): Map<string, string> {
  if (home === null) return new Map();
  const isPlain = !home.path.includes(".gemini");
  return new Map(
    [...parseDotenv(home.text)].filter(
      ([name]) => isSteering(name) && !firstOfAll.has(name) && !(isPlain && notFromPlainFile.test(name)),
    ),
  );
}

/** What files of the project set in vain, file by file: a name that the user has exported is not missed. */
export function ignoredNames(exported: Readonly<Record<string, string>>, { project }: EnvFiles): Ignored[] {
  return project.flatMap(({ path, text }) => {
    const names = [...namesSet(text)].filter((name) => isSteering(name) && exported[name] === undefined).sort();
    return names.length === 0 ? [] : [{ path, names }];
  });
}

/** A file as dotenv reads it, which the CLI does. */
export function parseDotenv(text: string): Map<string, string> {
  const line =
    /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;
  const values = new Map<string, string>();
  for (const [, name, given = ""] of text.replace(/\r\n?/g, "\n").matchAll(line)) {
    const raw = given.trim();
    const value = raw.replace(/^(['"`])([\s\S]*)\1$/gm, "$2");
    values.set(name ?? "", raw.startsWith('"') ? value.replace(/\\n/g, "\n").replace(/\\r/g, "\r") : value);
  }
  return values;
}
