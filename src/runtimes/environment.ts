// Which variables reach an agent. It is an allow list, because a model reads them and every program it starts inherits them (T9). Left out
// on purpose: NODE_OPTIONS and LD_PRELOAD (code), AWS_*, GITHUB_TOKEN, SSH_AUTH_SOCK (credentials of other services), PWD (not the agent's
// directory).
import { EXTENSION_PATH } from "../extension-path.ts";
import { safePath } from "../search-path.ts";
import { definitions } from "../settings.ts";

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
  // Settings only: the engine sets the variables that name an attempt.
  ...Object.keys(definitions),
  EXTENSION_PATH,
]);

const families = /^(?:LC_|XDG_|GEMINI_)/;

/** Variables of the conversation or editor that Maestro was started from. They do not concern the agent, and one of them is a token. */
const foreign = /^GEMINI_(?:SESSION_ID|PROJECT_DIR|CWD|PLANS_DIR|CLI_IDE_\w*)$/;

/**
 * The environment of an attempt. `extraNames` come from `--pass-env`; a name that is not set is skipped. `own` wins. Names are compared
 * without case, because Windows has `Path` and proxies are written either way. Only absolute directories remain in PATH.
 */
export function agentEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  extraNames: readonly string[],
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (reachesAgents(entry[0]) || extraNames.includes(entry[0])),
  );
  const clean = passed.map(([name, value]) => [name, name.toUpperCase() === "PATH" ? safePath(value) : value] as const);
  return Object.fromEntries([...clean, ...Object.entries(own)]);
}

/** Whether an exported variable of that name reaches agents by default. */
export function reachesAgents(name: string): boolean {
  const upper = name.toUpperCase();
  return allowed.has(upper) || (families.test(upper) && !foreign.test(upper));
}
