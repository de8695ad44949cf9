// Gemini CLI as a runtime: the command line of an attempt. What its output amounts to is in gemini-outcome.ts.
// The prompt goes over stdin, never into the arguments: those are for everybody to see (T10).

import { MaestroError } from "../errors.ts";
import { judgeGemini } from "./gemini-outcome.ts";
import { quotaSign } from "./quota.ts";
import type { AttemptSpec, Runtime } from "./runtime.ts";

export const geminiRuntime: Runtime = {
  name: "gemini",
  program: "gemini",
  callsModel: true,
  install: "npm install -g @google/gemini-cli",
  argv,
  payload,
  // Otherwise a launcher stands between us and the CLI, which ignores every signal.
  environment: { GEMINI_CLI_NO_RELAUNCH: "true" },
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
