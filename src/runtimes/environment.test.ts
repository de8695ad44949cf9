import { describe, expect, test } from "vitest";
import { definitions } from "../settings.ts";
import { agentEnvironment, looksWanted, vendorEnvironment, withheldIn } from "./environment.ts";

const passed = (env: Record<string, string | undefined>, extra: string[] = [], own: Record<string, string> = {}) =>
  agentEnvironment(env, extra, own);
const all = (names: string[]) => Object.fromEntries(names.map((name) => [name, `/value/of/${name}`]));

const ofWorkers = [
  ...["MAESTRO_WORKERS", "MAESTRO_EXCHANGE", "MAESTRO_WORKER_KEY", "MAESTRO_WORKER_KEY_FILE", "MAESTRO_QUEUE_PASSWORD"],
  ...["MAESTRO_WORKER_LEASE", "MAESTRO_WORKER_RENEWAL", "MAESTRO_WORKER_SWEEP", "MAESTRO_ORPHAN_LIMIT"],
];
/** A new setting reaches agents only when it is listed. */
const forEngine = ["MAESTRO_BUDGET", "MAESTRO_RUNTIMES", ...ofWorkers];
const forAgents = Object.keys(definitions).filter((name) => !forEngine.includes(name));

describe("an agent's environment is an allow list (T9)", () => {
  test.each([
    [
      "the system",
      "PATH HOME USER LOGNAME SHELL TMPDIR TMP TEMP TZ LANG LANGUAGE LC_ALL LC_CTYPE TERM COLORTERM NO_COLOR CI",
    ],
    ["proxies, in both cases", "HTTP_PROXY https_proxy no_proxy ALL_PROXY"],
    ["certificates", "NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR"],
    ["desktop directories", "XDG_CONFIG_HOME XDG_RUNTIME_DIR"],
    [
      "the provider's own variables",
      "GEMINI_API_KEY GEMINI_MODEL GEMINI_CLI_HOME GEMINI_SANDBOX GOOGLE_API_KEY GOOGLE_GEMINI_BASE_URL GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_LOCATION GOOGLE_APPLICATION_CREDENTIALS GOOGLE_GENAI_USE_VERTEXAI",
    ],
    [
      "toolchains",
      "JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV NVM_DIR VOLTA_HOME ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT GEM_HOME GEM_PATH BUNDLE_PATH SDKMAN_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR rvm_path",
    ],
    ["Maestro's settings", `${forAgents.join(" ")} MAESTRO_EXTENSION_PATH`],
    ["Windows", "Path SystemRoot APPDATA LOCALAPPDATA USERPROFILE ComSpec PATHEXT ProgramFiles(x86)"],
  ])("%s pass", (_, names) => {
    const env = all(names.split(" "));
    expect(passed(env)).toEqual(env);
  });

  test.each([
    ["code that is loaded", "NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV PYTHONSTARTUP"],
    [
      "credentials of other services",
      "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY GITHUB_TOKEN GH_TOKEN OPENAI_API_KEY NPM_TOKEN SSH_AUTH_SOCK CANARY_SECRET",
    ],
    [
      "what a toolchain would run, or where it would fetch from",
      "GOFLAGS GOPROXY MAVEN_OPTS GRADLE_OPTS RUSTC_WRAPPER RUSTFLAGS PYENV_HOOK_PATH ASDF_CONFIG_FILE CONDA_CHANNELS MISE_ENV_FILE NVM_NODEJS_ORG_MIRROR PIP_INDEX_URL",
    ],
    [
      "secrets of toolchains",
      "MISE_GITHUB_TOKEN CONDA_TOKEN BUNDLE_GITHUB__COM CARGO_REGISTRY_TOKEN NVM_AUTH_HEADER GOAUTH",
    ],
    ["other Google programs", "GOOGLE_ADS_DEVELOPER_TOKEN GOOGLE_MAPS_KEY GOOGLE_CLIENT_SECRET"],
    [
      "variables that name an attempt",
      "MAESTRO_SESSION MAESTRO_PHASE MAESTRO_AGENT MAESTRO_ATTEMPT MAESTRO_RUN MAESTRO_CRASH_AT",
    ],
    [
      "the conversation that started Maestro",
      "GEMINI_SESSION_ID GEMINI_PROJECT_DIR GEMINI_CWD GEMINI_PLANS_DIR GEMINI_CLI_IDE_AUTH_TOKEN GEMINI_CLI_IDE_SERVER_PORT",
    ],
    ["settings that concern the engine alone", forEngine.join(" ")],
    ["look-alikes", "MYPATH PATH_EXTRA XPATH HOME2 GEMINI MAESTRO_ MAESTRO_STATE_DIR_2 PWD"],
  ])("%s do not pass", (_, names) => {
    expect(passed(all(names.split(" ")))).toEqual({});
  });

  test("`--pass-env` adds a name, if it is set", () => {
    const env = { AWS_PROFILE: "dev", GITHUB_TOKEN: "", OTHER: "/j", EMPTY: undefined };
    expect(passed(env, ["AWS_PROFILE", "GITHUB_TOKEN", "NOT_SET", "EMPTY", "toString", "__proto__"])).toEqual({
      AWS_PROFILE: "dev",
      GITHUB_TOKEN: "",
    });
  });

  test("a glob adds every name that it matches, but none that belongs to Maestro, the shell or the conversation", () => {
    const env = all("APP_A APP_B MY_APP_C DATABASE_URL MAESTRO_ATTEMPT GEMINI_SESSION_ID PWD _".split(" "));
    expect(Object.keys(passed(env, ["APP_*", "DATABASE_URL"]))).toEqual(["APP_A", "APP_B", "DATABASE_URL"]);
    expect(Object.keys(passed(env, ["APP_?"]))).toEqual(["APP_A", "APP_B"]);
    expect(Object.keys(passed(env, ["APP?"]))).toEqual([]);
    expect(Object.keys(passed(env, ["*_C"]))).toEqual(["MY_APP_C"]);
    expect(Object.keys(passed(env, ["*"]))).toEqual(["APP_A", "APP_B", "MY_APP_C", "DATABASE_URL"]);
  });

  test("queue, exchange, key and password do not pass, not even by name or to a program that names them", () => {
    const secret = ofWorkers.slice(0, 5);
    expect(passed(all(secret), secret)).toEqual({});
    expect(vendorEnvironment(all(secret), secret, /^MAESTRO_/)).toEqual({});
  });

  test("values set by the engine win", () => {
    const env = { MAESTRO_ATTEMPT: "forged", PATH: "/bin", MAESTRO_STATE_DIR: "x" };
    const own = { MAESTRO_ATTEMPT: "1", MAESTRO_STATE_DIR: "y", GEMINI_CLI_NO_RELAUNCH: "true" };
    expect(passed(env, ["MAESTRO_ATTEMPT"], own)).toEqual({ PATH: "/bin", ...own });
  });

  test.each(["PATH", "Path"])("only absolute directories remain in %s", (name) => {
    expect(passed({ [name]: ":.:bin:/usr/bin:./x::/bin:" })).toEqual({ [name]: "/usr/bin:/bin" });
    expect(passed({ [name]: "." })).toEqual({ [name]: "/usr/local/bin:/usr/bin:/bin" });
  });

  test("does not change its inputs", () => {
    const env = Object.freeze({ PATH: "/bin", SECRET: "x" });
    expect(passed(env)).toEqual({ PATH: "/bin" });
  });
});

