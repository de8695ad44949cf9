import { describe, expect, test } from "vitest";
import { frozenPhase, sessionAfter } from "../../test/support/session.ts";
import { MaestroError } from "../errors.ts";
import { decideMove, noSession } from "../session/decide/operation.ts";
import { moveByReport } from "../session/decide/report-move.ts";
import { acceptedOpen } from "../session/decide/requirement.ts";
import { requireReview } from "../session/decide/review/decide-review.ts";
import { refuseSecond } from "../store/operations.ts";
import { failureOf } from "./failure.ts";

const thrown = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
};

describe("the answer to a failed call (X283)", () => {
  test("has the code, the message and the hint of the error", () => {
    expect(failureOf(new MaestroError("conflict", "No.", { hint: "Wait." }))).toEqual({
      error: "conflict",
      message: "No.",
      hint: "Wait.",
    });
  });

  test("has the system's reason for a system error (X267)", () => {
    const error = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    expect(failureOf(error)).toEqual({ error: "io", message: "no space left on device (ENOSPC)" });
  });

  test("calls an unexpected error a defect, without its stack", () => {
    const failure = failureOf(new TypeError("x is not a function"));
    expect(failure).toMatchObject({ error: "internal", message: expect.stringContaining("x is not a function") });
    expect(JSON.stringify(failure)).not.toContain("failure.test.ts");
  });

  const session = sessionAfter([frozenPhase("1")]);
  const unanswered = { ...session, requirements: [{ id: "R1", text: "It works." }] };
  const move = { phase: "1", to: "skipped", userDecision: false, maxRetries: 0, now: new Date(0) } as const;
  test.each<[string, () => unknown]>([
    ["a missing decision", () => decideMove(session, move, () => ({}))],
    ["no session", () => raise(noSession())],
    ["a second session", () => refuseSecond(session)],
    ["a requirement that is not met", () => acceptedOpen(unanswered, undefined, "complete the session")],
    ["a review that is not open", () => requireReview(session, "batch-1")],
    [
      "a report without its sections",
      () =>
        moveByReport(
          { to: "completed", reason: undefined, report: "Done.", dependents: false },
          { projectRoot: "/", redact: (text) => text },
        ),
    ],
  ])("names tools, not command-line options: %s", (_, work) => {
    const { hint = "" } = failureOf(thrown(work));
    expect(hint).not.toBe("");
    expect(hint).not.toMatch(/--\w|"maestro (session|status|handoff|approve|retry)/);
  });
});

function raise(error: Error): never {
  throw error;
}
