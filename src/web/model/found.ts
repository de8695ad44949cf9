// Search over the sessions of a project: titles, phases, agents and errors. Pure.

/** What the server sends about a session, and what a report contains about its own. */
export interface SessionSummary {
  id: string;
  title: string;
  status: string;
  /** The session that the project works on now. */
  isActive: boolean;
  created: string;
  updated: string;
  phases: { id: string; name: string; agent: string; status: string }[];
  errors: string[];
}

export interface FoundSession {
  session: SessionSummary;
  /** Where the text was found; empty without a search. */
  matches: string[];
}

const MAX_MATCHES = 3;

/** Every word has to be found somewhere in the session. */
export function findSessions(sessions: readonly SessionSummary[], query: string): FoundSession[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return sessions.map((session) => ({ session, matches: [] }));
  return sessions.flatMap((session) => {
    const texts = [
      session.title,
      session.id,
      ...session.phases.map(({ id, name, agent }) => `${id} ${name} (${agent})`),
      ...session.errors,
    ];
    const lower = texts.map((text) => text.toLowerCase());
    if (!words.every((word) => lower.some((text) => text.includes(word)))) return [];
    const matches = texts.filter((_, at) => at > 1 && words.some((word) => lower[at]?.includes(word)));
    return [{ session, matches: matches.slice(0, MAX_MATCHES) }];
  });
}
