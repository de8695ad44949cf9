// The environment of the agents of a run: the user's exported variables, the user's home, and whether the project's settings are believed.

import { homedir } from "node:os";
import { type AgentEnvironment, agentEnvironmentOf } from "../../engine/attempt/agent-environment.ts";
import { type Trust, trustOf } from "../../runtimes/gemini/trust.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { safePath } from "../../search-path.ts";
import { geminiHome, readProjectSettings, readTrustRules, realOrSame } from "../../store/files/gemini-home.ts";
import type { Io } from "../io.ts";

interface Agents {
  runtime: Runtime;
  /** What reaches agents of the user's environment. */
  exported: Readonly<Record<string, string>>;
  projectRoot: string;
  /** Whether commands run before the first agent does. */
  hasSetup: boolean;
}

export function environmentOfAgents(io: Io, { runtime, exported, projectRoot, hasSetup }: Agents): AgentEnvironment {
  // Both as they are before the first agent runs: an agent could change either.
  const rules = readTrustRules(io.env);
  const settings = readProjectSettings(projectRoot);
  const isTrusted = (root: string) => trustIn(io, root, rules) === "trusted" && readProjectSettings(root) === settings;
  const isProjectTrusted = trustIn(io, projectRoot, rules) === "trusted";
  return agentEnvironmentOf({
    runtime,
    exported: { ...places(io, exported), ...exported },
    home: geminiHome(io.env),
    hasSetup,
    isTrusted: (root) => isProjectTrusted && isTrusted(root),
    warn: (message) => io.err(`WARNING: ${message}\n`),
  });
}

/** Where programs and the user's files are, for a user who exports neither: an env file would say it otherwise. */
function places({ env }: Io, exported: Readonly<Record<string, string>>): Record<string, string> {
  const hasPath = Object.keys(exported).some((name) => name.toUpperCase() === "PATH");
  return { ...(hasPath ? {} : { PATH: safePath(undefined) }), ...(env.HOME === undefined ? { HOME: homedir() } : {}) };
}

/** Whether the user has trusted a directory in Gemini CLI. */
export function trustIn(io: Io, directory: string, rules = readTrustRules(io.env)): Trust {
  const exported = io.env.GEMINI_CLI_TRUST_WORKSPACE;
  return trustOf({ rules, exported, directory, real: realOrSame, platform: process.platform });
}
