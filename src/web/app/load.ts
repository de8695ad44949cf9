// Loads another session than the one that is shown, for a comparison: its records as far as they exist now.

import { applyEvent, type TimedEvent } from "../../session/fold.ts";
import type { Session } from "../../session/session.ts";
import { get } from "./api.ts";

export async function loadSession(id: string): Promise<Session | undefined> {
  const stop = new AbortController();
  const answer = await get(`/api/sessions/${encodeURIComponent(id)}/records?after=0`, stop.signal);
  if (!answer.ok || answer.body === null) return undefined;
  const reader = answer.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let session: Session | undefined;
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return session;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (/^event: (?:caught|end)$/m.test(block)) {
        stop.abort();
        return session;
      }
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined && !block.includes("event: "))
        session = applyEvent(session, JSON.parse(data) as TimedEvent);
    }
  }
}
