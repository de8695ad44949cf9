// The delegation prompt: all instructions for an agent, in one text. Pure; only this file decides the order of its parts.

import type { Protocols } from "../agents/protocols.ts";
import type { Session, SessionPhase } from "../session/session.ts";
import { contextChain } from "./context-chain.ts";
import { dataRule, promptLine } from "./data.ts";
import { userGuidance } from "./guidance.ts";
import { withProjectRoot } from "./header.ts";
import { previousAttempts } from "./previous-attempts.ts";
import { protocolsFor } from "./protocols.ts";
import { taskText } from "./task.ts";

export interface PromptInput {
  /** Absolute. */
  projectRoot: string;
  agent: string;
  /** Protocols and role: `rolePrompt`, without secrets. */
  role: string;
  session: Session;
  phase: SessionPhase;
  maxRetries: number;
  /** A new random word for every prompt, 8 to 64 letters and digits: it delimits text from others. */
  tag: string;
  /** Removes secrets. Each part is searched by itself, because most of a prompt is the role, which is the same in every prompt of an agent. */
  redact: (text: string) => string;
}

/** What all prompts of an agent have in common. `protocols`: the two texts of `protocols/`. */
export function rolePrompt(agent: { name: string; body: string }, protocols: Protocols): string {
  return joined([...protocolsFor(agent.name, protocols), `# Role: ${agent.name}\n\n${agent.body.trim()}`]);
}

export function buildPrompt(input: PromptInput): string {
  const { projectRoot, agent, role, session, phase, maxRetries, tag, redact } = input;
  const head = `Agent: ${agent}\nPhase: ${promptLine(phase.id)}\nSession: ${promptLine(session.session_id)}`;
  const task = [
    taskText(session, phase, true),
    userGuidance(phase),
    ...wordsOfOthers(previousAttempts(phase, maxRetries, tag), contextChain(session, phase, tag), tag),
  ];
  return `${withProjectRoot(redact(projectRoot), joined([redact(head), role, redact(joined(task))]))}\n`;
}

function joined(parts: readonly string[]): string {
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The rule about the tags comes before the first tag, and only if there is one. */
function wordsOfOthers(attempts: string, context: string, tag: string): string[] {
  const parts = [attempts, context].filter((part) => part !== "");
  return parts.some((part) => part.includes(tag)) ? [dataRule(tag), ...parts] : parts;
}
