// Runs a batch of ready-made prompts: each goes to one agent process, and all results are collected. Nothing is retried or recorded
// in a session. The contract is that of the design documents; where they differ, the newest wins (S3, S2, S0).

import { attemptPolicy } from "../agents/policies.ts";
import type { Tier } from "../agents/tiers.ts";
import { MaestroError } from "../errors.ts";
import { TIMEOUT_CODE } from "../exit-codes.ts";
import { projectRootHeader } from "../prompt/header.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { type Batch, MAX_STDOUT_BYTES } from "../store/files/batch.ts";
import { type AgentResult, type BatchSummary, batchSummary } from "../views/report/batch-summary.ts";
import type { AgentEnvironment } from "./attempt/agent-environment.ts";
import type { Exit, Supervisor } from "./process/supervisor.ts";
import { RUN_MARKER } from "./process/tree.ts";

/** The exit code of a shell for a command that could not be started. */
const NOT_STARTED_CODE = 126;

export interface DispatchPrompt {
  /** The file name of the prompt and of its results, without extension. */
  name: string;
  agent: string;
  tier: Tier;
  model: string | null;
  text: Buffer;
}

export interface DispatchOptions {
  run: string;
  batch: Batch;
  redact: (text: string) => string;
  supervisor: Supervisor;
  runtime: Runtime;
  program: string;
  projectRoot: string;
  extraArgs: readonly string[];
  environment: AgentEnvironment;
  /** Texts to put in front of every prompt. */
  protocols: readonly string[];
  /** How many agents may run at a time; Infinity: no limit. */
  slots: number;
  staggerMs: number;
  timeoutMs: number;
  started: (prompt: DispatchPrompt) => void;
  finished: (result: AgentResult) => void;
  /** Once it returns true, no further agent is started. */
  isStopped: () => boolean;
}

/** Runs the whole batch and writes its summary. The results are in the order of the prompts. */
export async function dispatchBatch(
  prompts: readonly DispatchPrompt[],
  options: DispatchOptions,
): Promise<BatchSummary> {
  const { batch } = options;
  for (const { name } of prompts) batch.clear(name);
  const started = performance.now();
  const results = new Map<string, AgentResult>();
  const running = new Set<Promise<void>>();
  let due = Number.NEGATIVE_INFINITY;
  for (const prompt of prompts) {
    while (running.size >= options.slots) await Promise.race(running);
    await waitUntil(due, options.isStopped);
    if (options.isStopped()) break;
    due = performance.now() + options.staggerMs;
    options.started(prompt);
    const task: Promise<void> = launch(prompt, options).then((result) => {
      results.set(result.name, result);
      running.delete(task);
      options.finished(result);
    });
    // The task is awaited below; this only prevents an unhandled rejection until then.
    task.catch(() => undefined);
    running.add(task);
  }
  await Promise.all(running);
  const all = prompts.map(({ name, agent }) => results.get(name) ?? neverStarted(name, agent));
  const summary = batchSummary(all, performance.now() - started);
  // The policy for unrestricted agents is not a result; the policy files of restricted tiers are kept for inspection.
  batch.removePolicy("full");
  batch.writeSummary(summary);
  return summary;
}

/** An agent that cannot be started fails alone; the rest of the batch continues. */
async function launch(prompt: DispatchPrompt, options: DispatchOptions): Promise<AgentResult> {
  try {
    return await runAgent(prompt, options);
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    const { name, agent } = prompt;
    options.batch.writeLog(name, `maestro: ${error.message}`);
    options.batch.writeExitCode(name, NOT_STARTED_CODE);
    return neverStarted(name, agent);
  }
}

function neverStarted(name: string, agent: string): AgentResult {
  return { name, agent, exit_code: NOT_STARTED_CODE, status: "failed" };
}

async function runAgent(prompt: DispatchPrompt, options: DispatchOptions): Promise<AgentResult> {
  const { batch, runtime } = options;
  const { name, agent, tier, model } = prompt;
  const marker = `${options.run}.${name}`;
  const args = runtime.argv({
    agent,
    tier,
    model,
    policyFile: batch.writePolicy(tier, () => attemptPolicy(tier)),
    isStreamed: false,
    extraArgs: options.extraArgs,
  });
  const stdin = batch.openText(payloadOf(options, prompt.text));
  const { exit } = options.supervisor.launch({
    program: options.program,
    args,
    cwd: options.projectRoot,
    env: options.environment(options.projectRoot, {
      MAESTRO_AGENT: agent,
      MAESTRO_ATTEMPT: "1",
      [RUN_MARKER]: marker,
    }),
    marker,
    stdin,
    stdout: batch.resultPath(name, "json"),
    stderr: batch.resultPath(name, "log"),
    exitFile: batch.resultPath(name, "exit"),
    timeoutMs: options.timeoutMs,
    check: () => {
      batch.trimLog(name);
      return batch.size(name, "json") > MAX_STDOUT_BYTES ? "output_too_large" : null;
    },
  });
  const ended = await exit;
  if (ended.failure !== undefined) batch.writeLog(name, `maestro: the agent could not be started: ${ended.failure}`);
  // The agent may have written too much since the last check.
  const isTooLarge = batch.size(name, "json") > MAX_STDOUT_BYTES;
  if (isTooLarge) batch.cut(name, "json", MAX_STDOUT_BYTES);
  const code = codeOf({ ...ended, killed: ended.killed ?? (isTooLarge ? "output_too_large" : null) });
  if (batch.exitCode(name) !== code) batch.writeExitCode(name, code);
  batch.trimLog(name);
  for (const kind of ["json", "log"] as const) batch.redact(name, kind, options.redact);
  return {
    name,
    agent,
    exit_code: code,
    status: code === 0 ? "success" : code === TIMEOUT_CODE ? "timeout" : "failed",
  };
}

/** The unchanged prompt behind the project header, which is not repeated, and behind the protocols, if they are wanted. */
function payloadOf({ projectRoot, protocols }: DispatchOptions, prompt: Buffer): Buffer {
  const header = Buffer.from(projectRootHeader(projectRoot));
  const hasHeader = prompt.subarray(0, header.length).equals(header);
  if (protocols.length === 0 && hasHeader) return prompt;
  const rest = hasHeader ? prompt.subarray(header.length) : Buffer.concat([Buffer.from("\n\n"), prompt]);
  return Buffer.concat([header, ...protocols.map((text) => Buffer.from(`\n\n${text.trim()}`)), rest]);
}

function codeOf({ code, killed }: Exit): number {
  if (killed === "timeout") return TIMEOUT_CODE;
  // A killed agent may still exit with 0, which is not a success.
  if (killed !== null && code === 0) return 1;
  return code ?? NOT_STARTED_CODE;
}

/** Waits until `due`, or until the batch is stopped. */
async function waitUntil(due: number, isStopped: () => boolean): Promise<void> {
  while (!isStopped() && performance.now() < due) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(100, Math.max(1, due - performance.now()))));
  }
}
