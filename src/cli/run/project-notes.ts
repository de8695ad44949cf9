// What a person is told about a project before agents run in it: that the user has not trusted it, and that no guard watches over them.

import { cacheRoot } from "../../git/cache-directory.ts";
import { programRoot } from "../../program-root.ts";
import { type HookFault, hookFault } from "../../runtimes/gemini/hooks.ts";
import type { Trust } from "../../runtimes/gemini/trust.ts";
import { readGeminiState } from "../../store/files/gemini-home.ts";
import { stripControls } from "../../text.ts";
import type { Io } from "../io.ts";
import { trustIn } from "./agent-environment.ts";

/** One line each; none when the project is trusted and the hooks run. */
export function projectNotes(io: Io, extraArgs: readonly string[]): string[] {
  const fault = missingHooks(io, extraArgs);
  return [...trustNote(trustIn(io, io.cwd), io.cwd), ...(fault === null ? [] : [hookNote(fault)])];
}

/** For a user who sees no consent text, because the mode is chosen already. */
export function tellProject(io: Io, extraArgs: readonly string[]): void {
  for (const note of projectNotes(io, extraArgs)) io.err(`${note}\n`);
}

/** Why the extension's hooks would not run for agents of this project; null: they would. */
export function missingHooks(io: Io, extraArgs: readonly string[]): HookFault | null {
  const trusted = trustIn(io, io.cwd) === "trusted" ? io.cwd : null;
  // Attempts work in the project, or in worktrees below the cache.
  return hookFault(readGeminiState(io.env, trusted), [io.cwd, cacheRoot(io.env)], extraArgs);
}

function trustNote(trust: Trust, project: string): string[] {
  if (trust === "trusted") return [];
  const said =
    trust === "distrusted" ? "You have marked this project as not trusted" : "You have not trusted this project";
  return [
    `${said} in Gemini CLI (${stripControls(project)}): agents run in it without its settings, hooks and MCP servers, and its .env files do not steer them.`,
  ];
}

function hookNote(fault: HookFault): string {
  return `${hookReason(fault)}. No guard checks what agents run in the shell: only policies hold them. ${hookRemedy(fault)}`;
}

export function hookReason(fault: HookFault): string {
  if (fault.kind === "not-installed") return "The Maestro extension is not installed in Gemini CLI";
  if (fault.kind === "left-out") return "MAESTRO_GEMINI_EXTRA_ARGS leaves the Maestro extension out";
  if (fault.kind === "disabled") return `The Maestro extension is disabled for ${stripControls(fault.directory)}`;
  return `Gemini CLI does not run the hooks of Maestro (setting ${fault.setting})`;
}

export function hookRemedy(fault: HookFault): string {
  if (fault.kind === "not-installed") return `Install it: gemini extensions install ${shellWord(programRoot)}`;
  if (fault.kind === "left-out") return "Add maestro to its -e option.";
  if (fault.kind === "disabled") return "Enable it: gemini extensions enable maestro";
  return "Change it in the settings.json of Gemini CLI.";
}

/** A path as one word of a shell. */
function shellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
