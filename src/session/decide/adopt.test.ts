import { describe, expect, test } from "vitest";
import { begin, fails, move, phase, sessionOf } from "../../../test/support/sample-session.ts";
import { readView } from "../../views/record/read-view.ts";
import { renderSession } from "../../views/record/session-view.ts";
import { applyEvent } from "../fold.ts";
import type { Session } from "../session.ts";
import { judgeView } from "./adopt.ts";

const conflicts = [{ path: "src/a.ts", by: [] }];
const session = sessionOf(
  [phase("1")],
  [
    move(1, "1", "pending", "in_progress"),
    begin(1, "1"),
    ...fails(9, "1", "file_conflict", "src/a.ts", { code: "file_conflict", conflicts }),
  ],
);

function judged(text: string) {
  const view = readView(text);
  if (!view.ok) throw new Error(view.reason);
  return judgeView(session, session, view.record, 2);
}

describe("a view whose errors have codes in the journal", () => {
  test("is not an edit when it is unchanged", () => {
    expect(judged(renderSession(session))).toEqual({ event: null });
  });

  test("may be edited to resolve an error, which keeps its code and conflicts", () => {
    const edited = renderSession(session)
      .replace('resolution: "pending"', 'resolution: "by hand"')
      .replace("resolved: false", "resolved: true");
    const judgement = judged(edited);
    if (!("event" in judgement) || judgement.event === null) throw new Error(JSON.stringify(judgement));
    const ts = "2026-02-14T23:00:00.000Z";
    const after = applyEvent(structuredClone(session), { ...judgement.event, seq: session.seq + 1, ts }) as Session;
    expect(after.phases[0]?.errors).toEqual([
      expect.objectContaining({ code: "file_conflict", conflicts, resolution: "by hand", resolved: true }),
    ]);
  });
});
