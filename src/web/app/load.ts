// Loads another session than the one that is shown, for a comparison: its records as far as they exist now.

import { applyEvent, type TimedEvent } from "../../session/fold.ts";
import type { Session } from "../../session/session.ts";
import { get } from "./api.ts";
import { readEvents } from "./events.ts";

export async function loadSession(id: string): Promise<Session | undefined> {
  const answer = await get(`/api/sessions/${encodeURIComponent(id)}/records?after=0`);
  if (!answer.ok || answer.body === null) return undefined;
  let session: Session | undefined;
  await readEvents(answer.body, ({ kind, data }) => {
    if (kind === "message" && data !== "") session = applyEvent(session, JSON.parse(data) as TimedEvent);
    return kind === "caught" || kind === "end";
  });
  return session;
}
