// What an engine works with: the same for every attempt of a run.

import type { Agent } from "../agents/roster.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { Batch } from "../store/files/batch.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { AgentEnvironment } from "./attempt/agent-environment.ts";
import type { Isolation } from "./isolation.ts";
import type { Supervisor } from "./process/supervisor.ts";

export interface RunContext {
  /** Marks everything that this engine starts. */
  run: string;
  store: SessionStore;
  batch: Batch;
  batchId: string;
  supervisor: Supervisor;
  runtime: Runtime;
  /** The runtime's program, found on PATH. */
  program: string;
  projectRoot: string;
  /** How attempts are kept apart, and what becomes of their work. */
  isolation: Isolation;
  agents: ReadonlyMap<string, Agent>;
  protocols: { base: string; safety: string };
  modelFor: (agent: Agent) => string | null;
  extraArgs: readonly string[];
  /** The variables of every setup and validation command, but for those that name the attempt. */
  environment: (own: Record<string, string>) => Record<string, string>;
  /** The variables of an agent that works in a directory, but for those that name the attempt. */
  agentEnvironment: AgentEnvironment;
  /** What carries out a validation command; a rehearsal only plays it. */
  validator: (command: string) => { program: string; args: readonly string[] };
  /** Takes secrets out of what is written down. */
  redact: (text: string) => string;
  limits: WorkLimits;
  /** Tells the user of something that does not end the run. */
  warn: (message: string) => void;
  now: () => Date;
}

export interface WorkLimits {
  timeoutMs: number;
  validationTimeoutMs: number;
  maxRetries: number;
  graceMs: number;
}
