// BeforeTool of invoke_agent: checks that the agent is enabled and that the phase may start, adds the protocols to the prompt, and
// records the phase as in progress before the agent starts.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { normalizeAgentName } from "../agents/names.ts";
import { parseDisabled } from "../agents/resolve.ts";
import { randomHex } from "../disk/durable.ts";
import { MaestroError } from "../errors.ts";
import { type DelegationPrompt, delegationPrompt, namedPhase, readHeader } from "../prompt/delegation.ts";
import { ownedFiles } from "../session/decide/attempt.ts";
import { judgeDelegation } from "../session/decide/delegation.ts";
import { decideMode, decideMove } from "../session/decide/operation.ts";
import type { SessionEvent } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import type { Settings } from "../settings.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { delegationsElsewhere, noteDelegation, runningDelegations } from "../store/files/delegations.ts";
import { hashFiles } from "../store/files/project-files.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { hasWorkspace, hookSettings, openHookProject, type Project, sessionOf } from "./project.ts";
import { makeWorkspace, storeOf } from "./recording.ts";
import { allow, denyReply, type Reply } from "./reply.ts";
import { commandLine, type Surroundings } from "./surroundings.ts";

/** Called when `invoke_agent` names one of Maestro's agents. */
export function delegate(input: HookInput, here: Surroundings): Reply {
  if (here.attempt !== null)
    return denyReply("You are a specialist at work on one phase: do it yourself, do not delegate.");
  const call = recordOf(input.tool_input);
  const agent = normalizeAgentName(textValue(call.agent_name));
  const text = textValue(call.prompt);
  const claimed = tryClaim(agent, text, here);
  if ("reason" in claimed) return denyReply(claimed.reason);
  const prompt = delegationPrompt({
    agent,
    work: claimed.work,
    projectRoot: here.projectRoot,
    protocols: protocolsOf(here),
    tag: randomHex(8),
    text,
  });
  return { ...allow, hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: { ...call, prompt } } };
}

interface Request {
  agent: string;
  /** The caller's prompt. */
  text: string;
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

type Claim = { work: DelegationPrompt["work"] } | { reason: string };

/** Broken state or settings must not block an agent (C39): it starts without a phase, but still gets the protocols. */
function tryClaim(agent: string, text: string, here: Surroundings): Claim {
  try {
    const settings = hookSettings(here);
    const reason = whyUnavailable(agent, settings, here);
    return reason === undefined ? claim({ agent, text, settings, project: openHookProject(here), here }) : { reason };
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    here.log(error.message);
    return { work: null };
  }
}

/** The claimed work, or why it cannot be claimed. */
function claim(request: Request): Claim {
  const { agent, settings, project, here } = request;
  const note = (phase: string | null) =>
    noteDelegation(project.location, here, { did: "start", agent, phase, ours: true });
  const wanted = chooseWork(sessionOf(project), request);
  if ("reason" in wanted) return wanted;
  if (wanted.work === null) {
    // Without a workspace the hand-off gate cannot track delegations, and allows every report.
    if (hasWorkspace(project) || makeWorkspace(project, here)) note(null);
    return wanted;
  }
  const store = storeOf(project, here);
  // The calls of one turn run concurrently, so only under the lock is it certain which phases the others have claimed.
  const claimed = store.update((current) => {
    const chosen = chooseWork(current, request);
    if ("reason" in chosen || chosen.work === null) return { events: [], result: chosen };
    note(chosen.work.phase.id);
    return { events: startEvents(chosen.work, settings, here), result: chosen };
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

/** The events that start the phase; a phase that was interrupted in progress needs no move. */
function startEvents(
  { session, phase }: Work,
  { MAESTRO_MAX_RETRIES: maxRetries, MAESTRO_EXECUTION_MODE: preset }: Settings,
  { projectRoot, clock }: Surroundings,
): SessionEvent[] {
  // A preset mode becomes the mode of the whole session.
  const mode = session.execution_mode === null && preset !== "ask" ? decideMode(session, preset) : [];
  if (phase.status === "in_progress") return mode;
  const request = { phase: phase.id, to: "in_progress" as const, userDecision: false, maxRetries, now: clock() };
  return [...mode, ...decideMove(session, request, () => hashFiles(projectRoot, ownedFiles(phase)))];
}

type Work = NonNullable<DelegationPrompt["work"]>;

function protocolsOf({ extensionRoot }: Surroundings): { base: string; safety: string } {
  const read = (name: string) => readFileSync(join(extensionRoot, "protocols", `${name}.md`), "utf8");
  return { base: read("agent-base-protocol"), safety: read("filesystem-safety-protocol") };
}
