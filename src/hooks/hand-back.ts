// AfterTool of invoke_agent: records the agent's report, whatever the model does with it. The header in the agent's prompt identifies
// the phase, even when several agents return at once.

import { join } from "node:path";
import { normalizeAgentName } from "../agents/names.ts";
import { MaestroError } from "../errors.ts";
import { type Handoff, readHandoff } from "../handoff/handoff.ts";
import { type DelegationHeader, namedPhase, readHeader } from "../prompt/delegation.ts";
import { makeRedactor } from "../secrets/redact.ts";
import { decideDelegationEnd } from "../session/decide/attempt.ts";
import { isExecuting } from "../session/decide/delegation.ts";
import { reportedWork } from "../session/decide/evidence.ts";
import { type AttemptVerdict, judgeHandoff, missingParts } from "../session/decide/judge-handoff.ts";
import { requireSession } from "../session/decide/operation.ts";
import { positionOf } from "../session/position.ts";
import { findPhase, hasDependents, type Session } from "../session/session.ts";
import { readEnvFile } from "../setting-layers.ts";
import { noteDelegation } from "../store/files/delegations.ts";
import { hashFiles } from "../store/files/project-files.ts";
import { nextLines, short } from "../views/record/brief.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { hasWorkspace, hookSettings, openHookProject, type Project, sessionOf } from "./project.ts";
import { storeOf } from "./recording.ts";
import { proceed, type Reply, withContext } from "./reply.ts";
import { commandLine, type Surroundings } from "./surroundings.ts";

export function recordHandback(input: HookInput, here: Surroundings): Reply {
  const call = recordOf(input.tool_input);
  const agent = normalizeAgentName(textValue(call.agent_name));
  const header = readHeader(textValue(call.prompt));
  const project = openHookProject(here);
  if (hasWorkspace(project)) {
    noteDelegation(project.location, here, { did: "end", agent, phase: header?.phase ?? null, ours: true });
  }
  const session = sessionOf(project);
  const lost = whyLost(session, textValue(call.prompt), header);
  if (lost !== undefined) return withContext("AfterTool", lost);
  if (session === undefined || header?.phase === undefined || session.session_id !== header.session) return proceed;
  if (findPhase(session, header.phase)?.status !== "in_progress") return proceed;
  const recorded = tryRecord(project, here, header.phase, resultText(input.tool_response));
  const said =
    "reason" in recorded
      ? unrecorded(header.phase, recorded.reason)
      : outcome(recorded.after, header.phase, recorded.verdict, here);
  return withContext("AfterTool", said);
}

/** Why a report of a phase cannot be recorded. The TechLead is told, so that the report is not lost silently. */
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
): ReturnType<typeof record> | { reason: string } {
  try {
    return record(project, here, phase, text);
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
): { verdict: AttemptVerdict; after: Session } {
  const store = storeOf(project, here);
  const redact = makeRedactor({ ...readEnvFile(join(here.projectRoot, ".env")), ...here.env });
  const verdict = store.update((current) => {
    const session = requireSession(current);
    const dependents = hasDependents(session, phase);
    const handoff = readHandoff(text, { format: "text", dependents });
    const judged = asEnded(judgeHandoff(handoff, dependents), handoff, text);
    const events = decideDelegationEnd(
      session,
      phase,
      {
        work: handoff.check.has_task_report ? reportedWork({ projectRoot: here.projectRoot, redact }, handoff) : null,
        shortfall:
          judged.kind === "success"
            ? undefined
            : { ...judged, message: redact(judged.message).slice(0, LONGEST_MESSAGE) },
        missing: handoff.check.error_type === null ? missingParts(handoff.check, dependents) : [],
      },
      { maxRetries: 0, now: here.clock(), hashes: (paths) => hashFiles(store.location.projectRoot, paths) },
    );
    return { events, result: judged };
  });
  store.close();
  return { verdict, after: requireSession(store.session) };
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
  const next = nextLines(session, positionOf(session)).join(" ");
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
