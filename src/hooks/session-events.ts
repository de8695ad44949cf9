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
import { allow, denyReply, proceed, type Reply, summaryReply, turnReply, waitingReply } from "./reply.ts";
import { commandLine, patient, type Surroundings } from "./surroundings.ts";

/** Modules that are loaded only when they are needed. */
export interface Rest {
  session: () => typeof import("./make-checkpoint.ts");
  status: () => typeof import("./status.ts");
  recording: () => typeof import("./recording.ts");
  adopting: () => typeof import("./adopting.ts");
}

/** SessionStart: creates the workspace before anything needs it, and reports an unfinished session. */
export function beginConversation(here: Surroundings, rest: Rest): Reply | Promise<Reply> {
  if (here.attempt !== null) return proceed;
  const project = openHookProject(here);
  const isWhole = manifest.every((path) => inState(project.location, path, () => true) === true);
  if (!isWhole) rest.recording().makeWorkspace(project, here);
  const found = inState(project.location, ["state"], (state) => {
    forgetDelegations(state, here);
    return { known: known(state, here, rest) };
  });
  if (found === undefined) return proceed;
  if (found.known === undefined) return isWhole ? proceed : readyReply(project.location.shown);
  return withSettled(project, here, rest, found.known, (known) =>
    waitingReply("problem" in known ? known.problem : known.waiting),
  );
}

type Known = Checkpoint | { problem: string };

/** Records delegations as interrupted whose conversation has ended, before the session is described. */
function withSettled(
  project: Project,
  here: Surroundings,
  rest: Rest,
  checkpoint: Known,
  reply: (known: Known) => Reply,
): Reply | Promise<Reply> {
  if ("problem" in checkpoint || !checkpoint.open) return reply(checkpoint);
  return settle(project, patient(here), rest).then(() => {
    const after = inState(project.location, ["state"], (state) => ({ known: known(state, here, rest) }));
    return reply(after?.known ?? checkpoint);
  });
}

// Loaded only when a delegation has no recorded end; a separate file in dist/ (tools/build.js).
const delegatedWork = () => require("./delegated-work.ts") as typeof import("./delegated-work.ts");

async function settle(project: Project, here: Surroundings, rest: Rest): Promise<void> {
  try {
    const store = rest.recording().storeOf(project, here);
    store.refresh();
    await delegatedWork().settleLost(store, here);
    store.close();
  } catch (error) {
    // The delegations stay open, and the next process that may write records their end.
    if (!(error instanceof MaestroError)) throw error;
    here.log(error.message);
  }
}

/** Only once: without a session, the hooks of later conversations say nothing (C47). */
function readyReply(directory: string): Reply {
  return { ...proceed, systemMessage: `Maestro: the workspace ${directory} is ready.` };
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
/** The commands that write state, so that they stop when the workspace cannot be used. */
const orchestrating = ["orchestrate", "execute", "resume"];
/** The commands that delegate nothing. */
const agentless = ["status", "archive"];

/** BeforeAgent: gives the model the session's state when a turn starts. Without a session it replies only to a Maestro command. */
export function beginTurn(input: HookInput, here: Surroundings, rest: Rest): Reply | Promise<Reply> {
  if (here.attempt !== null) return proceed;
  const command = commandName.exec(textValue(input.prompt))?.[1];
  if (command !== undefined && orchestrating.includes(command)) {
    const problem = rest.recording().workspaceProblem(here);
    if (problem !== undefined) return denyReply(`Maestro: /maestro:${command} stops here. ${problem}`);
  }
  const project = openHookProject(here);
  const found = inState(project.location, ["state"], (state) => {
    // Between two turns of a conversation none of its delegations is running.
    forgetDelegations(state, here);
    return known(state, here, rest);
  });
  if (found === undefined) return turnOf(input, here, rest, project, undefined);
  return withSettled(project, here, rest, found, (known) => turnOf(input, here, rest, project, known));
}

function turnOf(input: HookInput, here: Surroundings, rest: Rest, project: Project, found: Known | undefined): Reply {
  const command = commandName.exec(textValue(input.prompt))?.[1];
  const told = found === undefined ? undefined : "problem" in found ? found.problem : found.brief;
  if (command === undefined) return turnReply(found !== undefined && "turn" in found ? found.turn : (told ?? ""));
  const { wholeStatus, settingsLines, offerLines, leadLines } = rest.status();
  const wantsAll = found !== undefined && !("problem" in found) && (command === "status" || command === "resume");
  const lines = wantsAll ? wholeStatus(project, here) : [told ?? noSession(project)];
  const broken = agentless.includes(command) ? [] : rest.adopting().brokenAgentLines(here);
  return turnReply(
    [
      ...leadLines(command, here),
      ...lines,
      ...settingsLines(here),
      ...broken,
      ...offerLines(command, here),
      `Maestro's command line: ${commandLine(here)}`,
    ].join("\n"),
  );
}

/** Also lists plans that could be executed. */
function noSession({ location }: Project): string {
  const names = inState(location, ["plans"], (directory) => directory.list()) ?? [];
  const plans = names.filter((name) => /-impl-plan(-v\d+)?\.md$/.test(name)).sort();
  const listed = plans.length === 0 ? "" : `\nPlans in ${location.shown}/plans: ${plans.slice(-MAX_PLANS).join(", ")}`;
  return `Maestro: no active session in this project.${listed}`;
}

/** PreCompress runs before nearly every request to the model, so it writes the checkpoint only when the journal has changed. */
export function preserve(here: Surroundings, rest: Rest): Reply {
  if (here.attempt !== null) return proceed;
  const reply = inState(openHookProject(here).location, ["state"], (state): Reply | undefined => {
    const journal = knownJournal(state, here, rest);
    if (journal === undefined) return undefined;
    const checkpoint = validCheckpoint(state, journal) ?? rest.session().makeCheckpoint(state, journal, here);
    return checkpoint === undefined ? undefined : summaryReply(checkpoint.brief);
  });
  return reply ?? proceed;
}

/** BeforeTool of invoke_agent for a foreign agent: counts it, because its report cannot be distinguished from one of Maestro's agents. */
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
function known(state: Directory, here: Surroundings, rest: Rest): Known | undefined {
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
