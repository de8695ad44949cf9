// AfterTool of invoke_agent: records the agent's report, whatever the model does with it. The header in the agent's prompt identifies
// the phase, even when several agents return at once.

import { join } from "node:path";
import { normalizeAgentName } from "../agents/names.ts";
import { MaestroError } from "../errors.ts";
import { type Handoff, readHandoff } from "../handoff/handoff.ts";
import { recordedType } from "../handoff/output/error-type.ts";
import { type DelegationHeader, namedPhase, readHeader } from "../prompt/delegation.ts";
import { makeRedactor } from "../secrets/redact.ts";
import { type AttemptRecord, decideDelegationEnd, filesOf } from "../session/decide/attempt.ts";
import { isExecuting } from "../session/decide/delegation.ts";
import { type ReportedWork, reportedWork } from "../session/decide/evidence.ts";
import { type AttemptVerdict, judgeHandoff, missingParts, type Shortfall } from "../session/decide/judge-handoff.ts";
import { type FileLists, requirePhase, requireSession } from "../session/decide/operation.ts";
import type { AttemptOutcome } from "../session/events.ts";
import { positionOf } from "../session/position.ts";
import {
  findPhase,
  hasDependents,
  nativeRun,
  type OpenDelegation,
  openDelegations,
  type Session,
} from "../session/session.ts";
import { readEnvFile } from "../setting-layers.ts";
import { withDelivery } from "../store/delivery.ts";
import { openBatch } from "../store/files/batch.ts";
import { isThere } from "../store/files/declared-files.ts";
import { noteDelegation } from "../store/files/delegations.ts";
import { hashFiles } from "../store/files/project-files.ts";
import type { StateLocation } from "../store/location.ts";
import { nextLines, short } from "../views/record/brief.ts";
import type { Examined } from "./delegated-work.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { hasWorkspace, hookSettings, openHookProject, type Project, sessionOf } from "./project.ts";
import { storeOf } from "./recording.ts";
import { proceed, type Reply, withContext } from "./reply.ts";
import { commandLine, patient, type Surroundings } from "./surroundings.ts";

// Loaded only when a delegated phase returns; a separate file in dist/ (tools/build.js).
const delegatedWork = () => require("./delegated-work.ts") as typeof import("./delegated-work.ts");

/** A promise only when the start of the delegation was recorded as an attempt. */
export function recordHandback(input: HookInput, here: Surroundings): Reply | Promise<Reply> {
  const call = recordOf(input.tool_input);
  const agent = normalizeAgentName(textValue(call.agent_name));
  const header = readHeader(textValue(call.prompt));
  const project = openHookProject(here);
  // Noted last: until its end is recorded, the attempt must not look as if its conversation had died.
  const note = () => {
    if (!hasWorkspace(project)) return;
    noteDelegation(project.location, here, { did: "end", agent, phase: header?.phase ?? null, ours: true });
  };
  const back: HandBack = { prompt: textValue(call.prompt), header, text: resultText(input.tool_response) };
  const session = sessionOf(project);
  const delegation = session?.session_id === header?.session ? delegationOf(session, header, here) : undefined;
  if (delegation !== undefined) return withWork(project, patient(here), back, delegation).finally(note);
  try {
    return recordReport(project, here, back, undefined);
  } finally {
    note();
  }
}

interface HandBack {
  prompt: string;
  header: DelegationHeader | undefined;
  /** What the agent returned. */
  text: string;
}

/** The attempt that ends, and what is known about it beside its report. */
interface EndedAttempt extends OpenDelegation {
  examined: Examined;
}

/** The attempt that this conversation has delegated; undefined when its start was not recorded. */
function delegationOf(
  session: Session | undefined,
  header: DelegationHeader | undefined,
  here: Surroundings,
): OpenDelegation | undefined {
  const open = session === undefined ? [] : openDelegations(session).filter(({ phase }) => phase.id === header?.phase);
  return open.findLast(({ attempt }) => attempt.run === nativeRun(here.conversation));
}

async function withWork(
  project: Project,
  here: Surroundings,
  back: HandBack,
  delegation: OpenDelegation,
): Promise<Reply> {
  const store = storeOf(project, here);
  store.refresh();
  const examined = await delegatedWork().examineReturn(store, here, delegation);
  return recordReport(project, here, back, { ...delegation, examined });
}

