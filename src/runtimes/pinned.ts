// The value with which an agent's program starts for every variable that steers it: the user's own or an empty one, so that no env file of
// a project can set another. A program that loads env files keeps variables that are already set, even to nothing.

import { parseDotenv } from "../dotenv.ts";
import { EXTENSION_PATH } from "../extension-path.ts";
import { definitions } from "../settings.ts";
import { isWithheld } from "./environment.ts";
import { isSteering, namesIn, namesSet } from "./steering.ts";

/** An env file that an agent's program could load. */
export interface EnvFile {
  path: string;
  text: string;
}

export interface EnvFiles {
  /** In the project and in the directories above it. */
  project: readonly EnvFile[];
  /** The user's own file, in the home directory; trusted. */
  home: EnvFile | null;
}

/** Names in a file of the project that do not reach agents. */
export interface Ignored {
  path: string;
  names: string[];
}

const both = (names: readonly string[]) => names.flatMap((name) => [name, name.toLowerCase()]);

/**
 * Pinned whatever the files contain, because a process may write a file between our check and the program's start. Only names for which
 * empty means unset; the others are pinned when a file names them.
 */
export const wellKnown: readonly string[] = [
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_EXTRA_CA_CERTS"],
  ...["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV"],
  ...both(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]),
  ...Object.keys(definitions),
  ...[EXTENSION_PATH, "MAESTRO_ATTEMPT_STATE_DIR", "MAESTRO_CRASH_AT"],
  // This variable makes a program remove variables from its hooks' environment, including those of the attempt.
  ...["GITHUB_SHA", "SURFACE"],
];

/** For variables where empty differs from unset: the default of the agent's program. */
const neutral: Readonly<Record<string, string>> = {
  CODE_ASSIST_ENDPOINT: "https://cloudcode-pa.googleapis.com",
  GOOGLE_CLOUD_UNIVERSE_DOMAIN: "googleapis.com",
  SEATBELT_PROFILE: "permissive-open",
  GEMINI_TELEMETRY_TARGET: "local",
  GEMINI_TELEMETRY_OTLP_PROTOCOL: "grpc",
  GEMINI_TELEMETRY_OTLP_ENDPOINT: "http://localhost:4317",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4317",
};

/** These locate the user's own files, so those files cannot set them. */
const firstOfAll = new Set(["PATH", "HOME", "USERPROFILE", "GEMINI_CLI_HOME"]);

/** Not read from a plain `.env`, as in the CLI. */
const notFromPlainFile = /^(?:DEBUG|DEBUG_MODE|GEMINI_CLI_IDE_SERVER_STDIO_(?:COMMAND|ARGS))$/;

/**
 * The variables to start an agent's program with; those that Maestro sets itself override them. `exported` is the part of the user's
 * environment that reaches agents; `always` are names pinned whatever the files contain.
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
    // A proxy is written in either case, and a program that reads both must find the same value.
    const own = isWithheld(name) ? undefined : ofHome.get(name);
    pins[name] = exported[name] ?? byUpper.get(name.toUpperCase()) ?? own ?? neutral[name] ?? "";
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

/** What files of the project set without effect, by file; a name that the user has exported is left out. */
export function ignoredNames(exported: Readonly<Record<string, string>>, { project }: EnvFiles): Ignored[] {
  return project.flatMap(({ path, text }) => {
    const names = [...namesSet(text)].filter((name) => isSteering(name) && exported[name] === undefined).sort();
    return names.length === 0 ? [] : [{ path, names }];
  });
}
