// The hooks of the extension, called as Gemini CLI calls them, and sessions for them to work on.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { claimLock } from "../../src/disk/lock.ts";
import type { PhaseStatus } from "../../src/session/events.ts";
import type { SessionPhase } from "../../src/session/session.ts";
import { glance } from "../../src/store/journal/glance.ts";
import { inState, locateState, type StateLocation } from "../../src/store/location.ts";
import { completeSession, movePhase } from "../../src/store/operations.ts";
import { SessionStore } from "../../src/store/session-store.ts";
import { createSession, type PhaseSpec, Project, type Run, root } from "./project.ts";

export const hookPath = join(root, "dist", "hook.cjs");

export const hookEvents = [
  "SessionStart",
  "SessionEnd",
  "BeforeAgent",
  "AfterAgent",
  "BeforeTool",
  "AfterTool",
  "BeforeToolSelection",
  "PreCompress",
] as const;
export type HookEvent = (typeof hookEvents)[number];

export interface Reply {
  decision?: "allow" | "deny";
  reason?: string;
  continue?: boolean;
  systemMessage?: string;
  hookSpecificOutput?: {
    hookEventName: string;
    additionalContext?: string;
    tool_input?: { prompt: string; [name: string]: unknown };
    toolConfig?: { mode: string; allowedFunctionNames: string[] };
  };
}

export interface HookRun extends Run {
  reply: Reply;
}

/** The name of the conversation, unless a test says otherwise. */
const session_id = "11111111-2222-3333-4444-555555555555";

/** What Gemini CLI sends to every hook, and what it sends to this one. */
export function hookInput(project: Project, event: string, input: object = {}): string {
  const common = { session_id, cwd: project.path, hook_event_name: event, timestamp: "2026-02-14T23:00:00.000Z" };
  return JSON.stringify({ ...common, ...input });
}

/** Calls a hook. It must exit with 0 and print one document, whatever its input. */
export function hook(project: Project, event: string, input: object = {}, env: Record<string, string> = {}): HookRun {
  return answered(
    project.run(process.execPath, [hookPath, event], { input: hookInput(project, event, input), env }),
    event,
  );
}

/** As `hook`, without waiting for it. `open`: standard input gets `input` and is not closed; `stdin`: it is this file. */
export function startHook(
  project: Project,
  event: string,
  { input = "", open = false, stdin, env = {}, cwd = project.path }: StartOptions = {},
): Promise<HookRun & { ms: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, [hookPath, event], {
    cwd,
    env: project.environment(env),
    stdio: [stdin ?? "pipe", "pipe", "pipe"],
  });
  // A hook that knows enough does not read all of its input.
  child.stdin?.on("error", () => undefined);
  if (open) child.stdin?.write(input);
  else child.stdin?.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const ms = performance.now() - started;
      try {
        resolve({ ...answered({ code, signal, stdout, stderr }, event), ms });
      } catch (error) {
        reject(error);
      }
    });
  });
}

export interface StartOptions {
  input?: string | Uint8Array;
  open?: boolean;
  stdin?: number;
  env?: Record<string, string>;
  cwd?: string;
}

/** Exactly one JSON document on standard output, and exit 0 (C31, Q224). */
function answered(run: Run, event: string): HookRun {
  const { code, signal, stdout, stderr } = run;
  const said = `${event}: exit ${code ?? signal}\nstdout: ${stdout.slice(0, 2000)}\nstderr: ${stderr.slice(0, 2000)}`;
  if (code !== 0) throw new Error(`a hook must exit with 0: ${said}`);
  let reply: unknown;
  try {
    reply = JSON.parse(stdout);
  } catch {
    throw new Error(`a hook must print one JSON document: ${said}`);
  }
  if (typeof reply !== "object" || reply === null || Array.isArray(reply)) throw new Error(`no object: ${said}`);
  return { ...run, reply };
}

/** A project with a session of `phases` in sequential mode, unless `mode` says otherwise. */
export function sessionProject(phases: PhaseSpec[], mode: "sequential" | "parallel" | null = "sequential"): Project {
  const project = new Project();
  createSession(project, phases, mode ?? "ask");
  return project;
}

export function succeed(project: Project, args: string[]): string {
  const { code, stdout, stderr } = project.maestro(args);
  if (code !== 0) throw new Error(`maestro ${args.join(" ")}: ${stderr}`);
  return stdout;
}

export interface ReportFields {
  status?: string;
  created?: string;
  modified?: string;
  summary?: string;
  context?: string | null;
}

