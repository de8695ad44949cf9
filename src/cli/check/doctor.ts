// maestro doctor: checks this machine and this project for what Maestro needs. --fix repairs what it can without deleting data.

import { dirname } from "node:path";
import { permissionReport } from "../../agents/permissions.ts";
import { parseDisabled } from "../../agents/resolve.ts";
import { agentFileNames } from "../../agents/roster.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { MAX_RUN_TOKENS } from "../../extension/budget.ts";
import { type LintResult, lintExtension } from "../../extension/lint.ts";
import { isExtension } from "../../extension/lint-manifest.ts";
import { describeProblem } from "../../extension/problem.ts";
import { DEFAULT_RUNTIME, runtimes } from "../../runtimes/runtime-table.ts";
import { splitWords } from "../../runtimes/words.ts";
import { findProgram } from "../../search-path.ts";
import { definitions, type ResolvedSettings, resolveSettings, type SettingName, shownSetting } from "../../settings.ts";
import { locateState } from "../../store/location.ts";
import { ensureWorkspace, requireCreatable } from "../../store/workspace.ts";
import { plural } from "../../views/text/amount.ts";
import { agentsDirectory, openStore, rosterOf, tellUser } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { paint } from "../paint.ts";
import { hookReason, hookRemedy, missingHooks } from "../run/project-notes.ts";
import { signIn } from "../runtimes/sign-in.ts";
import { setupSteps } from "../setup/setup.ts";
import { type Verb, verbNames } from "../verb.ts";
import { checkVariables } from "./doctor-environment.ts";
import { checkRepository } from "./doctor-repository.ts";
import { checkSandbox } from "./doctor-sandbox.ts";
import type { Finding } from "./finding.ts";

/** `verbs`: all verbs; the extension's texts may mention only these. */
export async function doctor(
  io: Io,
  options: { json?: boolean; fix?: boolean },
  verbs: readonly Verb[],
): Promise<number> {
  const findings: Finding[] = [checkNode(), checkProgram(io, "git"), ...checkRuntimes(io), ...checkAgents(io)];
  const directory = dirname(agentsDirectory(io));
  const lint = isExtension(directory) ? await lintExtension(directory, verbNames(verbs)) : undefined;
  findings.push(...checkExtension(directory, lint, findings));
  const settings = checkSettings(io, findings);
  findings.push(...checkHooks(io, settings));
  if (settings !== undefined) {
    const fix = options.fix ?? false;
    findings.push(...checkDisabled(io, settings), ...checkSession(io, settings, fix));
    const reported = new Set(findings.map(({ message }) => message));
    findings.push(...(await checkRepository(io, settings, fix)).filter(({ message }) => !reported.has(message)));
    findings.push(...checkVariables(io, settings));
    if (settings.values.MAESTRO_WORKERS !== "") {
      // Loaded only here: the client of the queue is large.
      const { checkWorkers } = await import("../workers/doctor-workers.ts");
      findings.push(...(await checkWorkers(io, settings)));
    }
    findings.push(checkSandbox(io.env, settings.values.MAESTRO_SANDBOX));
  }
  findings.push(checkSetup(io, verbs));
  const healthy = findings.every((finding) => finding.level !== "fail");
  const extension = lint === undefined ? null : { directory, ...lint, token_limit: MAX_RUN_TOKENS };
  if (options.json) printJson(io, { healthy, settings: settingsJson(settings), extension, findings });
  else tellUser(io, `${textLines(io, findings, settings).join("\n")}\n`);
  return healthy ? 0 : 3;
}

function checkSetup(io: Io, verbs: readonly Verb[]): Finding {
  const steps = setupSteps(io.env, verbs, false);
  const open = steps.filter(({ deed }) => deed !== "keep");
  if (open.length === 0) return { check: "setup", level: "ok", message: "Set-up is complete and current" };
  // Set-up is the user's choice; only a part of it, or an old one, is worth a warning.
  if (steps.every(({ state }) => state === "absent")) {
    const message = 'Set-up was not run: "maestro setup" reduces the confirmations of Gemini CLI';
    return { check: "setup", level: "ok", message };
  }
  const names = open.map(({ file, state }) => `${file.purpose} (${state})`).join(", ");
  return {
    check: "setup",
    level: "warn",
    message: `Set-up is not complete: ${names}`,
    hint: 'Run "maestro setup" again.',
  };
}

