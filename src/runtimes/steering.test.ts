import { describe, expect, test } from "vitest";
import { processorMs } from "../../test/support/timed.ts";
import { families, isSteering, namesIn, namesSet } from "./steering.ts";

describe("a variable that steers an agent's program never comes from a project", () => {
  test.each([
    [
      "where requests go",
      "GOOGLE_GEMINI_BASE_URL GOOGLE_VERTEX_BASE_URL ANTHROPIC_BASE_URL OPENAI_BASE_URL X_BASE_URL OPENAI_API_BASE CODE_ASSIST_ENDPOINT S3_ENDPOINT MY_ENDPOINTS AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 OLLAMA_HOST GCE_METADATA_HOST HOSTALIASES",
    ],
    ["proxies, in every case", "HTTP_PROXY https_proxy All_Proxy no_proxy grpc_proxy npm_config_proxy"],
    [
      "keys and accounts",
      "GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS google_application_credentials GOOGLE_CLOUD_PROJECT GCLOUD_PROJECT CLOUDSDK_CONFIG OPENAI_API_KEY CLAUDE_CODE_USE_BEDROCK CODEX_HOME QWEN_CODE OPENCODE_CONFIG COPILOT_MODEL GH_HOST GH_TOKEN GITHUB_TOKEN GOOSE_PROVIDER PI_CODING_AGENT_DIR",
    ],
    ["what is reported", "OTEL_EXPORTER_OTLP_ENDPOINT GEMINI_TELEMETRY_OUTFILE OTLP_GOOGLE_CLOUD_PROJECT"],
    [
      "certificates",
      "NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_NO_VERIFY OPENSSL_CONF",
    ],
    [
      "code that is loaded",
      "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_COMPILE_CACHE LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV BASH_FUNC_ls SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 ZDOTDIR PERL5OPT PERL5LIB PERLLIB PYTHONSTARTUP PYTHONPATH PYTHONHOME RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS npm_config_script_shell NPM_CONFIG_NODE_OPTIONS BUN_OPTIONS DENO_DIR ELECTRON_RUN_AS_NODE GCONV_PATH",
    ],
    [
      "programs that are started",
      "GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_COUNT GIT_DIR SSH_ASKPASS EDITOR VISUAL PAGER GH_PAGER BROWSER LESSOPEN",
    ],
    [
      "where things are",
      "PATH Path HOME USERPROFILE SHELL TMPDIR XDG_CONFIG_HOME XDG_CACHE_HOME APPDATA ComSpec PATHEXT",
    ],
    ["toolchains", "JAVA_HOME GOPATH CARGO_HOME VIRTUAL_ENV NVM_DIR CONDA_PREFIX PYENV_ROOT GEM_PATH DOTNET_ROOT"],
    [
      "Maestro and the CLI",
      "MAESTRO_STATE_DIR MAESTRO_GUARD MAESTRO_ANYTHING SANDBOX SANDBOX_FLAGS SEATBELT_PROFILE BUILD_SANDBOX GEMINI_SANDBOX GEMINI_CLI_TRUST_WORKSPACE NO_BROWSER DEBUG DEBUG_MODE SURFACE GITHUB_SHA CLOUD_SHELL",
    ],
  ])("%s", (_, names) => {
    expect(names.split(" ").filter((name) => !isSteering(name))).toEqual([]);
  });

  test("but an ordinary variable of the application does", () => {
    const names =
      "DATABASE_URL PORT HOST NODE_ENV APP_NAME APP_BASE_URL APP_ENDPOINT VITE_API_BASE_URL NEXT_PUBLIC_BASE_URL REACT_APP_PROXY REDIS_URL DB_HOST DB_USER DB_PASSWORD JWT_SECRET SESSION_SECRET API_URL STRIPE_KEY SMTP_HOST LOG_LEVEL TZ LANG CI SECRET_KEY AWS_REGION AWS_ACCESS_KEY_ID S3_BUCKET MAIL_FROM ENVIRONMENT PYTHON_VERSION USER_ID PATH_PREFIX HOMEPAGE SHELLS LDAP_URL GITLAB_TOKEN EDITOR_NAME BASE_URL PROXY_PORT";
    expect(names.split(" ").filter(isSteering)).toEqual([]);
  });

  test("each family has a reason", () => {
    expect(families.filter(({ why }) => why.length < 10)).toEqual([]);
  });
});

describe("the names in an env file", () => {
  test.each([
    ["A=1", "A"],
    ["export A=1", "A"],
    ["  export\tA = 1", "A"],
    ["A: 1", "A"],
    ["A\n=1", "A"],
    ["\uFEFFA=1", "A"],
    ["A='x\nB=2'", "A B"],
    ['A="x\nB=2\n', "A B"],
    ["A=1 B=2", "A B"],
    ["A=1\rB=2\u2028C=3", "A B C"],
    ["# A=1", "A"],
    ["A.b-c=1", "A.b-c"],
    ["just words", ""],
  ])("%j could be read as setting %s", (text, names) => {
    expect([...namesIn(text)].join(" ")).toBe(names);
  });

  test("are listed without comments and values", () => {
    expect([...namesSet("# A=1\n export B=C=2\nD: 3\nnot set\n'E'=5\nF=x G=y")]).toEqual(["B", "D", "F"]);
  });

  test("are found in a megabyte of anything without delay", () => {
    const started = processorMs();
    for (const text of ["a".repeat(1e6), " ".repeat(1e6), "\n".repeat(1e6), "a ".repeat(5e5), "=".repeat(1e6)]) {
      namesIn(text);
      namesSet(text);
    }
    expect(processorMs() - started).toBeLessThan(2000);
  });
});
