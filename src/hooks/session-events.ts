// The slow path of the hooks that report on the session: runs when fast-path.ts cannot answer.

import { closeSync, constants, fstatSync } from "node:fs";
import { normalizeAgentName } from "../agents/names.ts";
import type { Directory } from "../disk/contained.ts";
import { readFrom } from "../disk/durable.ts";
import { MaestroError } from "../errors.ts";
import { forgetDelegations, noteDelegation, runningDelegations } from "../store/files/delegations.ts";
import { HISTORY_FILE } from "../store/files/history-file.ts";
import { VIEW_FILE } from "../store/journal/journal-file.ts";
import { inState } from "../store/location.ts";
import { manifest } from "../store/workspace.ts";
import { type Checkpoint, journalMark, validCheckpoint } from "./checkpoint.ts";
import { commandName } from "./fast-path.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { hasWorkspace, openHookProject, type Project } from "./project.ts";
import { allow, proceed, type Reply, readyReply, turnReply, waitingReply } from "./reply.ts";
import { commandLine, type Surroundings } from "./surroundings.ts";

/** Modules that are loaded only when they are needed. */
export interface Rest {
  session: () => typeof import("./make-checkpoint.ts");
  status: () => typeof import("./status.ts");
  recording: () => typeof import("./recording.ts");
  adopting: () => typeof import("./adopting.ts");
}

/** SessionStart: creates the workspace before anything needs it, and reports an unfinished session. */
export function beginConversation(here: Surroundings, rest: Rest): Reply {
  if (here.attempt !== null) return proceed;
  const project = openHookProject(here);
  const isWhole = manifest.every((path) => inState(project.location, path, () => true) === true);
  if (!isWhole) rest.recording().makeWorkspace(project, here);
  const found = inState(project.location, ["state"], (state) => {
    forgetDelegations(state, here);
    return { known: known(state, here, rest) };
  });
  if (found === undefined) return proceed;
  if (found.known === undefined) return readyReply(project.location.shown);
  return waitingReply("problem" in found.known ? found.known.problem : found.known.waiting);
}

/** SessionEnd: archives a completed session, and adds a line about an unfinished one to the history. */
export function endConversation(here: Surroundings, rest: Rest): Reply {
  if (here.attempt !== null) return proceed;
  const project = openHookProject(here);
  const found = inState(project.location, ["state"], (state) => {
    forgetDelegations(state, here);
    const checkpoint = known(state, here, rest);
    if (checkpoint === undefined || "problem" in checkpoint) return undefined;
    return { ...checkpoint, noted: endsWith(state, HISTORY_FILE, checkpoint.facts) };
  });
  if (found === undefined) return proceed;
  const archived = found.status === "completed" ? rest.recording().archiveCompleted(project, here) : undefined;
  if (archived !== undefined) return { ...proceed, systemMessage: `Maestro: session ${archived} is archived.` };
  if (!found.noted) rest.recording().noteUnfinished(project, here);
  return proceed;
}

const MAX_PLANS = 5;

/** BeforeAgent: tells the model the session's state when a turn starts. Without a session it replies only to a Maestro command. */
export function beginTurn(input: HookInput, here: Surroundings, rest: Rest): Reply {
  if (here.attempt !== null) return proceed;
  const project = openHookProject(here);
  const found = inState(project.location, ["state"], (state) => {
    // Between two turns of a conversation none of its delegations is running.
    forgetDelegations(state, here);
    return known(state, here, rest);
  });
  const command = commandName.exec(textValue(input.prompt))?.[1];
  const told = found === undefined ? undefined : "problem" in found ? found.problem : found.brief;
  if (command === undefined) return turnReply(told ?? "");
  const { wholeStatus, settingsLines } = rest.status();
  const wantsAll = found !== undefined && !("problem" in found) && (command === "status" || command === "resume");
  const lines = wantsAll ? wholeStatus(project, here) : [told ?? noSession(project)];
  return turnReply([...lines, ...settingsLines(here), `Maestro's command line: ${commandLine(here)}`].join("\n"));
}

