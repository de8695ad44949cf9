// Gemini CLI as a runtime: the command line of an attempt. outcome.ts interprets its output. The prompt goes over stdin, never into the
// arguments, which every user of the machine can see (T10).

import { MaestroError } from "../../errors.ts";
import { escapedAtSigns } from "../at-signs.ts";
import { quotaSign } from "../quota.ts";
import type { AttemptSpec, Runtime } from "../runtime.ts";
import { judgeGemini } from "./outcome.ts";
import { geminiProgress, shownStream } from "./stream.ts";

export const geminiRuntime: Runtime = {
  name: "gemini",
  program: "gemini",
  callsModel: true,
  // By the answers in its transcript.
  countsRequests: true,
  credentials: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_ACCESS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"],
  login: ".gemini/oauth_creds.json",
  install: "npm install -g @google/gemini-cli",
  unattended: "--approval-mode=yolo",
  hasHooks: true,
  argv,
  payload: escapedAtSigns,
  // Otherwise the CLI runs under a launcher that ignores every signal.
  environment: { GEMINI_CLI_NO_RELAUNCH: "true" },
  vendor: /^(?:GEMINI_|GOOGLE_)/,
  capabilities: {
    tiers: ["read-only", "read-shell", "read-write", "full"],
    heldBy: "a policy file for each attempt",
    turnLimit: null,
    budget: null,
    streams: "words and calls",
    tokens: "while it runs and at the end, per model",
    atOnce: null,
    limits: ["exits with 0 when it is terminated"],
  },
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
  // The CLI reads this variable with its settings, before `--skip-trust`: it ignores the project's settings and still works in the project.
  distrust: { GEMINI_CLI_TRUST_WORKSPACE: "false" },
  judge: judgeGemini,
  progress: geminiProgress,
  shown: shownStream,
  quotaSign,
};

function argv({ model, policyFile, isStreamed, extraArgs }: AttemptSpec): string[] {
  return [
    "--approval-mode=yolo",
    "--output-format",
    isStreamed ? "stream-json" : "json",
    ...(model === null ? [] : ["-m", model]),
    // The option replaces the user's own policies, so those are passed again, after ours.
    ...(policyFile === null ? [] : ["--policy", loadable(policyFile), "--policy", "~/.gemini/policies"]),
    "--skip-trust",
    ...extraArgs,
  ];
}

/** The CLI splits the value at commas and silently skips whatever is not a `.toml` file, so the tier's rules would be lost. */
function loadable(policyFile: string): string {
  if (policyFile.endsWith(".toml") && !policyFile.includes(",")) return policyFile;
  throw new MaestroError("config", `Gemini CLI would not load the policy file ${policyFile}`, {
    hint: 'It needs a path without commas that ends in ".toml". Set MAESTRO_STATE_DIR accordingly.',
  });
}
