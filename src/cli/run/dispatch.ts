// maestro dispatch: runs a directory of prompts as one batch. Every prompt is checked before the first agent starts.

import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { normalizeAgentName } from "../../agents/names.ts";
import { readProtocols } from "../../agents/protocols.ts";
import { parseDisabled, resolveAgent } from "../../agents/resolve.ts";
import { agentFileNames, type Roster } from "../../agents/roster.ts";
import { readFrom } from "../../disk/durable.ts";
import { randomHex } from "../../disk/random.ts";
import { type DispatchPrompt, dispatchBatch as runBatch } from "../../engine/dispatch.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { dispatchCodes, signalCodes } from "../../exit-codes.ts";
import { extensionRoot, programRoot } from "../../program-root.ts";
import { agentEnvironment as exportedEnvironment } from "../../runtimes/environment.ts";
import { geminiRuntime } from "../../runtimes/gemini/gemini.ts";
import { modelFor } from "../../runtimes/models.ts";
import { ATTEMPT_STATE_DIR } from "../../setting-layers.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { clearDispatch, openDispatch, policyPath } from "../../store/files/batch.ts";
import { claimDispatch } from "../../store/files/dispatch-lock.ts";
import { stripControls } from "../../text.ts";
import type { AgentResult } from "../../views/report/batch-summary.ts";
import { redactorOf, rosterOf, settingsOf } from "../context.ts";
import { refuseInsideAttempt } from "../inside-attempt.ts";
import type { EndingSignal, Io } from "../io.ts";
import { environmentOfAgents } from "./agent-environment.ts";
import { type EngineFlags, engineSettings } from "./engine-options.ts";
import { projectNotes } from "./project-notes.ts";
import { extraArguments, requireProgram, supervise, warnOfArguments } from "./run-session.ts";

const MAX_PROMPT_BYTES = 1_048_576;
const REJECTED = 1;

/** Exits with the number of failed agents (at most 255), with 1 when the batch was rejected, or with 127 when gemini is missing. */
export async function dispatch(
  io: Io,
  directory: string,
  flags: EngineFlags & { withProtocols?: boolean },
): Promise<number> {
  refuseInsideAttempt(io);
  clearDispatch(resolve(io.cwd, directory));
  const checked = check(io, directory);
  if ("lines" in checked) {
    io.err(`${checked.lines.join("\n")}\n`);
    return REJECTED;
  }
  const { settings, prompts, extraArgs } = checked;
  const limits = engineSettings(settings, flags);
  const program = requireProgram(io, geminiRuntime.program);
  if (program === undefined) {
    io.err(`ERROR: ${geminiRuntime.program} was not found on PATH, so no agent can be started\n`);
    io.err(
      `  Install it with "${geminiRuntime.install}", or delegate the phases one after the other inside Gemini CLI.\n`,
    );
    return dispatchCodes.noProgram;
  }
  io.out(`${banner(io, settings, prompts, limits).join("\n")}\n`);
  for (const note of projectNotes(io, [geminiRuntime], extraArgs)) io.out(`\n${note}\n`);
  const exported = exportedEnvironment(io.env, limits.passEnv, {});
  const agentEnvironment = environmentOfAgents(io, {
    runtime: geminiRuntime,
    exported,
    projectRoot: io.cwd,
    hasSetup: false,
  });
  const run = randomHex(8);
  const batch = openDispatch(resolve(io.cwd, directory), directory);
  const release = claimDispatch(batch.results);
  const supervisor = supervise(io, run, limits.graceMs);
  let stopped: EndingSignal | undefined;
  const stopListening = io.onSignal((signal) => {
    supervisor.stopAll("stopped", stopped !== undefined);
    stopped ??= signal;
  });
  try {
    const summary = await runBatch(prompts, {
      run,
      batch,
      supervisor,
      redact: redactorOf(io),
      runtime: geminiRuntime,
      program,
      projectRoot: io.cwd,
      extraArgs,
      protocols: flags.withProtocols ? Object.values(readProtocols(extensionRoot(io.env), programRoot)) : [],
      environment: (root, own) =>
        agentEnvironment(root, { [ATTEMPT_STATE_DIR]: settings.values.MAESTRO_STATE_DIR, ...own }),
      slots: limits.slots,
      staggerMs: limits.staggerMs,
      timeoutMs: limits.timeoutMs,
      started: ({ name }) => io.err(`${name}: started\n`),
      finished: (result) => io.err(`${resultLine(result)}\n`),
      isStopped: () => stopped !== undefined,
    });
    if (settings.values.MAESTRO_CLEANUP_DISPATCH && stopped === undefined) batch.removePrompts();
    const { batch_status, succeeded, total_agents, failed, wall_time_seconds } = summary;
    io.out(`\n${batch_status}: ${succeeded} of ${total_agents} agents succeeded in ${wall_time_seconds} s\n`);
    io.out(`Summary: ${join(directory, "results", "summary.json")}\n`);
    return stopped === undefined ? Math.min(255, failed) : signalCodes[stopped];
  } finally {
    await supervisor.close();
    stopListening();
    release();
    batch.close();
  }
}

type Checked = { settings: ResolvedSettings; prompts: DispatchPrompt[]; extraArgs: string[] } | { lines: string[] };

