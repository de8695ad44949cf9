import { describe, expect, test } from "vitest";
import { begin, end, move, phase, sessionOf, type Timed } from "../../test/support/sample-session.ts";
import type { ResultFiles } from "../store/files/batch-results.ts";
import { type BatchClock, batchState } from "./batch-state.ts";

const NOW = 1_000_000_000;
const MINUTE = 60_000;
const alone: BatchClock = { session: undefined, isDriven: false, now: NOW, timeoutMs: 10 * MINUTE };
const file = (name: string, exitCode: number | null, changed: number | null = NOW): ResultFiles => ({
  name,
  exitCode,
  changed,
});

describe("the state of a dispatch, from its files (C25)", () => {
  test.each<[string, ResultFiles[], object | undefined, string]>([
    ["nothing started", [file("coder", null, null)], undefined, "pending"],
    ["one running", [file("coder", null), file("tester", 0)], undefined, "running"],
    ["one ended, the next about to start", [file("coder", 0), file("tester", null, null)], undefined, "running"],
    ["all succeeded", [file("coder", 0), file("tester", 0)], {}, "success"],
    ["all succeeded, the summary being written", [file("coder", 0)], undefined, "success"],
    ["some succeeded", [file("coder", 0), file("tester", 1)], {}, "partial_failure"],
    ["none succeeded", [file("coder", 124), file("tester", 1)], {}, "failed"],
    ["silent beyond its time limit", [file("coder", null, NOW - 12 * MINUTE)], undefined, "interrupted"],
    ["ended, but one without an exit code", [file("coder", null)], {}, "interrupted"],
  ])("%s", (_, results, summary, expected) => {
    expect(batchState({ id: "b", results, summary }, alone).batch_status).toBe(expected);
  });

  test.each<[string, ResultFiles[], string]>([
    ["one had started", [file("coder", null), file("tester", null, null)], "interrupted"],
    ["one had failed", [file("coder", null), file("tester", 1)], "failed"],
    ["none had started", [file("coder", null, null)], "interrupted"],
  ])("whose process died has no running agent: %s (X278)", (_, results, expected) => {
    const state = batchState({ id: "b", results, summary: undefined, isAbandoned: true }, alone);
    expect([state.running, state.batch_status]).toEqual([0, expected]);
  });

  test("counts the outcomes, and lists each agent's outcome", () => {
    const results = [file("coder.a", 0), file("coder.b", 124), file("technical_writer", 3)];
    expect(batchState({ id: "b", results, summary: { wall_time_seconds: 9 } }, alone)).toEqual({
      batch_id: "b",
      batch_status: "partial_failure",
      total_agents: 3,
      succeeded: 1,
      failed: 2,
      running: 0,
      wall_time_seconds: 9,
      agents: [
        { name: "coder.a", agent: "coder", exit_code: 0, status: "success" },
        { name: "coder.b", agent: "coder", exit_code: 124, status: "timeout" },
        { name: "technical_writer", agent: "technical-writer", exit_code: 3, status: "failed" },
      ],
    });
  });
});

describe("the state of a run, from its journal", () => {
  const states = (events: Timed[], isDriven = false) => {
    const session = sessionOf([phase("1"), phase("2")], [move(1, "1", "pending", "in_progress"), ...events]);
    // The files report success; the journal must take precedence.
    const results = [file("coder.p1-1", 0), file("coder.p1-2", 0)];
    return batchState({ id: "b1", results, summary: undefined }, { ...alone, session, isDriven });
  };

  test("counts only the last attempt of a phase", () => {
    const state = states([
      begin(1, "1"),
      end(5, "1", 4, { outcome: "failure", exit_code: 0 }),
      begin(6, "1", 2),
      end(9, "1", 3, { attempt: 2 }),
    ]);
    expect(state).toMatchObject({
      batch_status: "success",
      total_agents: 1,
      succeeded: 1,
      failed: 0,
      wall_time_seconds: 8,
    });
    expect(state.agents.map(({ status, attempt }) => [status, attempt])).toEqual([
      ["failed", 1],
      ["success", 2],
    ]);
  });

  test("is running while an engine runs, and interrupted otherwise", () => {
    const events = [begin(1, "1"), end(5, "1", 4, { outcome: "quota", exit_code: 173 }), begin(6, "1", 2)];
    expect(states(events, true)).toMatchObject({ batch_status: "running", running: 1 });
    expect(states(events, false)).toMatchObject({ batch_status: "interrupted", running: 0 });
  });

  test("is running while its engine waits between two attempts, which have no summary yet (X278)", () => {
    const events = [begin(1, "1"), end(5, "1", 4)];
    expect(states(events, true)).toMatchObject({ batch_status: "running", running: 0, succeeded: 1 });
    expect(states(events, false)).toMatchObject({ batch_status: "success" });
  });

  test("has no agent that the journal does not know (X278)", () => {
    const session = sessionOf([phase("1")], [move(1, "1", "pending", "in_progress"), begin(1, "1"), end(5, "1", 4)]);
    const results = [file("coder.p1-1", 0), file("p1", null), file("ghost", null)];
    const { agents, running } = batchState({ id: "b1", results, summary: undefined }, { ...alone, session });
    expect([agents.map(({ name }) => name), running]).toEqual([["coder.p1-1"], 0]);
  });

  test("includes an attempt without files yet, and one that failed its validation", () => {
    const begun = states([begin(1, "1", 3, { name: "coder.p1-3" })], true);
    expect(begun.agents.find(({ name }) => name === "coder.p1-3")?.status).toBe("running");
    const failed = states([
      begin(1, "1"),
      end(5, "1", 4),
      [6, { type: "phase.validated", phase: "1", result: "fail", detail: "npm test" }],
    ]);
    expect(failed.agents[0]).toMatchObject({ name: "coder.p1-1", status: "failed" });
  });
});