function checkNode(): Finding {
  const major = Number(process.versions.node.split(".")[0]);
  if (major >= 20) return { check: "node", level: "ok", message: `Node ${process.versions.node}` };
  return {
    check: "node",
    level: "fail",
    message: `Node ${process.versions.node} is too old`,
    hint: "Install Node 20 or newer.",
  };
}

const programHints: Record<string, string> = {
  git: "Install git: Maestro isolates and compares work with it.",
  gemini:
    'Install it with "npm install -g @google/gemini-cli": agents run in it. "maestro runtimes" lists the other programs.',
};

function checkProgram(io: Io, name: string): Finding {
  const found = findProgram(name, io.env.PATH);
  if (found !== undefined) return { check: name, level: "ok", message: `${name} found: ${found}` };
  return { check: name, level: "warn", message: `${name} is not on the PATH`, hint: programHints[name] ?? "" };
}

/** Gemini CLI is what agents run in by default; without it another program will do. */
function checkRuntimes(io: Io): Finding[] {
  const found = runtimes.filter(({ program }) => findProgram(program, io.env.PATH) !== undefined);
  const isDefaultThere = found.some(({ name }) => name === DEFAULT_RUNTIME);
  if (isDefaultThere) return [checkProgram(io, DEFAULT_RUNTIME), ...checkSignIn(io)];
  if (found.length === 0) return [checkProgram(io, DEFAULT_RUNTIME)];
  const names = found.map(({ name }) => name).join(", ");
  const message = `${DEFAULT_RUNTIME} is not on the PATH; with --runtime agents run in: ${names}`;
  return [{ check: DEFAULT_RUNTIME, level: "ok", message }];
}

/** Without a sign-in it is not a warning: the program may have a credential in a store that only it can read. */
function checkSignIn({ env }: Io): Finding[] {
  const check = DEFAULT_RUNTIME;
  const runtime = runtimes.find(({ name }) => name === check);
  try {
    if (runtime === undefined || signIn(env, runtime) !== null) return [];
    const hint = `If it is not signed in, start ${check} once and sign in, or export GEMINI_API_KEY. "maestro runtimes ${check} --check" tries it.`;
    return [{ check, level: "ok", message: `No sign-in of ${check} found`, hint }];
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    return [{ check, level: "warn", message: error.message }];
  }
}

function checkAgents(io: Io): Finding[] {
  const roster = rosterOf(io);
  const directory = agentsDirectory(io);
  if (!roster.exists) {
    return [
      {
        check: "agents",
        level: "fail",
        message: `The agents directory does not exist: ${directory}`,
        hint: "Reinstall, or set MAESTRO_EXTENSION_PATH.",
      },
    ];
  }
  const { lines, exitCode } = permissionReport(roster);
  if (exitCode === 0)
    return [
      { check: "agents", level: "ok", message: `${roster.agents.length} agents, each with the tools of its tier` },
    ];
  return lines
    .slice(0, -1)
    .map((line) => ({ check: "agents", level: "fail" as const, message: line.replace(/^ERROR: /, "") }));
}

/** Problems in the extension's own files as Gemini CLI would read them; problems that are already in `known` are left out. */
function checkExtension(directory: string, lint: LintResult | undefined, known: readonly Finding[]): Finding[] {
  const check = "extension";
  if (lint === undefined) {
    const message = `${directory} is not a Gemini CLI extension, so its files were not checked`;
    return [{ check, level: "warn", message, hint: "It has no gemini-extension.json." }];
  }
  const { problems, budget } = lint;
  const fresh = problems.filter(({ problem }) => !known.some(({ message }) => message === problem));
  const failures = fresh.map(
    (problem): Finding => ({ check, level: "fail", message: describeProblem(problem), ...hintOf(problem) }),
  );
  const cost = `a standard run reads about ${budget.total} tokens of instructions (limit ${MAX_RUN_TOKENS})`;
  if (problems.length > 0) return [...failures, { check, level: "ok", message: `Extension: ${cost}` }];
  return [{ check, level: "ok", message: `Extension: Gemini CLI accepts every file; ${cost}` }];
}

