// maestro session ...: the session operations for scripts and tests, with the same rules as the MCP tools.

import { normalizeAgentName } from "../../agents/names.ts";
import { pathFault, withoutDetours } from "../../disk/contained.ts";
import { MaestroError } from "../../errors.ts";
import { errorTypes } from "../../handoff/output/error-type.ts";
import { commandsOf } from "../../plan/baseline.ts";
import { decideMode, decideNote } from "../../session/decide/operation.ts";
import { moveByReport } from "../../session/decide/report-move.ts";
import { decideAnswer } from "../../session/decide/requirement.ts";
import { executionModes, phaseStatuses } from "../../session/event-parts.ts";
import { type ReviewMode, type SessionEvent, verdicts } from "../../session/events.ts";
import { hasDependents, type Session } from "../../session/session.ts";
import { addError, addFiles, changeSession, createSession, movePhase } from "../../store/operations.ts";
import { stripControls } from "../../text.ts";
import { approvePlan, openStore, redactorOf, settingsOf, withStore } from "../context.ts";
import { readInput } from "../input.ts";
import { type Io, printJson } from "../io.ts";

interface Json {
  json?: boolean;
}

export async function sessionCreate(
  io: Io,
  planPath: string,
  options: Json & { task?: string; mode?: string; review?: ReviewMode },
): Promise<number> {
  const settings = settingsOf(io);
  const preset = options.mode ?? settings.values.MAESTRO_EXECUTION_MODE;
  const executionMode = preset === "ask" ? null : oneOf("execution mode", executionModes, preset);
  const approved = await approvePlan(io, settings, planPath);
  const task = clean(options.task) ?? null;
  const { review } = options;
  const store = openStore(io, settings);
  let id: string;
  try {
    const { path: plan } = approved;
    const { knownBaseline } = await import("../../engine/baseline/plan-baseline.ts");
    const baseline = await knownBaseline({ ...io, store }, { plan, commands: commandsOf(approved.plan.phases) });
    id = createSession(store, { ...approved, task, executionMode, review, baseline, now: io.now() });
  } finally {
    store.close();
  }
  answer(io, options, { session_id: id }, `Created session ${id}`);
  return 0;
}

export interface TransitionOptions extends Json {
  userDecision?: boolean;
  reason?: string;
  handoff?: string;
}

export async function sessionTransition(
  io: Io,
  phase: string,
  to: string,
  options: TransitionOptions,
): Promise<number> {
  const status = oneOf("status", phaseStatuses, to);
  const settings = settingsOf(io);
  const source = options.handoff === undefined ? undefined : await readInput(io, options.handoff, options.handoff);
  withStore(io, settings, (store) => {
    const read = store.read();
    const dependents = read.state !== "open" || hasDependents(read.session, phase);
    const reason = clean(options.reason);
    movePhase(store, {
      phase,
      to: status,
      userDecision: options.userDecision ?? false,
      reason,
      needsReason: true,
      maxRetries: settings.values.MAESTRO_MAX_RETRIES,
      now: io.now(),
      ...moveByReport(
        { to: status, reason, report: source, dependents },
        { projectRoot: io.cwd, redact: redactorOf(io) },
      ),
    });
  });
  answer(io, options, { phase, status }, `Phase ${phase} is ${status.replace("_", " ")}`);
  return 0;
}

export interface FilesOptions extends Json {
  created?: string[];
  modified?: string[];
  deleted?: string[];
}

export function sessionFiles(io: Io, phase: string, options: FilesOptions): number {
  const [created = [], modified = [], deleted = []] = [options.created, options.modified, options.deleted].map(
    (paths) => paths?.map((path) => withoutDetours(stripControls(path))),
  );
  const count = created.length + modified.length + deleted.length;
  if (count === 0)
    throw new MaestroError("usage", "No files given", { hint: "Name them with --created, --modified or --deleted." });
  const outside = [...created, ...modified, ...deleted].find((path) => pathFault(path) !== undefined);
  if (outside !== undefined) {
    throw new MaestroError("path", `Not a path inside the project (got: ${outside})`, {
      hint: "Name files relative to the project.",
    });
  }
  withStore(io, settingsOf(io), (store) => addFiles(store, phase, { created, modified, deleted }));
  answer(
    io,
    options,
    { phase, files: count },
    `Recorded ${count} ${count === 1 ? "file" : "files"} for phase ${phase}`,
  );
  return 0;
}

export interface ErrorOptions extends Json {
  type: string;
  agent?: string;
  resolution: string;
}

export function sessionError(io: Io, phase: string, message: string, options: ErrorOptions): number {
  if (message.trim() === "") throw new MaestroError("usage", "The error message is empty");
  const error = {
    agent: normalizeAgentName(options.agent ?? ""),
    timestamp: io.now().toISOString(),
    type: oneOf("error type", errorTypes, options.type),
    message: stripControls(message),
    resolution: stripControls(options.resolution),
  };
  withStore(io, settingsOf(io), (store) => addError(store, phase, error));
  answer(io, options, { phase, type: error.type }, `Recorded an error for phase ${phase}`);
  return 0;
}

export function sessionNote(io: Io, text: string, options: Json & { phase?: string }): number {
  change(io, (session) => decideNote(session, stripControls(text), options.phase));
  answer(io, options, { noted: true }, "Noted");
  return 0;
}

export function sessionRequirement(io: Io, id: string, given: string, options: Json & { evidence?: string }): number {
  const verdict = oneOf("verdict", verdicts, given);
  const evidence = clean(options.evidence) ?? "";
  change(io, (session) => decideAnswer(session, { id, verdict, evidence }));
  answer(io, options, { requirement: id, verdict }, `Requirement ${id} is ${verdict.replace("_", " ")}`);
  return 0;
}

export function sessionMode(io: Io, mode: string, options: Json): number {
  const chosen = oneOf("execution mode", executionModes, mode);
  change(io, (session) => decideMode(session, chosen));
  answer(io, options, { execution_mode: chosen }, `The session runs in ${chosen} mode`);
  return 0;
}

function change(io: Io, decide: (session: Session) => SessionEvent[]): void {
  withStore(io, settingsOf(io), (store) => changeSession(store, decide));
}

function answer(io: Io, options: Json, value: object, line: string): void {
  if (options.json) printJson(io, value);
  else io.out(`${line}\n`);
}

/** Command line arguments may come from a model, so control characters are removed. */
function clean(text: string | undefined): string | undefined {
  return text === undefined ? undefined : stripControls(text);
}

function oneOf<Choice extends string>(what: string, choices: readonly Choice[], given: string): Choice {
  const wanted = given.trim().toLowerCase().replaceAll("-", "_");
  const found = choices.find((choice) => choice === wanted);
  if (found !== undefined) return found;
  throw new MaestroError("usage", `Unknown ${what} ${JSON.stringify(given)}`, {
    hint: `Use one of ${choices.join(", ")}.`,
  });
}
