// maestro setup: after the user's consent, installs a policy that spares questions, puts `maestro` on the PATH, and installs completions.
// It never changes a file that the user edited or that Maestro did not write.

import { readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setupPolicy } from "../../agents/setup-policy.ts";
import { NEEDS_A_PERSON } from "../../exit-codes.ts";
import { programRoot } from "../../program-root.ts";
import { findProgram, searchPath } from "../../search-path.ts";
import { shellWord } from "../../text.ts";
import { programOf } from "../context.ts";
import { absolute, homeOf } from "../home.ts";
import { type Io, printJson } from "../io.ts";
import { launcherScript, ownLauncher, ownProgram } from "../launcher.ts";
import type { Verb } from "../verb.ts";
import { bashCompletion, fishCompletion, zshCompletion } from "./completions.ts";
import { type OwnFile, type OwnFileState, ownFileState, removeOwn, sealed, writeOwn } from "./own-file.ts";

interface Options {
  undo?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** What happens to a file; `left` means that the user has to handle it. */
export type SetupDeed = "write" | "remove" | "keep" | "left";

export interface SetupStep {
  file: OwnFile;
  state: OwnFileState;
  deed: SetupDeed;
}

type Environment = Io["env"];

export async function setup(io: Io, options: Options, verbs: readonly Verb[]): Promise<number> {
  const planned = setupSteps(io.env, verbs, options.undo ?? false);
  const isNeeded = planned.some(isChange);
  const mayAct = isNeeded && !options.dryRun && (await hasConsent(io, planned, options));
  const steps = mayAct ? planned.map(acted) : planned;
  const isLeft = steps.some(({ deed }) => deed === "left");
  const isDone = !isLeft && (mayAct || !isNeeded);
  if (options.json) printJson(io, { dry_run: options.dryRun ?? false, done: isDone, files: steps.map(shownStep) });
  else if (mayAct || !isNeeded || options.dryRun) io.out(`${resultLines(io.env, steps, mayAct, options).join("\n")}\n`);
  if (isLeft) io.err("ERROR: Some files were not changed, because they were edited or not written by Maestro\n");
  if (isDone || options.dryRun) return 0;
  return isLeft ? 1 : NEEDS_A_PERSON;
}

/** What setup would do now. `doctor` reads it to check whether set-up is complete. */
export function setupSteps(env: Environment, verbs: readonly Verb[], isUndoing: boolean): SetupStep[] {
  return filesFor(env, verbs).map((file) => {
    const state = ownFileState(file);
    return { file, state, deed: setupDeedFor(state, isUndoing) };
  });
}

export function setupDeedFor(state: OwnFileState, isUndoing: boolean): SetupDeed {
  const isOurs = state === "current" || state === "older";
  if (isUndoing) return isOurs ? "remove" : state === "edited" ? "left" : "keep";
  if (state === "current") return "keep";
  return state === "edited" || state === "foreign" ? "left" : "write";
}

function filesFor(env: Environment, verbs: readonly Verb[]): OwnFile[] {
  const home = homeOf(env);
  const policy: OwnFile = {
    purpose: "Gemini CLI does not ask before Maestro reads or records",
    path: join(absolute(env.GEMINI_CLI_HOME) ?? home, ".gemini", "policies", "maestro.toml"),
    text: sealed(setupPolicy(ownProgram, skillNames())),
    mode: 0o644,
  };
  // Windows has neither these shells nor executable scripts without an extension.
  if (process.platform === "win32") return [policy];
  const data = absolute(env.XDG_DATA_HOME) ?? join(home, ".local", "share");
  const config = absolute(env.XDG_CONFIG_HOME) ?? join(home, ".config");
  const completion = (shell: string, path: string, text: string): OwnFile => ({
    purpose: `completion in ${shell}`,
    path,
    text: sealed(text),
    mode: 0o644,
  });
  return [
    policy,
    // After `npm install --global` the command is there already.
    ...(ownLauncher(env.PATH) === "program" ? [] : [launcher(env)]),
    completion("bash", join(data, "bash-completion", "completions", "maestro"), bashCompletion(verbs)),
    completion("zsh", join(data, "zsh", "site-functions", "_maestro"), zshCompletion(verbs)),
    completion("fish", join(config, "fish", "completions", "maestro.fish"), fishCompletion(verbs)),
  ];
}

function launcher(env: Environment): OwnFile {
  return {
    purpose: "the command maestro",
    path: join(programDirectory(env), "maestro"),
    text: sealed(launcherScript),
    mode: 0o755,
  };
}

/** The user's own directory for programs; the first one that is on the PATH. */
function programDirectory(env: Environment): string {
  const home = homeOf(env);
  const own = [join(home, ".local", "bin"), join(home, "bin")];
  const onPath = searchPath(env.PATH).split(delimiter);
  return own.find((directory) => onPath.includes(directory)) ?? (own[0] as string);
}

function skillNames(): string[] {
  return readdirSync(join(programRoot, "skills"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

async function hasConsent(io: Io, steps: readonly SetupStep[], { yes, undo }: Options): Promise<boolean> {
  if (yes) return true;
  const verb = undo ? "Remove" : "Write";
  io.err(`${[`${verb} these files?`, ...steps.filter(isChange).map((step) => `  ${line(step)}`)].join("\n")}\n`);
  if (!undo) io.err(`${policyText(io)}\n`);
  if (!io.interactive) {
    io.err(
      "ERROR: Nothing was changed: you have not agreed, and no terminal is attached to ask you\n  Pass --yes to agree.\n",
    );
    return false;
  }
  const hasAgreed = /^y(es)?$/i.test((await io.ask(`${verb} them? [y/N] `))?.trim() ?? "");
  if (!hasAgreed) io.err("Nothing was changed.\n");
  return hasAgreed;
}

function policyText(io: Io): string {
  return [
    "Gemini CLI still asks before agents start, before a decision, and before the commands of a plan run.",
    `The policy: ${programOf(io)} setup --dry-run`,
  ].join("\n");
}

/** Looks again first: the user may have edited the file while the question was open. */
function acted(step: SetupStep): SetupStep {
  const { file, state, deed } = step;
  const now = ownFileState(file);
  if (isChange(step) && now !== state) return { file, state: now, deed: "left" };
  if (deed === "write") writeOwn(file);
  if (deed === "remove") removeOwn(file);
  return step;
}

function resultLines(env: Environment, steps: readonly SetupStep[], hasActed: boolean, options: Options): string[] {
  const lines = steps.map((step) => sentence(step, hasActed, options.undo ?? false));
  const [policy] = steps;
  if (options.dryRun && !options.undo && policy !== undefined)
    lines.push("", policy.file.path, policy.file.text.trimEnd());
  return options.undo ? lines : [...lines, ...remainders(env, steps)];
}

/** What only the user can do: shells read these places only if their start-up files say so. */
function remainders(env: Environment, steps: readonly SetupStep[]): string[] {
  const directory = programDirectory(env);
  const hasLauncher = steps.some(({ file }) => file.path === join(directory, "maestro"));
  const other = findProgram("maestro", env.PATH);
  const isHidden = other !== undefined && other !== join(directory, "maestro") && hasLauncher;
  const isReachable = searchPath(env.PATH).split(delimiter).includes(directory);
  const pathOf = (end: string) => steps.find(({ file }) => file.path.endsWith(end))?.file.path;
  const bash = pathOf("/bash-completion/completions/maestro");
  const zsh = pathOf("/_maestro");
  return [
    ...(isHidden ? [`Another program on your PATH has the name maestro and is found first: ${other}`] : []),
    ...(hasLauncher && !isReachable
      ? [
          `${directory} is not on your PATH: add to the start-up file of your shell: export PATH=${shellWord(directory)}:"$PATH"`,
        ]
      : []),
    ...(bash === undefined
      ? []
      : [`For bash without the package bash-completion, add to ~/.bashrc: . ${shellWord(bash)}`]),
    ...(zsh === undefined
      ? []
      : [`For zsh, add to ~/.zshrc before compinit: fpath+=(${shellWord(zsh.replace(/\/_maestro$/, ""))})`]),
  ];
}

const stateWords: Record<OwnFileState, string> = {
  absent: "not there",
  current: "up to date",
  older: "written by another version",
  edited: "edited since Maestro wrote it",
  foreign: "not written by Maestro",
};

function isChange({ deed }: SetupStep): boolean {
  return deed === "write" || deed === "remove";
}

function line({ file }: SetupStep): string {
  return `${file.path} (${file.purpose})`;
}

function sentence(step: SetupStep, hasActed: boolean, isUndoing: boolean): string {
  const { state, deed } = step;
  const reason = stateWords[state];
  if (deed === "left")
    return `${line(step)}: not changed, ${reason}; ${isUndoing ? "delete it yourself" : "move it away and run this again"}`;
  if (deed === "keep") return `${line(step)}: unchanged, ${reason}`;
  const done = deed === "remove" ? "removed" : state === "absent" ? "written" : "updated";
  return `${line(step)}: ${hasActed ? done : `would be ${done}`}`;
}

function shownStep({ file: { path, purpose }, state, deed }: SetupStep) {
  return { path, purpose, state, deed };
}
