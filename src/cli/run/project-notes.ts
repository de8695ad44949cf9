// Warns the user, before agents run, about what the guard does not check, and that Gemini CLI does not trust the project.

import { cacheRoot } from "../../git/cache-directory.ts";
import { programRoot } from "../../program-root.ts";
import { type HookFault, hookFault } from "../../runtimes/gemini/hooks.ts";
import type { Trust } from "../../runtimes/gemini/trust.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { readGeminiState } from "../../store/files/gemini-home.ts";
import { shellWord, stripControls } from "../../text.ts";
import type { Io } from "../io.ts";
import { trustIn } from "./agent-environment.ts";

/** One line per note about the runtimes that are used; empty when the project is trusted and the hooks run in all of them. */
export function projectNotes(io: Io, used: readonly Runtime[], extraArgs: readonly string[]): string[] {
  const isHooked = used.some(({ hasHooks }) => hasHooks);
  const fault = isHooked ? missingHooks(io, extraArgs) : null;
  return [
    ...(isHooked ? trustNote(trustIn(io, io.cwd), io.cwd) : []),
    ...(fault === null ? [] : [hookNote(fault)]),
    // The bridge to an agent of the Agent Client Protocol asks the guard itself.
    ...unguardedNote(used.filter(({ hasHooks, host }) => !hasHooks && host === undefined)),
  ];
}

function unguardedNote(runtimes: readonly Runtime[]): string[] {
  if (runtimes.length === 0) return [];
  const names = runtimes.map(({ name }) => name).join(", ");
  return [
    `No guard checks the shell commands of ${names}; only the agent's tier restricts them, as far as the program enforces it.`,
  ];
}

/** Prints the notes for a user who does not see the consent text because the mode is already chosen. */
export function tellProject(io: Io, used: readonly Runtime[], extraArgs: readonly string[]): void {
  for (const note of projectNotes(io, used, extraArgs)) io.err(`${note}\n`);
}

/** Why the extension's hooks would not run for agents of this project; null if they would. */
export function missingHooks(io: Io, extraArgs: readonly string[]): HookFault | null {
  const trusted = trustIn(io, io.cwd) === "trusted" ? io.cwd : null;
  // Attempts work in the project or in worktrees below the cache directory.
  return hookFault(readGeminiState(io.env, trusted), [io.cwd, cacheRoot(io.env)], extraArgs);
}

function trustNote(trust: Trust, project: string): string[] {
  if (trust === "trusted") return [];
  const said =
    trust === "distrusted" ? "You have marked this project as not trusted" : "You have not trusted this project";
  return [
    `${said} in Gemini CLI (${stripControls(project)}): agents run in it without its settings, hooks and MCP servers, and its .env files have no effect on them.`,
  ];
}

function hookNote(fault: HookFault): string {
  return `${hookReason(fault)}. No guard checks the shell commands of agents; only policies restrict them. ${hookRemedy(fault)}`;
}

export function hookReason(fault: HookFault): string {
  if (fault.kind === "not-installed") return "The Maestro extension is not installed in Gemini CLI";
  if (fault.kind === "left-out") return "MAESTRO_GEMINI_EXTRA_ARGS excludes the Maestro extension";
  if (fault.kind === "disabled") return `The Maestro extension is disabled for ${stripControls(fault.directory)}`;
  return `Gemini CLI does not run the hooks of Maestro (setting ${fault.setting})`;
}

export function hookRemedy(fault: HookFault): string {
  if (fault.kind === "not-installed") return `Install it: gemini extensions install ${shellWord(programRoot)}`;
  if (fault.kind === "left-out") return "Add maestro to its -e option.";
  if (fault.kind === "disabled") return "Enable it: gemini extensions enable maestro";
  return "Change it in the settings.json of Gemini CLI.";
}
