// The runtimes that are tested with their real programs, one object each.

import { type RealRuntime, TEST_KEY } from "./real-runtime.ts";

/** Claude Code refuses to run unattended as root outside of a container. */
const asRoot = process.getuid?.() === 0;

/** The user's own settings keep a program from repeating a refused call for minutes, where it has a setting for that. */
export const gemini: RealRuntime = {
  name: "gemini",
  model: "gemini-2.5-flash",
  isScript: true,
  home: () => ({
    ".gemini/settings.json": JSON.stringify({
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { maxAttempts: 1 },
    }),
  }),
  environment: (url) => ({ GEMINI_API_KEY: TEST_KEY, GOOGLE_GEMINI_BASE_URL: url }),
  write: (file_path, content) => ({ tool: "write_file", input: { file_path, content } }),
  shell: (command) => ({ tool: "run_shell_command", input: { command } }),
};

export const claude: RealRuntime = {
  name: "claude",
  model: "claude-sonnet-4-5",
  environment: (url) => ({
    ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: TEST_KEY, CLAUDE_CODE_MAX_RETRIES: "0" },
  }),
  ...(asRoot ? { passed: () => ({ IS_SANDBOX: "1" }) } : {}),
  write: (file_path, content) => ({ tool: "Write", input: { file_path, content } }),
  shell: (command) => ({ tool: "Bash", input: { command } }),
};

export const codex: RealRuntime = {
  name: "codex",
  model: "gpt-5",
  environment: () => ({ OPENAI_API_KEY: TEST_KEY }),
  home: (url) => ({
    ".codex/config.toml": `model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
`,
  }),
  write: (path, content, tools) => codex.shell(`printf %s '${content}' > '${path}'`, tools),
  shell: (script, tools) => {
    if (tools.includes("exec_command")) return { tool: "exec_command", input: { cmd: script } };
    if (tools.includes("shell_command")) return { tool: "shell_command", input: { command: script } };
    return { tool: "shell", input: { command: ["bash", "-lc", script] } };
  },
};

export const qwen: RealRuntime = {
  name: "qwen",
  model: "m1",
  home: () => ({ ".qwen/settings.json": JSON.stringify({ security: { auth: { selectedType: "openai" } } }) }),
  environment: () => ({}),
  passed: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: TEST_KEY }),
  write: (file_path, content) => ({ tool: "write_file", input: { file_path, content } }),
  shell: (command) => ({ tool: "run_shell_command", input: { command, is_background: false } }),
  late: ["429", "500"],
};

export const opencode: RealRuntime = {
  name: "opencode",
  model: "local/m1",
  environment: (url) => {
    const options = { baseURL: `${url}/v1`, apiKey: TEST_KEY };
    const local = { npm: "@ai-sdk/openai-compatible", name: "local", options, models: { m1: { name: "m1" } } };
    const settings = JSON.stringify({ provider: { local } });
    return { OPENCODE_CONFIG_CONTENT: settings, OPENCODE_DISABLE_MODELS_FETCH: "1" };
  },
  write: (filePath, content) => ({ tool: "write", input: { filePath, content } }),
  shell: (command) => ({ tool: "bash", input: { command, description: "x" } }),
  late: ["500", "garbage"],
  staggerSeconds: "3",
};

export const copilot: RealRuntime = {
  name: "copilot",
  model: "m1",
  environment: (url) => ({
    ...{ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_API_KEY: TEST_KEY },
    ...{ COPILOT_MODEL: "m1", COPILOT_OFFLINE: "true" },
  }),
  write: (path, file_text) => ({ tool: "create", input: { path, file_text } }),
  shell: (command) => ({ tool: "bash", input: { command, description: "x" } }),
  tokens: "none",
};

export const goose: RealRuntime = {
  name: "goose",
  model: "m1",
  environment: () => ({ GOOSE_PROVIDER: "openai", GOOSE_MODEL: "m1", GOOSE_DISABLE_KEYRING: "1" }),
  passed: (url) => ({ OPENAI_HOST: url, OPENAI_API_KEY: TEST_KEY }),
  write: (path, content) => ({ tool: "write", input: { path, content } }),
  shell: (command) => ({ tool: "shell", input: { command } }),
  tokens: "without cached",
  staggerSeconds: "2",
};

export const pi: RealRuntime = {
  name: "pi",
  model: "local/m1",
  isScript: true,
  home: (url) => {
    const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const room = { contextWindow: 200_000, maxTokens: 8_000 };
    const model = { id: "m1", name: "m1", reasoning: false, input: ["text"], ...room, cost };
    const local = { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "LOCAL_KEY", models: [model] };
    return {
      ".pi/agent/models.json": JSON.stringify({ providers: { local } }),
      ".pi/agent/settings.json": JSON.stringify({ retry: { maxRetries: 1, baseDelayMs: 200 } }),
    };
  },
  environment: () => ({}),
  passed: () => ({ LOCAL_KEY: TEST_KEY }),
  write: (path, content) => ({ tool: "write", input: { path, content } }),
  shell: (command) => ({ tool: "bash", input: { command } }),
};