describe("a failed command names a variable that it did not get", () => {
  const env = { ...all("DATABASE_URL AWS_PROFILE DEBUG PORT PATH PWD MAESTRO_PHASE".split(" ")), UNSET_URL: undefined };
  const withheld = (text: string) => withheldIn(text, env, { PATH: "/bin" });

  test.each([
    ["DATABASE_URL", "Error: DATABASE_URL is not set"],
    ["DATABASE_URL", 'psql "$DATABASE_URL" -c "select 1"'],
    ["AWS_PROFILE DATABASE_URL", "needs DATABASE_URL and AWS_PROFILE"],
    ["PORT", "environment variable PORT is required"],
    ["PORT", "listen(process.env.PORT)"],
    ["DEBUG", 'os.environ["DEBUG"]'],
    ["DEBUG", `test -n \${DEBUG}`],
    ["", "[DEBUG] connecting on PORT 80"],
    ["", "PATH and PWD and MAESTRO_PHASE are not set"],
    ["", "UNSET_URL is not set; nor is MY_DATABASE_URL or DATABASE_URL_2"],
    ["", ""],
  ])("%s in %j", (names, text) => {
    expect(withheld(text).join(" ")).toBe(names);
  });
});

test("names of servers, databases and toolchains look wanted, secrets and what steers an agent do not", () => {
  const names =
    "DATABASE_URL REDIS_HOST SENTRY_DSN FOO_HOME API_TOKEN DB_PASSWORD OPENAI_BASE_URL PS1 MAESTRO_HOME EDITOR";
  expect(names.split(" ").filter(looksWanted)).toEqual(["DATABASE_URL", "REDIS_HOST", "SENTRY_DSN", "FOO_HOME"]);
});
