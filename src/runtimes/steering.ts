// Which variables steer an agent's program, its hooks and its tools rather than the project's own application. Agent programs load a
// project's env files as if the user had exported them, so each such name is pinned before the program starts. One table for every runtime.

import { isToolchain } from "./toolchains.ts";

interface Family {
  /** Matched against the whole name in upper case. */
  names: RegExp;
  why: string;
}

/** Prefixes that belong to an agent's program: its keys, endpoints and behaviour. */
const prefixes = [
  ...["GEMINI", "GOOGLE", "CLOUDSDK", "VERTEX", "VERTEXAI", "CODE_ASSIST", "GCE_METADATA", "METADATA_SERVER"],
  ...["ANTHROPIC", "CLAUDE", "OPENAI", "AZURE_OPENAI", "CODEX", "QWEN", "DASHSCOPE", "OPENCODE", "OPENROUTER"],
  ...["COPILOT", "GH", "GITHUB", "GOOSE", "PI", "MISTRAL", "GROQ", "XAI", "DEEPSEEK", "OLLAMA", "LITELLM", "CURSOR"],
];

export const families: readonly Family[] = [
  {
    names: new RegExp(`(?:${prefixes.join("|")})_.*`),
    why: "an agent program's own: billing, endpoints, behaviour",
  },
  { names: /.+_(?:BASE_URL|API_BASE|PROXY|ENDPOINTS?)/, why: "where requests go" },
  {
    names: /AWS_(?:ENDPOINT_URL.*|CONFIG_FILE|SHARED_CREDENTIALS_FILE|BEARER_TOKEN_BEDROCK|CA_BUNDLE)/,
    why: "where requests go",
  },
  { names: /GCLOUD_PROJECT|CLOUD_SHELL.*|_GEMINI_.*/, why: "which Google Cloud project is billed" },
  { names: /HOSTALIASES|RES_OPTIONS|LOCALDOMAIN/, why: "how host names resolve" },
  { names: /(?:OTEL|OTLP|GRPC)_.*/, why: "where prompts and answers are reported" },
  {
    names: /SSL_CERT_.*|SSLKEYLOGFILE|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|OPENSSL_.*/,
    why: "which certificates are trusted",
  },
  {
    names: /NODE_(?!ENV$).*|(?:BUN|DENO)_.*|ELECTRON_RUN_AS_NODE|TS_NODE_.*|TSX_.*/,
    why: "code that a JavaScript runtime loads",
  },
  { names: /(?:LD|DYLD)_.*|GLIBC_TUNABLES|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH/, why: "code that every program loads" },
  { names: /BASH.*|ENV|SHELLOPTS|PROMPT_COMMAND|PS4|IFS|CDPATH|FPATH|ZDOTDIR|SHELL/, why: "code that a shell runs" },
  {
    names: /PERL5?(?:OPT|LIB|DB)|PYTHON(?:STARTUP|PATH|HOME|INSPECT|BREAKPOINT|WARNINGS|USERBASE)/,
    why: "code that an interpreter loads",
  },
  {
    names: /RUBY(?:OPT|LIB)|(?:JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS|CLASSPATH|PHPRC|PHP_INI_SCAN_DIR|LUA_INIT.*/,
    why: "code that an interpreter loads",
  },
  { names: /NPM_CONFIG_.*|PSMODULEPATH/, why: "code that a package manager or a shell loads" },
  { names: /GIT_.*|SSH_ASKPASS.*|SSH_AUTH_SOCK|SUDO_ASKPASS/, why: "programs that git and ssh start" },
  {
    names: /EDITOR|VISUAL|PAGER|BROWSER|.+_(?:EDITOR|PAGER|ASKPASS)|LESS(?:OPEN|CLOSE)/,
    why: "programs that other programs start",
  },
  {
    names: /PATH|PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|PROGRAM(?:DATA|FILES).*/,
    why: "where programs are found",
  },
  {
    names: /HOME|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|XDG_.*|TERMINFO.*|TERMCAP/,
    why: "where configuration is found",
  },
  { names: /TMPDIR|TMP|TEMP|PWD|OLDPWD|USER|LOGNAME/, why: "which directory and user a program assumes" },
  { names: /MAESTRO_.*/, why: "how Maestro's hooks and tools behave" },
  { names: /SANDBOX|SANDBOX_.*|SEATBELT_PROFILE|BUILD_SANDBOX/, why: "what confines the agent's program" },
  {
    names: /DEBUG|DEBUG_(?:MODE|PORT|AUTH)|IS_BINARY|NO_BROWSER|OAUTH_CALLBACK_.*|VITEST|JEST_WORKER_ID/,
    why: "how the agent's program behaves",
  },
  {
    names: /SURFACE|CI_NAME|TERM_PROGRAM.*|TERMINAL_EMULATOR|CURSOR_TRACE_ID|VSCODE_.*|ZED_.*|CODESPACES/,
    why: "how the agent's program detects its environment, by which it cleans the variables of hooks",
  },
];

const steering = new RegExp(`^(?:${families.map(({ names }) => names.source).join("|")})$`);

/** By convention for the application and its web pages: no agent program reads them, and the project's own tests do. */
const ofTheApplication = /^(?:APP|VITE|NEXT_PUBLIC|NUXT_PUBLIC|REACT_APP|VUE_APP|EXPO_PUBLIC|GATSBY|PUBLIC|STORYBOOK)_/;

/** Whether a variable of that name must never come from a project. */
export function isSteering(name: string): boolean {
  const upper = name.toUpperCase();
  return isToolchain(upper) || (steering.test(upper) && !ofTheApplication.test(upper));
}

/**
 * Every name that a reader of env files could find in a text; a superset of what any of them finds. A word before `=` or `:` counts
 * wherever it is, because readers differ on quotes, line ends and `export`.
 */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, name, mark] of text.matchAll(/([\w.-]+)\s*([=:])?/g)) if (name && mark) names.add(name);
  return names;
}

/** The names that a person sees in an env file: those at the start of a line. */
export function namesSet(text: string): Set<string> {
  const names = new Set<string>();
  for (const line of text.split(/[\n\r\u2028\u2029]/)) {
    const [, name] = /^[ \t\uFEFF]*(?:export[ \t]+)?([\w.-]{1,200})[ \t]*[=:]/.exec(line) ?? [];
    if (name !== undefined) names.add(name);
  }
  return names;
}