/** Also lists plans that could be executed. */
function noSession({ location }: Project): string {
  const names = inState(location, ["plans"], (directory) => directory.list()) ?? [];
  const plans = names.filter((name) => /-impl-plan(-v\d+)?\.md$/.test(name)).sort();
  const listed = plans.length === 0 ? "" : `\nPlans in ${location.shown}/plans: ${plans.slice(-MAX_PLANS).join(", ")}`;
  return `Maestro: no active session in this project.${listed}`;
}

/** PreCompress runs before nearly every request to the model, so it reports only when the journal has changed. */
export function preserve(here: Surroundings, rest: Rest): Reply {
  if (here.attempt !== null) return proceed;
  const reply = inState(openHookProject(here).location, ["state"], (state): Reply | undefined => {
    const journal = knownJournal(state, here, rest);
    if (journal === undefined || validCheckpoint(state, journal) !== undefined) return undefined;
    const made = rest.session().makeCheckpoint(state, journal, here);
    if (made === undefined) return undefined;
    return { ...proceed, systemMessage: `${made.brief} For more: maestro_session_read.`.replaceAll("\n", " ") };
  });
  return reply ?? proceed;
}

/** BeforeTool of invoke_agent for a foreign agent: counts it, because its report cannot be told from one of Maestro's agents. */
export function beginOther(input: HookInput, here: Surroundings): Reply {
  note("start", input, here);
  return allow;
}

export function endOther(input: HookInput, here: Surroundings): Reply {
  note("end", input, here);
  return proceed;
}

/** BeforeTool of complete_task: whether the result may be the report of one of Maestro's agents. */
export function isAwaited(here: Surroundings): boolean {
  const { ours, others, denied } = runningDelegations(openHookProject(here).location, here);
  return others === 0 && denied < ours.length;
}

/** Distinguishes a session that cannot be read (`problem`) from no session (undefined). */
function known(state: Directory, here: Surroundings, rest: Rest): Checkpoint | { problem: string } | undefined {
  try {
    const journal = knownJournal(state, here, rest);
    if (journal === undefined) return undefined;
    return validCheckpoint(state, journal) ?? rest.session().makeCheckpoint(state, journal, here);
  } catch (error) {
    if (!(error instanceof MaestroError) || error.code !== "parse_failed") throw error;
    here.log(error.message);
    return {
      problem: `Maestro: the session cannot be read: ${error.message}. For details: ${commandLine(here)} doctor`,
    };
  }
}

/** A view without a journal is imported while the conversation waits, so its size is limited. */
const MAX_ADOPTED_BYTES = 256 * 1024;

function knownJournal(state: Directory, here: Surroundings, { adopting }: Rest): string | undefined {
  const journal = journalMark(state);
  if (journal !== undefined || state.lstat(VIEW_FILE)?.isFile() !== true) return journal;
  if ((state.lstat(VIEW_FILE)?.size ?? 0) > MAX_ADOPTED_BYTES) {
    throw new MaestroError("parse_failed", `${VIEW_FILE} is too large for a hook`, {
      hint: 'Run "maestro status": it imports the session.',
    });
  }
  adopting().adoptView(openHookProject(here), here);
  return journalMark(state);
}

function endsWith(state: Directory, name: string, text: string): boolean {
  if (state.lstat(name)?.isFile() !== true) return false;
  const fd = state.open(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(fd);
    const ending = Buffer.from(`${text}\n`);
    return size >= ending.length && readFrom(fd, size - ending.length, size).equals(ending);
  } finally {
    closeSync(fd);
  }
}

function note(did: "start" | "end", input: HookInput, here: Surroundings): void {
  const project = openHookProject(here);
  if (!hasWorkspace(project)) return;
  const agent = normalizeAgentName(textValue(recordOf(input.tool_input).agent_name));
  noteDelegation(project.location, here, { did, agent, phase: null, ours: false });
}