function recordReport(project: Project, here: Surroundings, back: HandBack, ended: EndedAttempt | undefined): Reply {
  const { prompt, header, text } = back;
  const session = sessionOf(project);
  const lost = whyLost(session, prompt, header);
  const known = session !== undefined && session.session_id === header?.session ? session : undefined;
  const isAwaited = known !== undefined && findPhase(known, header?.phase ?? "")?.status === "in_progress";
  if (lost === undefined && !isAwaited && ended === undefined) return proceed;
  if (header?.phase === undefined) return lost === undefined ? proceed : withContext("AfterTool", lost);
  const recorded =
    isAwaited || ended !== undefined ? tryRecord(project, here, header.phase, text, ended) : { reason: "" };
  if (lost !== undefined) return withContext("AfterTool", lost);
  const said =
    "reason" in recorded
      ? unrecorded(header.phase, recorded.reason)
      : outcome(recorded.after, header.phase, recorded.verdict, here);
  return withContext("AfterTool", said);
}

/** Why a report of a phase cannot be recorded. The TechLead gets the reason, so that the report is not lost silently. */
function whyLost(
  session: Session | undefined,
  prompt: string,
  header: DelegationHeader | undefined,
): string | undefined {
  const named = header?.phase ?? namedPhase(prompt);
  const phase = session === undefined || named === undefined ? undefined : findPhase(session, named);
  if (phase === undefined || !isExecuting(session)) return undefined;
  if (header?.phase === undefined) {
    return unrecorded(phase.id, "its delegation was not recorded when it began");
  }
  if (session.session_id !== header.session) return undefined;
  if (phase.status === "in_progress") return undefined;
  return `Maestro has not recorded this report: phase ${phase.id} is ${phase.status.replace("_", " ")} already. Tell the user; maestro_progress {"action":"report"} notes it.`;
}

/** The agent has done the work, so the TechLead must be told when it cannot be recorded. */
function tryRecord(
  project: Project,
  here: Surroundings,
  phase: string,
  text: string,
  ended: EndedAttempt | undefined,
): ReturnType<typeof record> | { reason: string } {
  try {
    return record(project, here, phase, text, ended);
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    here.log(error.message);
    return { reason: error.message };
  }
}

function unrecorded(phase: string, why: string): string {
  return `Maestro could not record the report of phase ${phase}: ${why}. The phase is still in progress; record its end with maestro_session_write {"action":"update_phase"}.`;
}

function record(
  project: Project,
  here: Surroundings,
  phase: string,
  text: string,
  ended: EndedAttempt | undefined,
): { verdict: AttemptVerdict; after: Session } {
  const store = storeOf(project, here);
  const redact = makeRedactor({ ...readEnvFile(join(here.projectRoot, ".env")), ...here.env });
  const verdict = store.update((current) => {
    const session = requireSession(current);
    const dependents = hasDependents(session, phase);
    const handoff = readHandoff(text, { format: "text", dependents });
    const reported = handoff.check.has_task_report
      ? reportedWork({ projectRoot: here.projectRoot, redact }, handoff)
      : null;
    const said = asEnded(judgeHandoff(handoff, dependents), handoff, text);
    const claims = { reported: reported?.files };
    const { verdict: judged, warnings } = withDelivery(said, here.projectRoot, requirePhase(session, phase), claims);
    const shortfall =
      judged.kind === "success" ? undefined : { ...judged, message: redact(judged.message).slice(0, LONGEST_MESSAGE) };
    const events = decideDelegationEnd(
      session,
      phase,
      {
        attempt: ended === undefined ? undefined : attemptRecord(ended, reported, shortfall, here),
        work: reported === null ? null : { ...reported, files: filesToRecord(here.projectRoot, reported.files, ended) },
        warnings,
        shortfall,
        missing: handoff.check.error_type === null ? missingParts(handoff.check, dependents) : [],
      },
      { maxRetries: 0, now: here.clock(), hashes: (paths) => hashFiles(store.location.projectRoot, paths) },
    );
    if (ended !== undefined) keepAnswer(store.location, ended, redact(text), judged);
    return { events, result: judged };
  });
  store.close();
  return { verdict, after: requireSession(store.session) };
}

