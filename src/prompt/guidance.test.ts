import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../test/support/session.ts";
import type { EventOf, SessionEvent } from "../session/events.ts";
import { answered } from "../session/retry.ts";
import { findPhase, type SessionPhase } from "../session/session.ts";
import { changedCriteria, userGuidance } from "./guidance.ts";

const failed = [moved("1", "pending", "in_progress"), moved("1", "in_progress", "failed")] as const;
const retried = (over: Partial<EventOf<"phase.moved">>) =>
  ({ ...moved("1", "failed", "in_progress"), user_decision: true, ...over }) as SessionEvent;
const again = moved("1", "in_progress", "failed");
const automatic = { ...moved("1", "failed", "in_progress"), reason: "automatic retry" } as SessionEvent;

function phaseAfter(...events: SessionEvent[]): SessionPhase {
  return findPhase(sessionAfter([frozenPhase("1")], ...failed, ...events), "1") as SessionPhase;
}

describe("what the user wrote for the next attempt (M172)", () => {
  test("has a heading of its own, the guidance, then the reason", () => {
    expect(userGuidance(phaseAfter(retried({ guidance: "Keep the API.", reason: "too broad" })))).toMatch(
      /^# Guidance from the user\n\nThe user looked at .*\n\nKeep the API\.\n\nWhy the user decided on this retry: too broad$/,
    );
  });

  test("is nothing without a decision, and without words of the user", () => {
    expect(userGuidance(phaseAfter())).toBe("");
    expect(userGuidance(phaseAfter(automatic))).toBe("");
    for (const reason of [...Object.values(answered), " "])
      expect(userGuidance(phaseAfter(retried({ reason })))).toBe("");
  });

  test("stays for automatic retries and for decisions without guidance; the reason is that of the last decision", () => {
    const first = retried({ guidance: "Keep the API.", reason: "too broad" });
    expect(userGuidance(phaseAfter(first, again, automatic))).toContain("Keep the API.");
    const later = userGuidance(phaseAfter(first, again, retried({ reason: "once more" })));
    expect(later).toContain("Keep the API.");
    expect(later).toContain("once more");
    expect(later).not.toContain("too broad");
    const other = userGuidance(phaseAfter(first, again, retried({ guidance: "Drop the API." })));
    expect(other).toContain("Drop the API.");
    expect(other).not.toContain("Keep the API.");
  });

  test("has no control or hidden characters, and a limit", () => {
    const text = userGuidance(phaseAfter(retried({ guidance: `a\u001b[31mb\u202ec${"x".repeat(50_000)}` })));
    expect(text).toContain("\n\nabcx");
    expect(text.length).toBeLessThan(11_000);
  });
});

describe("criteria that the user has changed", () => {
  test("are listed, one entry each", () => {
    expect(changedCriteria(phaseAfter(retried({ criteria: ["it\ncompiles", "it runs"] })))).toMatch(
      /^# Validation criteria\n\nThe user has changed them\. .*\n\n- it\n {2}compiles\n- it runs$/,
    );
  });

  test("are nothing when the plan's criteria hold", () => {
    expect(changedCriteria(phaseAfter(retried({ guidance: "x" })))).toBe("");
  });
});
