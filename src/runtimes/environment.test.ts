import { describe, expect, test } from "vitest";
import { definitions } from "../settings.ts";
import { agentEnvironment } from "./environment.ts";

const passed = (env: Record<string, string | undefined>, extra: string[] = [], own: Record<string, string> = {}) =>
  agentEnvironment(env, extra, own);
const all = (names: string[]) => Object.fromEntries(names.map((name) => [name, `/value/of/${name}`]));

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
    ["Maestro's settings", `${Object.keys(definitions).join(" ")} MAESTRO_EXTENSION_PATH`],
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
    ["other Google programs", "GOOGLE_ADS_DEVELOPER_TOKEN GOOGLE_MAPS_KEY GOOGLE_CLIENT_SECRET"],
    [
      "variables that name an attempt",
      "MAESTRO_SESSION MAESTRO_PHASE MAESTRO_AGENT MAESTRO_ATTEMPT MAESTRO_RUN MAESTRO_CRASH_AT",
    ],
    [
      "the conversation that started Maestro",
      "GEMINI_SESSION_ID GEMINI_PROJECT_DIR GEMINI_CWD GEMINI_PLANS_DIR GEMINI_CLI_IDE_AUTH_TOKEN GEMINI_CLI_IDE_SERVER_PORT",
    ],
    ["look-alikes", "MYPATH PATH_EXTRA XPATH HOME2 GEMINI MAESTRO_ MAESTRO_STATE_DIR_2 PWD"],
  ])("%s do not pass", (_, names) => {
    expect(passed(all(names.split(" ")))).toEqual({});
  });

  test("`--pass-env` adds a name, if it is set", () => {
    const env = { AWS_PROFILE: "dev", GITHUB_TOKEN: "", JAVA_HOME: "/j", EMPTY: undefined };
    expect(passed(env, ["AWS_PROFILE", "GITHUB_TOKEN", "NOT_SET", "EMPTY", "toString", "__proto__"])).toEqual({
      AWS_PROFILE: "dev",
      GITHUB_TOKEN: "",
    });
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
