// The runtimes that are tested with their real programs. One object each.

import { type RealRuntime, TEST_KEY } from "./real-runtime.ts";

/** Claude Code refuses to run unattended as root outside of a container. */
const asRoot = process.getuid?.() === 0;

export const claude: RealRuntime = {
  name: "claude",
  model: "claude-sonnet-4-5",
  environment: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: TEST_KEY,
    CLAUDE_CODE_MAX_RETRIES: "0",
    ...(asRoot ? { IS_SANDBOX: "1" } : {}),
  }),
  ...(asRoot ? { words: ["--pass-env", "IS_SANDBOX"] } : {}),
  write: (path, content, tools) =>
    tools.includes("Write") ? { tool: "Write", input: { file_path: path, content } } : undefined,
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
  write: (path, content, tools) => {
    const script = `printf %s '${content}' > '${path}'`;
    if (tools.includes("exec_command")) return { tool: "exec_command", input: { cmd: script } };
    if (tools.includes("shell_command")) return { tool: "shell_command", input: { command: script } };
    return tools.includes("shell") ? { tool: "shell", input: { command: ["bash", "-lc", script] } } : undefined;
  },
};
