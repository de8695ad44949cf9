import { describe, expect, test } from "vitest";
import { begin, eventsOf, fails, move, phase, runs, type Timed } from "../../test/support/sample-session.ts";
import { applyEvent } from "../session/fold.ts";
import type { Session } from "../session/session.ts";
import { News } from "./news.ts";

/** The news after a server has read the journal, and the session. */
function read(timed: readonly Timed[], news = new News(), phases = [phase("1"), phase("2", { agent: "tester" })]) {
  let session: Session | undefined;
  for (const event of eventsOf(phases, timed)) {
    session = applyEvent(session, event);
    news.note(event, session);
  }
  return { news, session: session as Session };
}

const lines = (news: News, seq: number) => news.after(seq).map(({ line }) => line);

describe("news for a conversation", () => {
  test("is one line per event: starts, ends, retries, waits for quota, and nothing of bookkeeping (C43)", () => {
    const quota = { type: "quota.hit", phase: "2", wait_ms: 1, until: "2026-02-14T23:00:00.000Z", slots: 1 } as const;
    const { news } = read([
      ...runs(1, 61, "1"),
      move(2, "2", "pending", "in_progress"),
      begin(2, "2", 1, { agent: "tester" }),
      ...fails(5, "2", "runtime", "the first line\nthe second"),
      move(5, "2", "failed", "in_progress"),
      begin(6, "2", 2, { agent: "tester" }),
      [7, quota],
      [90, { type: "session.status_set", status: "interrupted" }],
    ] as Timed[]);
    expect(lines(news, 0)).toEqual([
      "phase 1 started (coder)",
      "phase 2 started (tester)",
      "phase 2 Phase 2 failed: the first line the second",
      "phase 2 Phase 2 is retried",
      "phase 2: attempt 2 started (tester)",
      expect.stringMatching(/^the provider rejects requests; the run waits until \d\d:\d\d:\d\d$/),
      expect.stringMatching(/^phase 1 Phase 1 completed in 1 min 0 s/),
      "the session is interrupted",
    ]);
    const ended = news.after(0).flatMap((item) => item.ended ?? []);
    expect(ended).toEqual([
      { phase: "2", as: "failed" },
      { phase: "1", as: "completed" },
    ]);
  });

  test("begins where the conversation first saw the session, and continues after what it has reported", () => {
    const { news, session } = read(runs(1, 2, "1"));
    expect(news.begin(session)).toBe(session.seq);
    news.told(session.seq + 3);
    news.told(session.seq + 1);
    expect(news.begin(session)).toBe(session.seq + 3);
  });

  test("is the same after the journal was read again, and begins anew with another session", () => {
    const { news, session } = read(runs(1, 2, "1"));
    news.begin(session);
    const before = lines(news, 0);
    read(runs(1, 2, "1"), news);
    expect(lines(news, 0)).toEqual(before);
    expect(news.begin({ ...session, seq: 99 })).toBe(session.seq);
    const other = eventsOf([phase("1")], [], "Other");
    const [created] = other.map((event) => ({ ...event, session_id: "2026-02-15-other" }));
    news.note(created as never, applyEvent(undefined, created as never));
    expect(lines(news, 0)).toEqual([]);
    expect(news.begin({ ...session, seq: 99 })).toBe(99);
  });
});
