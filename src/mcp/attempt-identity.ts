// Which attempt a server belongs to, if its client is a dispatched agent.

/** From the variables that the engine sets; the agents of a batch without a session have no phase. */
export interface AttemptIdentity {
  agent: string;
  phase: string | undefined;
  session: string | undefined;
  number: string | undefined;
}

export function attemptIn(env: Readonly<Record<string, string | undefined>>): AttemptIdentity | null {
  const [agent, phase, session, number] = [
    env.MAESTRO_AGENT,
    env.MAESTRO_PHASE,
    env.MAESTRO_SESSION,
    env.MAESTRO_ATTEMPT,
  ].map((value) => value?.trim() || undefined);
  return agent === undefined ? null : { agent, phase, session, number };
}
