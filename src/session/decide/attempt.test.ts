import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../../test/support/session.ts";
import { emptyContext } from "../../handoff/downstream-context.ts";
import { eventFault } from "../events.ts";
import { type DelegationEnd, decideDelegationEnd } from "./attempt.ts";
import type { Shortfall } from "./judge-handoff.ts";

const now = new Date("2026-02-14T23:00:00.000Z");
const hashes = (paths: readonly string[]) => Object.fromEntries(paths.map((path) => [path, `hash of ${path}`]));
const running = sessionAfter(
  [frozenPhase("1"), frozenPhase("2", { validation: ["npm test"] })],
  moved("1", "pending", "in_progress"),
  moved("2", "pending", "in_progress"),
);
const handoff = { status: "success" as const, missing: [], summary: "Done.", downstream_context: emptyContext() };
const files = { created: ["a.ts"], modified: [], deleted: ["b.ts"] };
const shortfall: Shortfall = { kind: "failure", reason: "reported_failure", errorType: "runtime", message: "It broke" };

function end(over: Partial<DelegationEnd> = {}, phase = "1", session = running) {
  const events = decideDelegationEnd(
    session,
    phase,
    { work: { handoff, files }, missing: [], ...over },
    {
      maxRetries: 2,
      now,
      hashes,
    },
  );
  expect(events.flatMap((event) => eventFault(event) ?? [])).toEqual([]);
  return events;
}

describe("the end of a native delegation", () => {
  test("records the hand-off, the files with their content, and completes the phase", () => {
    expect(end()).toEqual([
      { type: "phase.handed_off", phase: "1", agent: "coder", handoff },
      { type: "phase.files_added", phase: "1", ...files, hashes: { "a.ts": "hash of a.ts", "b.ts": "hash of b.ts" } },
      { type: "phase.moved", phase: "1", from: "in_progress", to: "completed" },
    ]);
  });

  test("leaves a phase with validation commands in progress, and records no files when there are none", () => {
    const work = { handoff, files: { created: [], modified: [], deleted: [] } };
    expect(end({ work }, "2")).toEqual([{ type: "phase.handed_off", phase: "2", agent: "coder", handoff }]);
  });

  test("fails the phase with the error and never retries it automatically", () => {
    for (const phase of ["1", "2"])
      expect(end({ work: null, shortfall }, phase)).toEqual([
        {
          type: "phase.error_added",
          phase,
          error: {
            agent: "coder",
            timestamp: now.toISOString(),
            type: "runtime",
            message: "It broke",
            resolution: "pending",
            resolved: false,
          },
        },
        { type: "phase.moved", phase, from: "in_progress", to: "failed" },
      ]);
  });

  test("records the hand-off of a failure, and the missing parts before the error", () => {
    const types = end({ shortfall, missing: ["status"] }).map(({ type }) => type);
    expect(types).toEqual([
      "phase.handed_off",
      "phase.files_added",
      "handoff.malformed",
      "phase.error_added",
      "phase.moved",
    ]);
    expect(end({ work: null, shortfall, missing: ["task_report", "status"] })[0]).toEqual({
      type: "handoff.malformed",
      phase: "1",
      agent: "coder",
      missing: ["task_report", "status"],
    });
  });

  test("has one of the six specified error types (K158, C45)", () => {
    const [error] = end({ work: null, shortfall: { ...shortfall, errorType: "auth" } });
    expect(error).toMatchObject({ error: { type: "runtime" } });
    const [quota] = end({ work: null, shortfall: { ...shortfall, errorType: "quota" } });
    expect(quota).toMatchObject({ error: { type: "quota" } });
  });

  test.each([
    ["pending", sessionAfter([frozenPhase("1")])],
    [
      "failed",
      sessionAfter([frozenPhase("1")], moved("1", "pending", "in_progress"), moved("1", "in_progress", "failed")),
    ],
    [
      "skipped",
      sessionAfter([frozenPhase("1")], moved("1", "pending", "in_progress"), moved("1", "in_progress", "skipped")),
    ],
  ])("does not change a phase that is %s", (_, session) => {
    expect(end({ shortfall, missing: ["status"] }, "1", session)).toEqual([]);
  });

  test("is rejected for a phase that does not exist", () => {
    expect(() => end({}, "9")).toThrow('has no phase "9"');
  });
});
