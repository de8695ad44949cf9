// The dependencies and settings of a run, shared by all its attempts.

import type { Protocols } from "../agents/protocols.ts";
import type { BrokenAgent } from "../agents/resolve.ts";
import type { Agent } from "../agents/roster.ts";
import type { SessionPhase } from "../session/session.ts";
import type { Batch } from "../store/files/batch.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { Prices } from "../views/report/prices.ts";
import type { Cast } from "./cast.ts";
import type { Isolation } from "./isolation.ts";
import type { Supervisor } from "./process/supervisor.ts";
import type { SharedQuota } from "./quota/shared-quota.ts";

export interface RunContext {
  /** The run's id; it marks every process that this engine starts. */
  run: string;
  store: SessionStore;
  batch: Batch;
  batchId: string;
  supervisor: Supervisor;
  /** Which runtime plays which agent. */
  cast: Cast;
  /** Whether agents call models; a rehearsal only plays them. */
  callsModel: boolean;
  projectRoot: string;
  /** How attempts are isolated from each other and how their work is integrated. */
  isolation: Isolation;
  agents: ReadonlyMap<string, Agent>;
  brokenAgents: readonly BrokenAgent[];
  protocols: Protocols;
  /** The model for an agent of that runtime; null leaves the choice to it. */
  modelFor: (agent: Agent, runtime: string) => string | null;
  /** Builds the environment of a setup or validation command; `own` adds the variables that identify the attempt. */
  environment: (own: Record<string, string>) => Record<string, string>;
  /** The exported variables that a text names and that setup and validation commands do not get. */
  withheld: (text: string) => string[];
  /** The program that runs a validation command; a rehearsal only simulates it. */
  validator: (command: string) => { program: string; args: readonly string[] };
  /** What the sessions with the credential of a runtime share; null when no model is called, or it cannot be kept. */
  sharedQuota: (runtime: string) => SharedQuota | null;
  /** Absent when all attempts run here. */
  remote?: Remote | undefined;
  /** Prices by model, for a budget in money. */
  prices: Prices;
  /** Removes secrets from text before it is recorded. */
  redact: (text: string) => string;
  limits: WorkLimits;
  /** Shows the user a problem that does not end the run. */
  warn: (message: string) => void;
  now: () => Date;
}

/** Decides which attempts run elsewhere. */
export interface Remote {
  /** Whether a worker runs the next attempt of the phase; false: it has taken one of the slots of this machine. */
  takes: (phase: SessionPhase) => boolean;
}

export interface WorkLimits {
  timeoutMs: number;
  validationTimeoutMs: number;
  maxRetries: number;
  graceMs: number;
}
