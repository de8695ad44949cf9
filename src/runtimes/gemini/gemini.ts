// Gemini CLI as a runtime: the command line of an attempt. What its output amounts to is in gemini-outcome.ts.
// The prompt goes over stdin, never into the arguments: those are for everybody to see (T10).

import { MaestroError } from "../../errors.ts";
import { quotaSign } from "../quota.ts";
import type { AttemptSpec, Runtime } from "../runtime.ts";
import { judgeGemini } from "./outcome.ts";

export const geminiRuntime: Runtime = {
  name: "gemini",
  program: "gemini",
  callsModel: true,
  install: "npm install -g @google/gemini-cli",
  argv,
  payload,
  // Otherwise a launcher stands between us and the CLI, which ignores every signal.
  environment: { GEMINI_CLI_NO_RELAUNCH: "true" },
  envFiles: [".gemini/.env", ".env"],
  pinned: [
    ...["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT"],
    ...["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_API_VERSION", "CODE_ASSIST_API_VERSION"],
    ...["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_ACCESS_TOKEN", "GOOGLE_CLOUD_UNIVERSE_DOMAIN"],
    ...["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID", "GOOGLE_CLOUD_QUOTA_PROJECT", "GOOGLE_CLOUD_LOCATION"],
    ...["GCE_METADATA_HOST", "GCE_METADATA_IP", "CLOUDSDK_CONFIG", "CLOUD_SHELL", "GEMINI_CLI_USE_COMPUTE_ADC"],
    ...["GEMINI_CLI_CUSTOM_HEADERS", "GEMINI_API_KEY_AUTH_MECHANISM", "GEMINI_MODEL", "GEMINI_EXP"],
    ...["GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"],
    ...["GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_TRUSTED_FOLDERS_PATH", "GEMINI_RESTRICTED_MODE"],
    ...["GEMINI_SYSTEM_MD", "GEMINI_WRITE_SYSTEM_MD", "GEMINI_CLI_INTEGRATION_TEST", "GEMINI_CLI_ACTIVITY_LOG_TARGET"],
    ...["GEMINI_CLI_IDE_SERVER_PORT", "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", "GEMINI_CLI_IDE_WORKSPACE_PATH"],
    ...["GEMINI_SANDBOX", "GEMINI_SANDBOX_PROXY_COMMAND", "GEMINI_DEBUG_LOG_FILE", "GEMINI_CONTEXT_TRACE_DIR"],
    ...["SANDBOX", "SANDBOX_ENV", "SANDBOX_FLAGS", "SANDBOX_MOUNTS", "SANDBOX_PORTS", "BUILD_SANDBOX"],
    "SEATBELT_PROFILE",
  ],
  // Read with the settings, before `--skip-trust` is: the CLI leaves the project's settings out, and then works in it all the same.
  distrust: { GEMINI_CLI_TRUST_WORKSPACE: "false" },
  judge: judgeGemini,
  quotaSign,
};

function argv({ model, policyFile, extraArgs }: AttemptSpec): string[] {
  return [
    "--approval-mode=yolo",
    "--output-format",
    "json",
    ...(model === null ? [] : ["-m", model]),
    // Given once, the option takes the place of the user's own policies; theirs are named again, behind ours.
    ...(policyFile === null ? [] : ["--policy", loadable(policyFile), "--policy", "~/.gemini/policies"]),
    "--skip-trust",
    ...extraArgs,
  ];
}

/**
 * Also without a terminal the CLI replaces every `@word` of a prompt: by files of that name, found by a glob if need be, or by an order to
 * delegate. A mail address or `zod@4` in a task, or in what another agent wrote, would change the task. It keeps the backslash.
 */
function payload(prompt: string): string {
  const escaped = prompt.replace(/(?<!\\)@/g, "\\@");
  return escaped === prompt ? prompt : `${escaped.trimEnd()}\n\nIn all of this \`\\@\` stands for a plain at sign.\n`;
}

/** The CLI splits the value at commas and passes over what is no `.toml`, without a word: the tier would be gone. */
function loadable(policyFile: string): string {
  if (policyFile.endsWith(".toml") && !policyFile.includes(",")) return policyFile;
  throw new MaestroError("config", `Gemini CLI would not load the policy file ${policyFile}`, {
    hint: 'It takes a path without commas that ends in ".toml". Set MAESTRO_STATE_DIR to one.',
  });
}
