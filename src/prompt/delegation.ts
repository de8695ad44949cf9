// The prompt of a native delegation: the caller's text after a header that names the phase, with what every agent is told. Pure. The header
// is read back when the agent returns.

import type { Session, SessionPhase } from "../session/session.ts";
import { contextChain } from "./context-chain.ts";
import { dataRule, promptLine } from "./data.ts";
import { projectRootHeader } from "./header.ts";

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
  protocols: { base: string; safety: string };
  /** A new random word, as in `buildPrompt`. */
  tag: string;
  /** The text that the caller wrote. */
  text: string;
}

/** A prompt that was built here before stays unchanged, unless its header names another agent, phase or session. */
export function delegationPrompt({ agent, work, projectRoot, protocols, tag, text }: DelegationPrompt): string {
  if (readHeader(text) !== undefined) return text.replace(header, () => `${headerLines(agent, work)}\n`);
  const parts = [
    headerLines(agent, work),
    projectRootHeader(projectRoot),
    protocols.base,
    protocols.safety,
    ...(work === null ? [] : context(work.session, work.phase, tag)),
    `# Task\n\n${text.trim()}`,
  ];
  return `${parts.map((part) => part.trim()).join("\n\n")}\n`;
}

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

function headerLines(agent: string, work: DelegationPrompt["work"]): string {
  if (work === null) return `Agent: ${agent}`;
  return `Agent: ${agent}\nPhase: ${promptLine(work.phase.id)}\nSession: ${promptLine(work.session.session_id)}`;
}

function context(session: Session, phase: SessionPhase, tag: string): string[] {
  const chain = contextChain(session, phase, tag);
  return chain.includes(tag) ? [dataRule(tag), chain] : [chain];
}
