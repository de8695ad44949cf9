// Which variables reach an agent. It is an allow list, because a model reads them and every program it starts inherits them (T9). Left out
// on purpose: NODE_OPTIONS and LD_PRELOAD (code), AWS_*, GITHUB_TOKEN, SSH_AUTH_SOCK (credentials of other services), PWD (not the agent's
// directory).
import { EXTENSION_PATH } from "../extension-path.ts";
import { safePath } from "../search-path.ts";
import type { SettingName } from "../settings.ts";
import { isSteering } from "./steering.ts";
import { isToolchain } from "./toolchains.ts";

/** The settings that hooks, tools and validation commands of an attempt may read. A new setting is not among them unless it is listed. */
const settings: readonly SettingName[] = [
  ...(["MAESTRO_STATE_DIR", "MAESTRO_EXECUTION_MODE", "MAESTRO_MAX_CONCURRENT", "MAESTRO_STAGGER_DELAY"] as const),
  ...(["MAESTRO_AGENT_TIMEOUT", "MAESTRO_MAX_RETRIES", "MAESTRO_QUOTA_DELAY", "MAESTRO_AUTO_ARCHIVE"] as const),
  ...(["MAESTRO_CLEANUP_DISPATCH", "MAESTRO_DEFAULT_MODEL", "MAESTRO_WRITER_MODEL", "MAESTRO_PRICES"] as const),
  ...(["MAESTRO_ISOLATION", "MAESTRO_OWNERSHIP", "MAESTRO_SANDBOX", "MAESTRO_GUARD"] as const),
  ...(["MAESTRO_GEMINI_EXTRA_ARGS", "MAESTRO_WORKTREE_SETUP", "MAESTRO_PASS_ENV"] as const),
  ...(["MAESTRO_KEEP_REFS", "MAESTRO_DISABLED_AGENTS"] as const),
];

/** With these an agent could order work from other machines, or answer for them. They are not passed, not even by name. */
const withheld: ReadonlySet<string> = new Set<SettingName>([
  ...(["MAESTRO_WORKERS", "MAESTRO_EXCHANGE", "MAESTRO_QUEUE_PASSWORD"] as const),
  ...(["MAESTRO_WORKER_KEY", "MAESTRO_WORKER_KEY_FILE"] as const),
]);

const allowed: ReadonlySet<string> = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP"],
  ...["LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "CI"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  // Credentials and endpoints of Gemini CLI. The rest of GOOGLE_* belongs to other programs.
  ...["GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_ACCESS_TOKEN"],
  ...["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_API_VERSION"],
  ...["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID", "GOOGLE_CLOUD_QUOTA_PROJECT", "GOOGLE_CLOUD_LOCATION"],
  ...["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"],
  // Windows cannot start a program without some of these.
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "NUMBER_OF_PROCESSORS"],
  ...["PROCESSOR_ARCHITECTURE", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA"],
  ...["PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "PUBLIC"],
  // The engine itself sets the variables that name an attempt.
  ...settings,
  EXTENSION_PATH,
]);

const families = /^(?:LC_|XDG_|GEMINI_)/;

/** Variables of the conversation or editor that Maestro was started from. They do not concern the agent, and one of them is a token. */
const foreign = /^GEMINI_(?:SESSION_ID|PROJECT_DIR|CWD|PLANS_DIR|CLI_IDE_\w*)$/;

/**
 * The environment of an attempt. `extra` are the names and globs of `--pass-env` and MAESTRO_PASS_ENV; a name that is not set is skipped.
 * `own` wins. Names of the allow list are compared without case, because Windows has `Path` and proxies are written either way. Only
 * absolute directories remain in PATH.
 */
export function agentEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  extra: readonly string[],
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const globs = extra.filter((name) => /[*?]/.test(name)).map(globbed);
  const isNamed = (name: string) => extra.includes(name) || (!isPrivate(name) && globs.some((glob) => glob.test(name)));
  const isPassed = (name: string) => reachesAgents(name) || (isNamed(name) && !isWithheld(name));
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isPassed(entry[0]),
  );
  const clean = passed.map(([name, value]) => [name, name.toUpperCase() === "PATH" ? safePath(value) : value] as const);
  return Object.fromEntries([...clean, ...Object.entries(own)]);
}

/** As above, for the program of one vendor: with its variables, and without those of Gemini CLI unless it is that or the user names them. */
export function vendorEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  extra: readonly string[],
  vendor: RegExp,
): Record<string, string> {
  const own = Object.keys(env).filter((name) => vendor.test(name) && !isPrivate(name));
  const passed = agentEnvironment(env, [...extra, ...own], {});
  const isForeign = (name: string) => ofGemini.test(name) && !vendor.test(name) && !extra.includes(name);
  return Object.fromEntries(Object.entries(passed).filter(([name]) => !isForeign(name)));
}

const ofGemini = /^(?:GEMINI_|GOOGLE_)/;

/** Whether a variable of that name never reaches an agent, wherever it is set. */
export function isWithheld(name: string): boolean {
  return withheld.has(name.toUpperCase());
}

/** Whether an exported variable of that name reaches agents by default. */
export function reachesAgents(name: string): boolean {
  const upper = name.toUpperCase();
  return allowed.has(upper) || isToolchain(upper) || (families.test(upper) && !foreign.test(upper));
}

/** The names and globs in a list that is separated by commas or blanks. */
export function passedNames(list: string): string[] {
  return list.split(/[\s,]+/).filter((name) => name !== "");
}

/** Variables that concern this process alone. A glob does not match them. */
function isPrivate(name: string): boolean {
  return foreign.test(name) || /^(?:MAESTRO_.*|PWD|OLDPWD|SHLVL|_)$/.test(name);
}

function globbed(glob: string): RegExp {
  const pattern = glob
    .replace(/[^\w*?]/g, "")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${pattern}$`);
}

/**
 * The names of variables that the user exported, that were not passed, and that `text` asks for. A name of one word, such as DEBUG, is often
 * an ordinary word, so it counts only where the text writes it as a variable or mentions one.
 */
export function withheldIn(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  passed: Readonly<Record<string, string>>,
): string[] {
  const words = new Set(text.match(/[A-Za-z_]\w*/g));
  const withheld = (name: string) => words.has(name) && !Object.hasOwn(passed, name) && !isPrivate(name);
  const names = Object.keys(env).filter((name) => env[name] !== undefined && withheld(name));
  return names.filter((name) => /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(name) || isAskedFor(name, text)).sort();
}

/** Whether a name is that of a server, a database or a toolchain that a project's commands may need. Secrets are never proposed. */
export function looksWanted(name: string): boolean {
  const isPlace = /^[A-Z][A-Z0-9_]*_(?:URL|URI|DSN|HOME|ROOT|SDK|HOST|PORT|DB|DATABASE)$/.test(name);
  return isPlace && !isPrivate(name) && !isSteering(name);
}

const speaksOfVariables = /environment|\benv\b|variable|\b(?:not|un)[ -]?(?:set|defined)\b|required|missing/i;

function isAskedFor(name: string, text: string): boolean {
  if (new RegExp(`(?:\\$\\{?|\\benv\\.|\\b(?:env|ENV|environ)\\[["'])${name}\\b`).test(text)) return true;
  const word = new RegExp(`\\b${name}\\b`);
  return text.split("\n").some((line) => word.test(line) && speaksOfVariables.test(line));
}
