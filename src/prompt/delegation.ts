// The prompt of a native delegation: the phase as the plan has it, with the texts for every agent, and the caller's text as notes. Pure. The
// header is read back when the agent returns.

import type { Protocols } from "../agents/protocols.ts";
import type { Session, SessionPhase } from "../session/session.ts";
import { contextChain } from "./context-chain.ts";
import { dataRule, promptLine } from "./data.ts";
import { changedCriteria, userGuidance } from "./guidance.ts";
import { projectRootHeader } from "./header.ts";
import { previousAttempts } from "./previous-attempts.ts";
import { protocolsFor } from "./protocols.ts";
import { taskText } from "./task.ts";

export interface DelegationHeader {
  agent: string;
  /** Absent for work outside a plan. */
  phase?: string;
  session?: string;
}

export interface DelegationPrompt {
  agent: string;
  work: { session: Session; phase: SessionPhase } | null;
  projectRoot: string;
  protocols: Protocols;
  /** A new random word, as in `buildPrompt`. */
  tag: string;
  /** The text that the caller wrote. */
  text: string;
  maxRetries: number;
  /** The part for a reviewer about the session's work; empty for other agents. */
  evidence?: string;
}

/** A prompt that was built here before stays unchanged, unless its header names another agent, phase or session. */
export function delegationPrompt(asked: DelegationPrompt): string {
  const { agent, work, projectRoot, protocols, text, evidence = "" } = asked;
  if (readHeader(text) !== undefined) {
    const known = text.replace(header, () => `${headerLines(agent, work)}\n`);
    return [known, ...decidedSince(asked).map((part) => `${part}\n`)].join("\n");
  }
  const parts = [
    headerLines(agent, work),
    projectRootHeader(projectRoot),
    ...protocolsFor(agent, protocols),
    ...(work === null ? [`# Task\n\n${text.trim()}`] : workParts(work, asked)),
    ...(evidence === "" ? [] : [evidence]),
  ];
  return `${parts.map((part) => part.trim()).join("\n\n")}\n`;
}

/** The user may have decided on a retry since the prompt was built. */
function decidedSince({ work, text }: DelegationPrompt): string[] {
  if (work === null) return [];
  return [userGuidance(work.phase), changedCriteria(work.phase)].filter((part) => part !== "" && !text.includes(part));
}

function workParts({ session, phase }: NonNullable<DelegationPrompt["work"]>, asked: DelegationPrompt): string[] {
  const { tag, text, maxRetries } = asked;
  const others = [previousAttempts(phase, maxRetries, tag), contextChain(session, phase, tag)];
  const notes = text.replace(phaseLine, "").trim();
  const parts = [
    others.some((part) => part.includes(tag)) ? dataRule(tag) : "",
    ...others,
    taskText(session, phase, false),
    notes === "" ? "" : `# Notes from the lead\n\n${notes}`,
    userGuidance(phase),
  ];
  return parts.filter((part) => part !== "");
}

/** The first line, if it names the phase and says nothing else. */
const phaseLine = /^\s*Phase: *[\w.-]{1,64} *(?:\n|$)/i;

const header = /^Agent: ([\w-]{1,64})\n(?:Phase: ([^\n]{1,64})\nSession: ([^\n]{1,200})\n)?(?=\nPROJECT ROOT: )/;

export function readHeader(prompt: string): DelegationHeader | undefined {
  const [, agent, phase, session] = header.exec(prompt) ?? [];
  if (agent === undefined) return undefined;
  return phase === undefined || session === undefined ? { agent } : { agent, phase, session };
}

/** The phase named after `Phase:` at the beginning of a line. */
export function namedPhase(text: string): string | undefined {
  const named = /^[ \t*_>#-]{0,8}Phase:[ \t*_"'`#]{0,8}([A-Za-z0-9][A-Za-z0-9._-]{0,63})/im.exec(text)?.[1];
  // "Phase: 3." ends a sentence.
  return named?.replace(/[._-]+$/, "");
}

export function headerLines(agent: string, work: DelegationPrompt["work"]): string {
  if (work === null) return `Agent: ${agent}`;
  return `Agent: ${agent}\nPhase: ${promptLine(work.phase.id)}\nSession: ${promptLine(work.session.session_id)}`;
}
