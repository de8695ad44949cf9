// BeforeTool of invoke_agent: checks that the agent is enabled and that the phase may start, adds the protocols to the prompt, and
// records the attempt, and the state of the project, before the agent starts.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { normalizeAgentName } from "../agents/names.ts";
import { readProtocols } from "../agents/protocols.ts";
import { parseDisabled } from "../agents/resolve.ts";
import { randomHex } from "../disk/random.ts";
import { MaestroError } from "../errors.ts";
import { type DelegationPrompt, delegationPrompt, namedPhase, readHeader } from "../prompt/delegation.ts";
import { decideStart, nextAttempt } from "../session/decide/attempt.ts";
import { judgeDelegation } from "../session/decide/delegation.ts";
import { decideMode } from "../session/decide/operation.ts";
import type { SessionEvent } from "../session/events.ts";
import { NATIVE, nativeRun, type Session } from "../session/session.ts";
import type { Settings } from "../settings.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { delegationsElsewhere, noteDelegation, runningDelegations } from "../store/files/delegations.ts";
import { hashFiles } from "../store/files/project-files.ts";
import type { SessionStore } from "../store/session-store.ts";
import { tryHiding } from "../store/workspace.ts";
import { sessionWork } from "../views/work.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { hasWorkspace, hookSettings, openHookProject, type Project, sessionOf } from "./project.ts";
import { makeWorkspace, storeOf } from "./recording.ts";
import { allow, denyReply, type Reply } from "./reply.ts";
import { commandLine, patient, type Surroundings } from "./surroundings.ts";

// Loaded only when a phase is delegated; a separate file in dist/ (tools/build.js).
const delegatedWork = () => require("./delegated-work.ts") as typeof import("./delegated-work.ts");

/** Called when `invoke_agent` names one of Maestro's agents. A promise only for the reviewer, and when a phase of the session is delegated. */
export function delegate(input: HookInput, here: Surroundings): Reply | Promise<Reply> {
  if (here.attempt !== null)
    return denyReply("You are a specialist at work on one phase: do it yourself, do not delegate.");
  const call = recordOf(input.tool_input);
  const agent = normalizeAgentName(textValue(call.agent_name));
  const text = textValue(call.prompt);
  const answer = (evidence: string) => answerCall({ call, agent, text, evidence }, input, here);
  return agent === REVIEWER ? evidenceFor(here).then(answer) : answer("");
}

/** As in src/engine/delegated/review-work.ts, which is loaded only for this agent. */
const REVIEWER = "code-reviewer";

/** What the session changed, for its reviewer; empty without a session that changed anything, or when it cannot be read. */
async function evidenceFor(here: Surroundings): Promise<string> {
  try {
    const project = openHookProject(here);
    const session = sessionOf(project);
    if (session === undefined || sessionWork(session).length === 0) return "";
    return await delegatedWork().evidenceOf(project, session, here, randomHex(8));
  } catch (error) {
    here.log(error instanceof Error ? error.message : String(error));
    return "";
  }
}

interface Call {
  call: HookInput;
  agent: string;
  text: string;
  evidence: string;
}

function answerCall({ call, agent, text, evidence }: Call, input: HookInput, here: Surroundings) {
  const protocols = readProtocols(here.extensionRoot, here.programRoot);
  const given = { agent, projectRoot: here.projectRoot, protocols, tag: randomHex(8), text, evidence };
  const promptFor: Request["promptFor"] = (work, maxRetries = 0) => delegationPrompt({ ...given, work, maxRetries });
  const claimed = tryClaim(agent, text, promptFor, here);
  if ("reason" in claimed) return denyReply(claimed.reason);
  const prompt = claimed.started?.prompt ?? promptFor(claimed.work);
  const reply = { ...allow, hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: { ...call, prompt } } };
  return claimed.started === undefined ? reply : begun(claimed.started, input, patient(here)).then(() => reply);
}

interface Started {
  store: SessionStore;
  prompt: string;
  phase: string;
  attempt: number;
}

/** The delegation is recorded, so the agent may start whatever happens here. */
async function begun({ store, phase, attempt }: Started, input: HookInput, here: Surroundings): Promise<void> {
  try {
    await delegatedWork().beginWork(store, here, { phase, attempt }, transcriptsOf(input, here));
  } catch (error) {
    here.log(error instanceof Error ? error.message : String(error));
  }
}

/** Where Gemini CLI keeps the transcripts of the agents of this conversation: beside its own transcript. */
function transcriptsOf(input: HookInput, { conversation }: Surroundings): string | null {
  const own = textValue(input.transcript_path);
  return isAbsolute(own) ? join(dirname(own), conversation) : null;
}

interface Request {
  agent: string;
  /** The caller's prompt. */
  text: string;
  promptFor: (work: DelegationPrompt["work"], maxRetries?: number) => string;
  settings: Settings;
  project: Project;
  here: Surroundings;
}

function whyUnavailable(agent: string, settings: Settings, { extensionRoot }: Surroundings): string | undefined {
  if (settings.MAESTRO_DISABLED_AGENTS === "") return undefined;
  const files = readdirSync(join(extensionRoot, "agents"));
  const names = files.flatMap((file) => /^([a-z0-9-]+)\.md$/.exec(file)?.[1] ?? []).sort();
  const { disabled } = parseDisabled(settings.MAESTRO_DISABLED_AGENTS, names);
  if (!disabled.includes(agent)) return undefined;
  const available = names.filter((name) => !disabled.includes(name));
  return `Maestro: agent ${agent} is disabled by MAESTRO_DISABLED_AGENTS. Available agents: ${available.join(", ")}.`;
}