function attemptRecord(
  ended: EndedAttempt,
  reported: ReportedWork | null,
  shortfall: Shortfall | undefined,
  { clock, projectRoot }: Surroundings,
): AttemptRecord {
  const { attempt, examined } = ended;
  const outcome: AttemptOutcome =
    shortfall === undefined ? "success" : shortfall.errorType === "timeout" ? "timeout" : shortfall.kind;
  const finished = {
    attempt: attempt.attempt,
    outcome,
    exit_code: null,
    signal: null,
    duration_ms: Math.max(0, clock().getTime() - Date.parse(attempt.started)),
    usage: examined.usage,
    ...(shortfall === undefined
      ? {}
      : { reason: shortfall.reason, error_type: recordedType(shortfall.errorType), message: shortfall.message }),
  };
  return { finished, ...delegatedWork().delegationEnd(ended, examined, reported?.files ?? null, projectRoot) };
}

/**
 * The files that were found changed, and those of the report that may have changed unseen, for example because git ignores them: the report
 * of a file counts only if the file is there, that of a deletion only if it is not. How a found one changed is not the agent's to say.
 */
function filesToRecord(projectRoot: string, reported: FileLists, ended: EndedAttempt | undefined): FileLists {
  const work = ended?.examined.work;
  if (work == null || work.where === "shared") return reported;
  const found = filesOf(work.changes);
  const known = new Set(Object.values(found).flat());
  const also = (paths: readonly string[], there: boolean) =>
    paths.filter((path) => !known.has(path) && isThere(projectRoot, path) === there);
  return {
    created: [...found.created, ...also(reported.created, true)],
    modified: [...found.modified, ...also(reported.modified, true)],
    deleted: [...found.deleted, ...also(reported.deleted, false)],
  };
}

/** Keeps the agent's words where `maestro logs` finds those of every attempt. Written before the end is recorded, as an engine does. */
function keepAnswer(location: StateLocation, { attempt }: EndedAttempt, text: string, { kind }: AttemptVerdict): void {
  const batch = openBatch(location, attempt.batch);
  try {
    batch.writeResult(attempt.name, "json", `${JSON.stringify({ response: text })}\n`);
    batch.writeResult(attempt.name, "log", `Delegated in a conversation of Gemini CLI (${attempt.run}).\n`);
    batch.writeExitCode(attempt.name, kind === "success" ? 0 : 1);
    batch.removeBefore(attempt.name);
  } finally {
    batch.close();
  }
}

const LONGEST_MESSAGE = 10_000;
/** How the CLI reports that an agent was cut off. */
const ending =
  /^\s*Subagent '[^'\n]{0,200}' (?:failed\. Error:.{0,20000}|finished\.\s*Termination Reason:[ \t]*(?!GOAL)\w+)/s;

/** An agent that was cut off could not report: its failure is how it ended, in the CLI's words, not the missing report. */
function asEnded(verdict: AttemptVerdict, { check }: Handoff, text: string): AttemptVerdict {
  const said = ending.exec(text)?.[0].trim();
  if (verdict.kind === "success" || check.error_type === null || said === undefined) return verdict;
  const errorType = verdict.reason === "handoff_incomplete" ? check.error_type : verdict.errorType;
  return { ...verdict, errorType, message: said };
}

/** The context that the TechLead gets after the agent's result. */
function outcome(session: Session, id: string, verdict: AttemptVerdict, here: Surroundings): string {
  const phase = findPhase(session, id);
  const next = nextLines(session, positionOf(session), false).join(" ");
  if (verdict.kind !== "success") {
    const [used, all] = [phase?.retry_count ?? 0, hookSettings(here).MAESTRO_MAX_RETRIES];
    const then =
      used < all
        ? "Delegate it again with what to do differently."
        : "Its retries are used up: show the user what happened and ask; maestro_decide records retry, skip or abort.";
    return `Maestro recorded phase ${id} as failed (${used} of ${all} retries used): ${short(verdict.message, 300)}. ${then} ${next}`;
  }
  if (phase?.status === "completed") return `Maestro recorded phase ${id} as completed. ${next}`;
  return `Maestro recorded the report of phase ${id}. The plan has validation commands for it; run them now: ${commandLine(here)} verify ${id}`;
}

function resultText(response: unknown): string {
  const { llmContent, error } = recordOf(response);
  const parts = Array.isArray(llmContent) ? llmContent : [llmContent];
  const text = parts.map((part) => (typeof part === "string" ? part : textValue(recordOf(part).text))).join("\n");
  return text.trim() === "" ? textValue(recordOf(error).message) : text;
}