function check(io: Io, directory: string): Checked {
  try {
    const settings = settingsOf(io);
    const files = promptFiles(io, directory);
    const roster = rosterOf(io);
    const read = files.map((file) => readPrompt(io, settings, roster, join(directory, "prompts", file)));
    const lines = [...read.flatMap((one) => ("lines" in one ? one.lines : [])), ...collisions(files)];
    if (lines.length > 0) return { lines };
    const prompts = read.flatMap((one) => ("lines" in one ? [] : [one]));
    const policyFile = policyPath(resolve(io.cwd, directory), "read-only");
    const extraArgs = extraArguments(settings);
    warnOfArguments(io, extraArgs);
    // Build every command line now, so that the runtime rejects a bad one before the first agent starts.
    for (const { agent, tier, model } of prompts) {
      geminiRuntime.argv({ agent, tier, model, policyFile, isStreamed: false, extraArgs });
    }
    return { settings, prompts, extraArgs };
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    return { lines: [`ERROR: ${error.message}`, ...(error.hint === undefined ? [] : [`  ${error.hint}`])] };
  }
}

function promptFiles(io: Io, directory: string): string[] {
  const path = join(directory, "prompts");
  let entries: Dirent[];
  try {
    entries = readdirSync(resolve(io.cwd, path), { withFileTypes: true });
  } catch (error) {
    if (errno(error) === undefined) throw error;
    throw new MaestroError("usage", `Prompts directory not found: ${path}`, {
      hint: "A dispatch directory contains prompts/<agent>.txt, one file per agent.",
    });
  }
  const files = entries.filter((entry) => entry.name.endsWith(".txt") && !entry.isDirectory()).map(({ name }) => name);
  if (files.length === 0) throw new MaestroError("usage", `No prompt files found in ${path} (expected <agent>.txt)`);
  return files.sort();
}

/** Splits `<agent>[.<label>]` at the first dot; only letters, digits, `-` and `_` are kept. */
function stemOf(file: string): { name: string; role: string } {
  const [agent = "", ...label] = file.slice(0, -".txt".length).split(".");
  const clean = (part: string) => part.replace(/[^A-Za-z0-9_-]/g, "");
  const role = clean(agent);
  const rest = label.map(clean).filter((part) => part !== "");
  return { name: [role, ...rest].join("."), role };
}

function readPrompt(
  io: Io,
  settings: ResolvedSettings,
  roster: Roster,
  path: string,
): DispatchPrompt | { lines: string[] } {
  const { name, role } = stemOf(path.slice(path.lastIndexOf("/") + 1));
  if (role === "") return { lines: [`ERROR: Prompt file name does not contain an agent: ${stripControls(path)}`] };
  const agent = normalizeAgentName(role);
  const known = roster.agents.find((one) => one.name === agent);
  if (roster.exists) {
    const names = roster.agents.map((one) => one.name);
    const { disabled } = parseDisabled(settings.values.MAESTRO_DISABLED_AGENTS, agentFileNames(roster));
    const resolution = resolveAgent(role, names, disabled, roster.problems);
    if (resolution.kind !== "found") return { lines: resolution.lines };
  }
  const text = promptText(io, path);
  if ("lines" in text) return text;
  const model = modelFor(known ?? { name: agent }, settings.values, undefined);
  return { name, agent, tier: known?.tier ?? "full", model, text };
}

function promptText(io: Io, path: string): Buffer | { lines: string[] } {
  const shown = stripControls(path);
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    fd = openSync(resolve(io.cwd, path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return { lines: [`ERROR: Cannot read prompt file ${shown}: ${reasonOf(error)}`] };
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { lines: [`ERROR: Prompt file is not a regular file: ${shown}`] };
    const text = readFrom(fd, 0, Math.min(stat.size, MAX_PROMPT_BYTES + 1));
    if (text.length > MAX_PROMPT_BYTES) {
      const size = `${stat.size} bytes, the limit is ${MAX_PROMPT_BYTES}`;
      return { lines: [`ERROR: Prompt file is too large: ${shown} has ${size}`] };
    }
    return text.toString("utf8").trim() === "" ? { lines: [`ERROR: Prompt file is empty: ${shown}`] } : text;
  } finally {
    closeSync(fd);
  }
}

/** Prompts whose result files would have the same name; case is ignored, as on some file systems. */
function collisions(files: readonly string[]): string[] {
  const byName = new Map<string, string[]>([["summary", ["the batch's summary"]]]);
  for (const file of files) {
    const key = stemOf(file).name.toLowerCase();
    byName.set(key, [...(byName.get(key) ?? []), file]);
  }
  return [...byName.values()]
    .filter((same) => same.length > 1)
    .map((same) => `ERROR: ${stripControls(same.join(" and "))} would write the same results`);
}

function banner(
  io: Io,
  { values }: ResolvedSettings,
  prompts: readonly DispatchPrompt[],
  limits: ReturnType<typeof engineSettings>,
): string[] {
  const seconds = (milliseconds: number) => `${milliseconds / 1000}s`;
  return [
    "Maestro Parallel Dispatch",
    `  Agents:       ${prompts.length} (${prompts.map(({ name }) => name).join(", ")})`,
    `  Concurrency:  ${Number.isFinite(limits.slots) ? limits.slots : "unlimited"}`,
    `  Stagger:      ${seconds(limits.staggerMs)}`,
    `  Timeout:      ${limits.timeoutMs % 60_000 === 0 ? `${limits.timeoutMs / 60_000} minutes` : seconds(limits.timeoutMs)}`,
    `  Model:        ${values.MAESTRO_DEFAULT_MODEL || "each agent's own"}`,
    `  Project root: ${io.cwd}`,
  ];
}

function resultLine({ name, status, exit_code }: AgentResult): string {
  return `${name}: ${status}${status === "failed" ? ` (exit code ${exit_code})` : ""}`;
}