/** A hand-off as agents are told to write it. `context: null`: without a Downstream Context. */
export function report({ status, created, modified, summary, context }: ReportFields = {}): string {
  const task = `## Task Report
- Status: ${status ?? "success"}
- Files Created: ${created ?? "none"}
- Files Modified: ${modified ?? "none"}
- Files Deleted: none
- Summary: ${summary ?? "Done."}
`;
  return context === null ? task : `${task}\n## Downstream Context\n- Key Interfaces Introduced: ${context ?? "`A`"}\n`;
}

/** What `invoke_agent` returns for an agent that called complete_task with `result`. */
export function finished(agent: string, result: string, reason = "GOAL"): string {
  return `Subagent '${agent}' finished.\nTermination Reason: ${reason}\nResult:\n${result}`;
}

export function invoke(
  project: Project,
  agent_name: string,
  prompt: string,
  env: Record<string, string> = {},
  more: object = {},
): Reply {
  const input = { tool_name: "invoke_agent", tool_input: { agent_name, prompt, ...more } };
  return hook(project, "BeforeTool", input, env).reply;
}

/** The prompt that the agent gets. */
export function delegated(project: Project, agent: string, prompt: string, env: Record<string, string> = {}): string {
  const reply = invoke(project, agent, prompt, env);
  const given = reply.hookSpecificOutput?.tool_input?.prompt;
  if (given === undefined) throw new Error(`no delegation: ${JSON.stringify(reply)}`);
  return given;
}

export function handBack(
  project: Project,
  agent_name: string,
  prompt: string,
  text: string,
  env: Record<string, string> = {},
): Reply {
  const tool_response = { llmContent: [{ text }], returnDisplay: { agentName: agent_name, recentActivity: [] } };
  const input = { tool_name: "invoke_agent", tool_input: { agent_name, prompt }, tool_response };
  return hook(project, "AfterTool", input, env).reply;
}

export function complete(project: Project, result: unknown, env: Record<string, string> = {}): Reply {
  return hook(project, "BeforeTool", { tool_name: "complete_task", tool_input: { result } }, env).reply;
}

/** What the model reads beside a prompt or a result. */
export function contextOf({ hookSpecificOutput }: Reply): string {
  return hookSpecificOutput?.additionalContext ?? "";
}

const locationOf = (project: Project): StateLocation => locateState(project.path, ".gemini");

export function phasesOf(project: Project): SessionPhase[] {
  return glance(locationOf(project))?.phases ?? [];
}

export function statusesOf(project: Project): string[] {
  return phasesOf(project).map((phase) => phase.status);
}

/** What the doctor looks for, without its price: gaps in the journal, records that are not ours, a view that was not drawn, leftovers. */
export function faultsOf(project: Project): string[] {
  const location = locationOf(project);
  // Reading refuses gaps in the journal and records that are not ours.
  const faults: string[] = [];
  const store = new SessionStore(location, { now: () => new Date(), warn: (message) => faults.push(message) });
  const { state } = store.read();
  if (state !== "open") faults.push(`the session is ${state}`);
  const left = project.list(".gemini/state").filter((name) => name.startsWith("."));
  return [...faults, ...left];
}

/** Moves a phase as a person at the command line does, without the price of a process. `message`: why it failed. */
export function move(project: Project, phase: string, to: PhaseStatus, message?: string): void {
  const failure = message === undefined ? undefined : { type: "runtime" as const, message };
  change(project, (store) =>
    movePhase(store, { phase, to, userDecision: to === "skipped", failure, maxRetries: 2, now: new Date() }),
  );
}

/** A session with nothing left to do that is not archived. */
export function finish(project: Project): void {
  change(project, (store) => completeSession(store, {}, { archive: false }));
}

function change(project: Project, use: (store: SessionStore) => void): void {
  const warn = (message: string): never => {
    throw new Error(message);
  };
  const store = new SessionStore(locationOf(project), { now: () => new Date(), warn });
  use(store);
  store.close();
}

/** Runs `use` while this process holds a lock of the session: `.lock`, or `.engine` as an engine does. */
export async function whileHolding<T>(project: Project, name: string, use: () => T | Promise<T>): Promise<T> {
  const claimed = inState(locationOf(project), ["state"], (state) => claimLock(state, name));
  if (claimed === undefined || !("release" in claimed)) throw new Error(`cannot take ${name}`);
  try {
    return await use();
  } finally {
    inState(locationOf(project), ["state"], claimed.release);
  }
}

/** Projects that are removed after each test; for `afterEach`. */
export class Shelf {
  #projects: Project[] = [];

  keep(project: Project): Project {
    this.#projects.push(project);
    return project;
  }

  clear(): void {
    for (const project of this.#projects) project.remove();
    this.#projects = [];
  }
}
