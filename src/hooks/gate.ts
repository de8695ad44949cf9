// The hand-off gate: sends an incomplete report back once and names the missing parts. BeforeTool of complete_task for native
// delegations; AfterAgent for a dispatched attempt, which ends its turn with the report.

import { checkHandoff } from "../handoff/handoff.ts";
import { readHeader } from "../prompt/delegation.ts";
import { lacks, missingParts } from "../session/decide/judge-handoff.ts";
import { findPhase, hasDependents, type Session } from "../session/session.ts";
import { noteDelegation, runningDelegations } from "../store/files/delegations.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { openHookProject, sessionOf } from "./project.ts";
import { allow, denyReply, proceed, type Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

export function judgeCompletion(input: HookInput, here: Surroundings): Reply {
  const { result } = recordOf(input.tool_input);
  // An agent of another extension may have a result of another type.
  if (typeof result !== "string") return allow;
  const project = openHookProject(here);
  const { location } = project;
  const running = runningDelegations(location, here);
  // While agents of other extensions also run, the report cannot be attributed to one of Maestro's.
  if (running.ours.length === 0 || running.others > 0 || running.denied >= running.ours.length) return allow;
  const session = sessionOf(project);
  const missing = missingIn(
    result,
    running.ours.some(({ phase }) => needsContext(session, phase ?? undefined)),
  );
  if (missing === undefined) return allow;
  noteDelegation(location, here, { did: "deny" });
  return denyReply(`${missing}. Call complete_task again with the whole report.`);
}

/** Checks the answers of attempts and delegated agents; the TechLead's own answers are not reports. */
export function judgeAnswer(input: HookInput, here: Surroundings): Reply {
  const header = readHeader(textValue(input.prompt));
  if (here.attempt === null && header === undefined) return proceed;
  const phase = here.attempt?.phase ?? header?.phase;
  const missing = missingIn(textValue(input.prompt_response), needsContext(sessionIfAny(here), phase));
  if (missing === undefined) return proceed;
  if (input.stop_hook_active === true) return { ...proceed, systemMessage: `Maestro: ${missing}` };
  // The CLI joins the answers of one turn without a line break.
  return denyReply(`${missing}. Begin your answer with an empty line and give the whole report again.`);
}

/** The Downstream Context is required when other phases wait for this one, and when that is unknown (C6). */
function needsContext(session: Session | undefined, phase: string | undefined): boolean {
  if (session === undefined || phase === undefined || findPhase(session, phase) === undefined) return true;
  return hasDependents(session, phase);
}

function missingIn(report: string, dependents: boolean): string | undefined {
  const missing = missingParts(checkHandoff(report, { format: "text", dependents }), dependents);
  const isFenced = /^[ \t]*(?:```|~~~)[\s\S]*Task Report/m.test(report);
  const fence = isFenced ? ". Text in a code fence does not count" : "";
  return missing.length === 0 ? undefined : `${lacks(missing)}${fence}`;
}

function sessionIfAny(here: Surroundings): Session | undefined {
  try {
    return sessionOf(openHookProject(here));
  } catch (error) {
    here.log(`session: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}
