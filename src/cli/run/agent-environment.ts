// Builds the environment of a run's agents: the user's exported variables, the home directory, and whether the project's settings are trusted.

import { homedir } from "node:os";
import { type AgentEnvironment, agentEnvironmentOf } from "../../engine/attempt/agent-environment.ts";
import { type Trust, trustOf } from "../../runtimes/gemini/trust.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { safePath } from "../../search-path.ts";
import { geminiHome, readProjectSettings, readTrustRules, realOrSame } from "../../store/files/gemini-home.ts";
import type { Io } from "../io.ts";

interface Agents {
  runtime: Runtime;
  /** The variables of the user's environment that agents receive. */
  exported: Readonly<Record<string, string>>;
  projectRoot: string;
  /** Whether setup commands run before the first agent starts. */
  hasSetup: boolean;
}

export function environmentOfAgents(io: Io, { runtime, exported, projectRoot, hasSetup }: Agents): AgentEnvironment {
  // Both are read before the first agent runs, because an agent could change them.
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

/** Defaults for PATH and HOME when the user exports neither; otherwise the project's env file could set them. */
function places({ env }: Io, exported: Readonly<Record<string, string>>): Record<string, string> {
  const hasPath = Object.keys(exported).some((name) => name.toUpperCase() === "PATH");
  return { ...(hasPath ? {} : { PATH: safePath(undefined) }), ...(env.HOME === undefined ? { HOME: homedir() } : {}) };
}

/** Whether the user has trusted a directory in Gemini CLI. */
export function trustIn(io: Io, directory: string, rules = readTrustRules(io.env)): Trust {
  const exported = io.env.GEMINI_CLI_TRUST_WORKSPACE;
  return trustOf({ rules, exported, directory, real: realOrSame, platform: process.platform });
}