type Claim = { work: DelegationPrompt["work"]; started?: Started } | { reason: string };

/** Broken state or settings must not block an agent (C39): it starts without a phase, but still gets the protocols. */
function tryClaim(agent: string, text: string, promptFor: Request["promptFor"], here: Surroundings): Claim {
  try {
    const settings = hookSettings(here);
    const reason = whyUnavailable(agent, settings, here);
    if (reason !== undefined) return { reason };
    return claim({ agent, text, promptFor, settings, project: openHookProject(here), here });
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    here.log(error.message);
    return { work: null };
  }
}

/** The claimed work, or why it cannot be claimed. */
function claim(request: Request): Claim {
  const { agent, project, here } = request;
  const note = (phase: string | null) =>
    noteDelegation(project.location, here, { did: "start", agent, phase, ours: true });
  const wanted = chooseWork(sessionOf(project), request);
  if ("reason" in wanted) return wanted;
  if (wanted.work === null) {
    // Without a workspace the hand-off gate cannot track delegations, and allows every report.
    if (hasWorkspace(project) || makeWorkspace(project, here)) {
      tryHiding(project.location, here.log);
      note(null);
    }
    return wanted;
  }
  // Without the lock the agent would start without a phase, so waiting longer is worth it.
  const store = storeOf(project, patient(here));
  // The calls of one turn run concurrently, so only under the lock is it certain which phases the others have claimed.
  const claimed = store.update((current): { events: SessionEvent[]; result: Claim } => {
    const chosen = chooseWork(current, request);
    if ("reason" in chosen || chosen.work === null) return { events: [], result: chosen };
    const { phase } = chosen.work;
    note(phase.id);
    const prompt = request.promptFor(chosen.work, request.settings.MAESTRO_MAX_RETRIES);
    const { attempt } = nextAttempt(phase);
    const events = startEvents(chosen.work, request, prompt);
    return { events, result: { ...chosen, started: { store, prompt, phase: phase.id, attempt } } };
  });
  store.close();
  return claimed;
}

/**
 * A model requests all delegations of one answer at once and continues when they have ended. An older delegation without an end was
 * therefore declined by the user or a policy, and never started.
 */
const SAME_TURN_MS = 10_000;

/** The phases being worked on in this answer of the model, or in another conversation. */
function runningPhases({ location }: Project, here: Surroundings): Set<string> {
  const since = new Date(here.clock().getTime() - SAME_TURN_MS).toISOString();
  const own = runningDelegations(location, here).ours.filter(({ at }) => at >= since);
  return new Set([...own, ...delegationsElsewhere(location, here)].flatMap(({ phase }) => phase ?? []));
}

function chooseWork(session: Session | undefined, { agent, text, settings, project, here }: Request): Claim {
  const preset = settings.MAESTRO_EXECUTION_MODE;
  const running = runningPhases(project, here);
  const verdict = judgeDelegation(session, {
    agent,
    phase: readHeader(text)?.phase ?? namedPhase(text),
    mode: session?.execution_mode ?? (preset === "ask" ? null : preset),
    running,
    maxRetries: settings.MAESTRO_MAX_RETRIES,
  });
  if (verdict.kind === "refused") return verdict;
  if (verdict.kind === "outside" || session === undefined) return { work: null };
  const engine = runningEngine(project.location);
  if (engine === undefined) return { work: { session, phase: verdict.phase } };
  return {
    reason: `Maestro: an engine (process ${engine.pid}) is running this session. Wait for it: maestro_progress {"action":"summary"} shows its progress, and ${commandLine(here)} stop stops it.`,
  };
}

/** The events that start the attempt, and the phase if it is not in progress. */
function startEvents({ session, phase }: Work, { agent, settings, here }: Request, prompt: string): SessionEvent[] {
  const { MAESTRO_MAX_RETRIES: maxRetries, MAESTRO_EXECUTION_MODE: preset } = settings;
  // A preset mode becomes the mode of the whole session.
  const mode = session.execution_mode === null && preset !== "ask" ? decideMode(session, preset) : [];
  const start = {
    run: nativeRun(here.conversation),
    runtime: NATIVE,
    model: null,
    batch: session.session_id,
    prompt_bytes: Buffer.byteLength(prompt),
    timeout_ms: timeoutOf(agent, here),
  };
  const hashes = (paths: readonly string[]) => hashFiles(here.projectRoot, paths);
  return [...mode, ...decideStart(session, phase.id, start, { maxRetries, now: here.clock(), hashes }, agent)];
}

type Work = NonNullable<DelegationPrompt["work"]>;

/** When Gemini CLI stops the agent: after the time in its front matter, or after its own default. */
function timeoutOf(agent: string, { extensionRoot }: Surroundings): number {
  const minutes = /^timeout_mins: *(\d{1,4})$/m.exec(
    readFileSync(join(extensionRoot, "agents", `${agent}.md`), "utf8"),
  );
  return Number(minutes?.[1] ?? DEFAULT_TIMEOUT_MINUTES) * 60_000;
}

const DEFAULT_TIMEOUT_MINUTES = 10;