/** Whether the guard runs in agents. A project that is not trusted is not a finding, because that is the user's choice. */
function checkHooks(io: Io, settings: ResolvedSettings | undefined): Finding[] {
  const words = splitWords(settings?.values.MAESTRO_GEMINI_EXTRA_ARGS ?? "");
  const fault = missingHooks(io, "error" in words ? [] : words);
  if (fault === null) return [{ check: "hooks", level: "ok", message: "The guard runs in agents of this project" }];
  const message = `${hookReason(fault)}: no guard checks the shell commands of agents, only policies restrict them`;
  return [{ check: "hooks", level: "warn", message, hint: hookRemedy(fault) }];
}

function hintOf({ hint }: { hint?: string | undefined }): { hint?: string } {
  return hint === undefined ? {} : { hint };
}

function checkSettings(io: Io, findings: Finding[]): ResolvedSettings | undefined {
  try {
    const settings = resolveSettings(io.cwd, io.env);
    const own = (Object.keys(definitions) as SettingName[]).filter((name) => settings.sources[name] !== "default");
    const message =
      own.length === 0
        ? "All settings at their defaults"
        : `Settings: ${own.map((name) => `${name}=${shownSetting(name, settings)} (${settings.sources[name]})`).join(", ")}`;
    findings.push({ check: "settings", level: "ok", message });
    for (const caution of settings.cautions) findings.push({ check: "settings", level: "warn", message: caution });
    return settings;
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    findings.push({
      check: "settings",
      level: "fail",
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
    return undefined;
  }
}

function checkDisabled(io: Io, settings: ResolvedSettings): Finding[] {
  const { warnings } = parseDisabled(settings.values.MAESTRO_DISABLED_AGENTS, agentFileNames(rosterOf(io)));
  return warnings.map((message) => ({ check: "settings", level: "warn", message }));
}

function checkSession(io: Io, settings: ResolvedSettings, fix: boolean): Finding[] {
  const findings: Finding[] = [];
  const fail = (message: string, hint?: string) =>
    findings.push({ check: "session", level: "fail", message, ...(hint === undefined ? {} : { hint }) });
  try {
    const location = locateState(io.cwd, settings.values.MAESTRO_STATE_DIR);
    const store = openStore(io, settings);
    // A check must not create a workspace in a project that has none.
    if (store.hasWorkspace()) ensureWorkspace(location);
    else requireCreatable(location);
    let read = store.read();
    if (read.state === "broken" && fix) {
      for (const moved of store.repair()) {
        findings.push({ check: "session", level: "warn", message: `Set aside ${moved}` });
      }
      read = store.read();
    }
    if (read.state === "none") findings.push({ check: "session", level: "ok", message: "No active session" });
    if (read.state === "broken") {
      const kept = read.kept === null ? "" : ` The bytes are kept in ${read.kept}.`;
      fail(
        `The session cannot be read: ${read.reason}`,
        `"maestro doctor --fix" moves the broken file aside and continues from what is still readable.${kept}`,
      );
    }
    if (read.state === "open") {
      const { session } = read;
      findings.push({
        check: "session",
        level: "ok",
        message: `Session ${session.session_id}: ${session.status}, ${session.seq} events, all readable`,
      });
    }
    store.close();
  } catch (error) {
    if (error instanceof MaestroError) fail(error.message, error.hint);
    else if (errno(error) !== undefined) fail(`Cannot use the state directory: ${reasonOf(error)}`);
    else throw error;
  }
  return findings;
}

function settingsJson(settings: ResolvedSettings | undefined) {
  if (settings === undefined) return null;
  return Object.fromEntries(
    (Object.keys(definitions) as SettingName[]).map((name) => [
      name,
      { value: shownSetting(name, settings), source: settings.sources[name] },
    ]),
  );
}

function textLines(io: Io, findings: readonly Finding[], settings: ResolvedSettings | undefined): string[] {
  const colors = paint(io.color);
  const marks = { ok: colors.green("ok  "), warn: colors.yellow("warn"), fail: colors.red("FAIL") };
  const lines = findings.flatMap((finding) => [
    `${marks[finding.level]}  ${finding.message}`,
    ...(finding.hint ? [`      ${finding.hint}`] : []),
  ]);
  const verdict = verdictOn(findings);
  return [...lines, "", settings === undefined ? `${verdict} The session was not checked.` : verdict];
}

function verdictOn(findings: readonly Finding[]): string {
  const count = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  if (count("fail") > 0) return `${plural(count("fail"), "problem")} to fix.`;
  if (count("warn") > 0) return `Nothing is broken; ${plural(count("warn"), "warning")}.`;
  return "Everything Maestro needs is in place.";
}
